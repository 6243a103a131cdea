"""Figures as files, in the formats and at the width of the current look."""

from contextlib import AbstractContextManager
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from experiments.lookup.figure_look import current_look
from experiments.visualization.look.style import IN_COLUMNS, STYLE

_INCH = 25.4  # [mm]


def styled() -> AbstractContextManager[None]:
    """Return a context in which figures have this style, at the width of the current look."""
    return matplotlib.rc_context(STYLE if current_look().width is None else STYLE | IN_COLUMNS)


def width_of(default: float) -> float:
    """Return the width [inch] of a figure in the current look; ``default`` is its default width."""
    width = current_look().width
    return default if width is None else width / _INCH


def files_of_look(path: str | Path, always: tuple[str, ...] = ()) -> list[Path]:
    """Return the files that ``write_figure`` writes for a path."""
    return [Path(path).with_suffix(f".{name}") for name in dict.fromkeys((*always, *current_look().formats))]


def write_figure(figure: Figure, path: str | Path, always: tuple[str, ...] = ()) -> list[Path]:
    """Write a figure in the formats of the current look and of ``always``; return the paths.

    The height of a narrower figure shrinks less than its width, because text keeps its size.

    Raises:
        OSError: a file cannot be written.
    """
    width, height = figure.get_size_inches()
    new_width = width_of(width)
    figure.set_size_inches(new_width, height * min(new_width / width, 1.0) ** 0.5)
    files = files_of_look(path, always)
    with styled():
        for file in files:
            figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
    return files
