"""File formats, width and axes of figures, importable without a plotting library."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from biped.errors import InputError

#: File formats of matplotlib.
FORMATS = ("png", "pdf", "svg")
#: [mm] usual widths of one and both columns of a journal's page.
WIDTHS = {"single": 85.0, "double": 170.0}
#: Axes of a run's sheet: the world's x and y, or posturography's AP and ML, positive anterior and to the right.
WORLD, ANATOMICAL = "world", "anatomical"
#: [mm] range of a figure's width.
NARROWEST, WIDEST = 50.0, 500.0


@dataclass(frozen=True)
class Look:
    """Settings with which figures are written."""

    formats: tuple[str, ...] = FORMATS[:1]
    width: float | None = None  # [mm] width of all figures; None: each figure's own
    axes: str = WORLD  # axes of positions on the sheet of a run


_LOOK: ContextVar[Look | None] = ContextVar("look", default=None)


def current_look() -> Look:
    return _LOOK.get() or Look()


def choose_look(look: Look) -> None:
    """Write all later figures with this look."""
    _LOOK.set(look)


@contextmanager
def drawn_as(look: Look) -> Iterator[None]:
    """Write all figures within the context with this look."""
    token = _LOOK.set(look)
    try:
        yield
    finally:
        _LOOK.reset(token)


def look_of(formats: str | None, width: str | None, axes: str | None = None) -> Look:
    """Return the look from texts such as ``pdf,svg``, and ``single``, ``double`` or ``120mm``; None: the default.

    Raises:
        InputError: there is no such format, the width is invalid, or there are no such axes.
    """
    if axes not in (None, WORLD, ANATOMICAL):
        raise InputError(f"--figure-axes {axes}: they must be {WORLD} or {ANATOMICAL}")
    formed = Look.formats if formats is None else _formats(formats)
    return Look(formed, None if width is None else _millimetres(width), axes or WORLD)


def _formats(text: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",")))
    for name in found:
        if name not in FORMATS:
            raise InputError(f"--figures {text}: unknown format {name!r}; there are {', '.join(FORMATS)}")
    return found


def _millimetres(text: str) -> float:
    try:
        width = WIDTHS.get(text) or float(text.removesuffix("mm"))
    except ValueError:
        width = 0.0
    if not NARROWEST <= width <= WIDEST:
        named = " or ".join(f"{name} ({value:g} mm)" for name, value in WIDTHS.items())
        raise InputError(f"--figure-width {text}: it must be {named}, or a number from {NARROWEST:g}mm to {WIDEST:g}mm")
    return width


def files_of(path: Path) -> list[Path]:
    """Return a figure's files in all formats, whether they exist or not."""
    return [path.with_suffix(f".{name}") for name in FORMATS]


def remove_figure(path: Path) -> None:
    """Remove a figure in all formats."""
    for file in files_of(path):
        file.unlink(missing_ok=True)
