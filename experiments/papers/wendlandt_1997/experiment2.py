"""Statements of the thesis about experiment 2, figure by figure (section 4.3), against a run of it.

Figure 4.11 shows the human at 0.32 s, standing on its toes after the hit.
"""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from biped.inputs.extras import has
from biped.runs.contact_changes import Change, lasting_changes
from biped.runs.run import Run
from experiments.lookup.figure_names import BALANCING
from experiments.papers.criteria import above, below, stated, when
from experiments.papers.item import Finding, Item, Outcome, Progress
from experiments.papers.wendlandt_1997 import experiment1
from experiments.papers.wendlandt_1997.experiment1 import ROUNDED, converges, drift, faster, turns
from experiments.papers.wendlandt_1997.simulated import (
    Compare,
    column,
    last_away,
    run_of,
    sharpest_change,
    simulated_figure,
    table,
)
from experiments.visualization.viewer.chromium import chromium_path

#: Ratio of a sharp change to the greatest change without a cause.
SHARP = 2.0
#: [m] tolerance of a position that "drifts about zero".
ABOUT = 5e-3
#: [s] time before and after the hit without its impulses.
BEFORE, AFTER = 0.004, 0.03
SIDES = ("left", "right")
SIZE = "the block's size is not printed: one that is 1 to 3 cm thick hits at 0.08 s (item other-floors-and-blocks)"
NOT_KNOWN = (
    "why is not known: no size of the block and no floor that was tried gives the printed times (item "
    "other-floors-and-blocks)"
)


def hit_at(run: Run) -> float:
    """Return the time [s] of the first impact; infinite without one."""
    impacts = run.summary["events"]["impacts"]
    return float(impacts[0]["time"]) if impacts else np.inf


def _changes(run: Run, edge: str) -> list[Change]:
    return [change for change in lasting_changes(run.summary["events"]["edges"])[0] if change.edge == edge]


def rises(run: Run, edge: str) -> float:
    """Return the time [s] when an edge of a sole first rises; infinite if it does not."""
    return next((change.time for change in _changes(run, edge) if change.change == "up"), np.inf)


def heel(run: Run, side: str) -> tuple[float, float]:
    """Return the times [s] when a heel rises and lands; infinite if it does not."""
    up = rises(run, f"{side}_heel")
    landings = (c.time for c in _changes(run, f"{side}_heel") if c.change == "down" and c.time > up)
    return up, next(landings, np.inf)


def disturbances(run: Run) -> tuple[float, ...]:
    """Return the times [s] of the hit, and of the heels' rising and landing."""
    return (hit_at(run), *(time for side in SIDES for time in heel(run, side)))


def _at(what: str, ours: float, published: float, why: str = NOT_KNOWN) -> Finding:
    """State the time of an event that the thesis gives as "approximately" a printed time."""
    agrees = abs(ours - published) <= ROUNDED
    text: float | str = ours if np.isfinite(ours) else "never"
    return stated(f"{what} [s]", f"about {published:g}", text, when(f"within {ROUNDED:g} s", agrees), why)


def _sharp(what: str, run: Run, prefix: str, times: tuple[float, ...]) -> Finding:
    """State that curves change sharply soon after these times, and otherwise only at the run's other events."""
    ratio = sharpest_change(run, table(run, prefix), times, (0.0, *disturbances(run)))
    return stated(f"sudden change of the {what}, over the greatest where nothing happens", "sharp", ratio,
                  above(SHARP, f"above {SHARP:g}, within 0.03 s"))  # fmt: skip


def joint_angles(run: Run) -> tuple[Finding, ...]:
    hit = hit_at(run)
    (left_up, left_down), (right_up, right_down) = (heel(run, side) for side in SIDES)
    toes_rise = any(c.change == "up" for side in SIDES for c in _changes(run, f"{side}_toes"))
    return (
        _at("the block hits", hit, 0.08, SIZE),
        _sharp("joint rates after the hit", run, "rate_", (hit,)),
        _at("the left foot begins to rise", left_up, 0.13),
        _at("the right foot begins to rise", right_up, 0.13),
        stated("it rests meanwhile on", "the front of the two feet",
               "less" if toes_rise else "the front of the two feet", when("no toes rise", not toes_rise)),
        _at("the right foot lands", right_down, 0.36),
        _at("the left foot lands", left_down, 0.38),
        stated("the foot that lands first", "right", "right" if right_down < left_down else "left",
               when("the same", right_down < left_down), f"they are 0.02 s apart in the thesis; {NOT_KNOWN}"),
        drift(run),
    )  # fmt: skip


def joint_torques(run: Run) -> tuple[Finding, ...]:
    hit, *feet = disturbances(run)
    return (
        _sharp("torques after the collision", run, "torque_", (hit,)),
        _sharp("torques after a foot rises or lands", run, "torque_", tuple(feet)),
    )


def body_position(run: Run) -> tuple[Finding, ...]:
    y = column(run, "body_y")
    x, z = (last_away(run, f"body_{axis}", target) for axis, target in (("x", -0.01), ("z", 1.14)))
    pushed = _jump(run, "body_vx")
    return (
        faster(z, x),
        stated("Y drifts about zero [mm]", "a little", f"{1e3 * y.min():.2f} … {1e3 * y.max():.2f}",
               when(f"stays within {1e3 * ABOUT:g} mm", np.abs(y).max() < ABOUT)),
        stated("X velocity by which the hit pushes the body [m/s]", "towards −X", pushed, below(0, "negative")),
    )  # fmt: skip


