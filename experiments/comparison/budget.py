"""How much is measured, and where a measurement says how far it is."""

from collections.abc import Callable
from dataclasses import dataclass

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Budget:
    """How much is measured."""

    standing: float  # [s] over which feet may creep
    flight: float  # [s] of free tumbling
    refinements: int  # step sizes of the experiment, at most
    repeats: int  # of every timing
    timed: float  # [s] of the experiment that are timed, at most
    precisions: int  # step sizes of work and precision
    patience: float  # [s] of computation after which these are not refined further


#: Six repeats are the fewest whose least and greatest enclose the median by 95 %.
FULL = Budget(20.0, 60.0, 5, 11, 0.5, 7, 0.6)
#: What ``--quick`` leaves of it.
QUICK = Budget(10.0, 10.0, 4, 6, 0.5, 4, 0.2)


def part(progress: Progress, k: int, count: int, total: float = 1.0) -> Progress:
    """The progress of the part k of so many, which counts up to ``total``."""
    return lambda done: progress((k + min(done / total, 1.0)) / count)
