"""File names of figures, importable without a plotting library."""

from collections.abc import Mapping
from pathlib import Path

from experiments.lookup.figure_look import remove_figure

#: Figures of a balancing experiment with a counterpart in the thesis, in its order.
BALANCING = (
    "joint-angles",
    "joint-torques",
    "body-position",
    "body-orientation",
    "position-error",
    "orientation-error",
    "desired-force",
    "desired-torque",
)

KINDS = (
    "overview",
    *BALANCING,
    "centre-of-mass",
    "quaternion",
    "friction-states",
    "newton-iterations",
    "contact-modes",
    "ledger",
    "momentum",
    "error",
    "support",
    "floor-forces",
    "platform",
    "momentum-defect",
)


def file_name(kind: str, numbers: Mapping[str, str]) -> str:
    """Return ``fig-4.03-joint-angles.png`` for a figure with a number in the publication, else ``joint-angles.png``."""
    if kind not in numbers:
        return f"{kind}.png"
    chapter, _, number = numbers[kind].partition(".")
    return f"fig-{chapter}.{int(number):02d}-{kind}.png"


def remove_figures(folder: Path) -> None:
    """Remove the figures of an earlier run, which would contradict the new run's numbers."""
    for kind in KINDS:
        for figure in (folder / f"{kind}.png", *folder.glob(f"fig-[0-9].[0-9][0-9]-{kind}.*")):
            remove_figure(figure)
