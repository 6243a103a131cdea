"""Formats, width and axes of figures; imports no plotting library."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from biped.errors import InputError

#: Formats that Matplotlib writes.
FORMATS = ("png", "pdf", "svg")
#: [mm] usual widths of one column and of two columns of a journal's page.
WIDTHS = {"single": 85.0, "double": 170.0}
#: Axes of figures and pages of a run: x, y, or AP (anterior positive) and ML (right positive) with joint motions such
#: as flexion; a model without feet always has x, y.
WORLD, ANATOMICAL = "world", "anatomical"
#: [mm] least and greatest width of a figure.
NARROWEST, WIDEST = 50.0, 500.0


@dataclass(frozen=True)
class Look:
    """Formats, width and axes of figures."""

    formats: tuple[str, ...] = FORMATS[:1]
    width: float | None = None  # [mm] of every figure; None for each figure's default
    axes: str = ANATOMICAL  # of figures and pages of a run


_LOOK: ContextVar[Look | None] = ContextVar("look", default=None)


def current_look() -> Look:
    """Return the present look of figures."""
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
    """Return the look for texts such as ``pdf,svg``, ``single``, ``double`` or ``120mm``; None: the default.

    Raises:
        InputError: a format or the axes are unknown, or the width is not valid.
    """
    if axes not in (None, WORLD, ANATOMICAL):
        raise InputError(f"--figure-axes {axes}: it must be {WORLD} or {ANATOMICAL}")
    formed = Look.formats if formats is None else _formats(formats)
    return Look(formed, None if width is None else _millimetres(width), axes or ANATOMICAL)


def _formats(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",")))
    for name in names:
        if name not in FORMATS:
            raise InputError(f"--figures {text}: unknown format {name!r}; formats are {', '.join(FORMATS)}")
    return names


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
    """Return the paths of a figure in all formats, whether they exist or not."""
    return [path.with_suffix(f".{name}") for name in FORMATS]


def remove_figure(path: Path) -> None:
    """Remove the files of a figure in all formats."""
    for file in files_of(path):
        file.unlink(missing_ok=True)