def _jump(run: Run, name: str) -> float:
    time, values, hit = column(run, "time"), column(run, name), hit_at(run)
    if not np.isfinite(hit):
        return 0.0
    before, after = (int(np.searchsorted(time, at)) for at in (hit - BEFORE, hit + AFTER))
    return float(values[after] - values[before])


def body_orientation(run: Run) -> tuple[Finding, ...]:
    y, z = _jump(run, "body_wy"), _jump(run, "body_wz")
    return (
        stated("Y angular velocity by the collision [rad/s]", "about −Y", y, below(0, "negative")),
        stated("Z angular velocity by the collision [rad/s]", "about Z", z, above(0.1, "positive, above 0.1")),
    )


#: By the kind of figure: 4.12 to 4.19.
COMPARE: dict[str, Compare] = {
    "joint-angles": joint_angles,
    "joint-torques": joint_torques,
    "body-position": body_position,
    "body-orientation": body_orientation,
    "position-error": lambda run: (converges(run),),
    "orientation-error": lambda run: (
        turns(run),
        _sharp("body's angular velocity after the collision", run, "body_w", (hit_at(run),)),
    ),
    "desired-force": lambda run: (_sharp("desired force after a disturbance", run, "desired_f", disturbances(run)),),
    "desired-torque": lambda run: (_sharp("desired torque after a disturbance", run, "desired_n", disturbances(run)),),
}


#: [s] of the picture.
MOMENT = 0.32
#: Packages that draw it, in addition to Chromium.
PACKAGES = ("viser", "trimesh", "websockets")


def of_the_moment(run: Run) -> Iterator[Finding]:
    """State the thesis's description of that moment: both heels are in the air, and the toes stand."""
    for side in SIDES:
        up, down = heel(run, side)
        ours = f"from {up:.3f} to {down:.3f} s"
        yield stated(f"the {side} heel is in the air at {MOMENT:g} s", "yes", ours,
                     when("it is then", up < MOMENT < down))  # fmt: skip
        toes = rises(run, f"{side}_toes")
        ours = f"they rise at {toes:.3f} s" if np.isfinite(toes) else "they stay down"
        yield stated(f"the {side} toes stand at {MOMENT:g} s", "yes", ours, when("they do then", toes > MOMENT))


def screen_capture(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - one picture is as short as it gets
    run = run_of("thrown-block")
    progress(0.3)
    can_draw = chromium_path() is not None and has(*PACKAGES)
    assumptions: tuple[str, ...] = ("The camera: the thesis's picture is not printed with where it was taken from.",)
    if not can_draw:
        assumptions += (f"Not drawn: that takes Chromium, and the packages {', '.join(PACKAGES)}.",)
    return Outcome(tuple(of_the_moment(run)), assumptions, figures=_drawn(run) if can_draw else {})


def _drawn(run: Run) -> dict[str, Figure]:
    from experiments.papers.wendlandt_1997.screen_picture import picture

    return {"figure-4.11-screen-capture": picture(run, MOMENT)}


SCREEN_CAPTURE = Item(
    "figure-4.11", "Screen Capture of Experiment 2", "Wendlandt 1997, section 4.3, experiment 2", screen_capture
)


#: The thesis's names of the figures, in its order.
_TITLES = (
    "Joint Angles", "Joint Torques", "Body Position", "Body Orientation", "Body Position Error",
    "Body Orientation Error", "Desired Body Force", "Desired Body Torque",
)  # fmt: skip

_ASSUMPTIONS = (
    "The figures are known by what the text says about them: magnitudes bind within 5%, and times by the "
    "hundredths that are printed; the floor and the collisions are not those of the thesis's simulator (Impulse).",
    "Floor: springs and dampers (5.3's rubber) at four points of each sole; the thesis's soles collide by impulses.",
    "Both experiments on a rigid floor with the thesis's restitution: item other-floors-and-blocks.",
    "That the body comes to its set point counts once, with its errors: figures 4.7, 4.8, 4.16 and 4.17.",
)
_BLOCK = (
    "The block: a cube of water's density, as heavy as printed; its size is not printed.",
    "The set point's orientation: 15° about −Y, as the text says; the quaternion printed beside it is experiment 1's.",
)


def _figures(
    experiment: str, number: int, compare: dict[str, Compare], assumptions: tuple[str, ...]
) -> tuple[Item, ...]:
    return tuple(
        simulated_figure(
            experiment, kind, f"{title} for Experiment {number}", f"Wendlandt 1997, section 4.3, experiment {number}",
            compare[kind], assumptions,
        )
        for kind, title in zip(BALANCING, _TITLES, strict=True)
    )  # fmt: skip


ITEMS: tuple[Item, ...] = (
    *_figures("stand-tilted", 1, experiment1.COMPARE, _ASSUMPTIONS),
    SCREEN_CAPTURE,
    *_figures("thrown-block", 2, COMPARE, _ASSUMPTIONS + _BLOCK),
)
