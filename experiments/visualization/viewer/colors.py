"""Colours of the scene, and its legend."""

import html

from contact import ContactState
from experiments.visualization.figures.labels import STATES
from experiments.visualization.look import style

Color = tuple[int, int, int]


def rgb(code: str) -> Color:
    """Return (red, green, blue), 0 … 255, of a code such as ``#0072B2``."""
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def code_of(color: Color) -> str:
    return "#{:02X}{:02X}{:02X}".format(*color)


#: Contact states 1 … 6, as in the figures; points without contact have a grey that is visible on a light floor.
MODES: tuple[Color, ...] = (rgb("#B9BEC4"), *(rgb(code) for code in style.MODES[1:]))
COM: Color = (244, 190, 34)
XCOM: Color = (112, 62, 200)
COP: Color = rgb(style.GREEN)
FOOTHOLD: Color = rgb(style.SKY)
BASE: Color = (40, 110, 190)
CAPTURE: Color = (160, 110, 220)  # lighter than the XCoM
#: Net ground reaction force, on the whole model and on each foot.
REACTION: Color = rgb("#006B4C")
FOOT_REACTION: Color = rgb("#66C2A4")
PUSH: Color = (214, 30, 70)
PROJECTILE: Color = (150, 90, 50)
LOAD: Color = (110, 120, 70)
PLATE: Color = (188, 194, 202)
#: Colour of the first run in lists and curves.
FIRST: Color = rgb("#3A6896")

#: Colours of runs that are laid over the first one, in this order.
GHOSTS: tuple[Color, ...] = tuple(rgb(code) for code in (style.ORANGE, style.GREEN, style.PURPLE, style.SKY, style.RED))

#: Visible things and their colours, in the order of the legend.
MARKS: dict[str, Color] = {
    "centre of mass, and its projection on the floor": COM,
    "extrapolated centre of mass": XCOM,
    "planned foothold": FOOTHOLD,
    "capture region": CAPTURE,
    "centre of pressure": COP,
    "base of support": BASE,
    "ground reaction force": REACTION,
    "ground reaction force on each foot": FOOT_REACTION,
    "push": PUSH,
}
MODE_NAMES: dict[str, Color] = {STATES[state]: MODES[state - 1] for state in ContactState}


def ghost_color(number: int) -> Color:
    """Return the colour of the n-th run that is laid over the first one, from 0."""
    return GHOSTS[number % len(GHOSTS)]


def friction_color(mu: float) -> Color:
    """Return the colour of a floor patch with this friction: bluer if more slippery."""
    part = min(mu / 0.6, 1.0)
    red, green, blue = (
        int((1.0 - part) * ice + part * dry) for ice, dry in zip((120, 190, 235), (225, 220, 205), strict=True)
    )
    return red, green, blue


def entry(color: Color, text: str) -> str:
    """Return a line with a square of a colour before a text, which is HTML."""
    square = f"display:inline-block;width:0.8em;height:0.8em;border-radius:2px;background:{code_of(color)}"
    return f'<div style="margin:0.15em 0"><span style="{square};margin-right:0.5em"></span>{text}</div>'


def legend() -> str:
    """Return the legend of the scene's colours as HTML."""
    marks = "".join(entry(color, html.escape(name)) for name, color in MARKS.items())
    modes = "".join(entry(color, html.escape(name)) for name, color in MODE_NAMES.items())
    return (
        f'<div style="padding:0 0.9em 0.5em;font-size:0.8em">{marks}'
        f'<div style="margin-top:0.6em"><b>contact points and the forces on them</b></div>{modes}</div>'
    )
