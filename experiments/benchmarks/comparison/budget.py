"""How much is measured, and where a measurement says how far it is."""

from collections.abc import Callable
from dataclasses import dataclass

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    Attributes:
        standing: [s] over which feet may creep.
        flight: [s] of free tumbling.
        halvings: steps on the ladder of convergence, at most.
        repeats: of every timing.
        timed: [s] of the experiment that are timed, at most.
        rungs: steps on the ladder of work and precision.
        patience: [s] of computation after which that ladder is not climbed further.
    """

    standing: float
    flight: float
    halvings: int
    repeats: int
    timed: float
    rungs: int
    patience: float


#: Six repeats are the fewest whose least and greatest enclose the median by 95 %.
FULL = Effort(20.0, 60.0, 5, 11, 0.5, 7, 0.6)
QUICK = Effort(10.0, 10.0, 4, 6, 0.5, 4, 0.2)


def part(progress: Progress, k: int, count: int, total: float = 1.0) -> Progress:
    """The progress of the part k of so many, which counts up to ``total``."""
    return lambda done: progress((k + min(done / total, 1.0)) / count)
