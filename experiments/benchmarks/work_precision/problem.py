"""What a problem is: forms of the same motion, when its errors are measured, and with which steps."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.benchmarks.step_sizes import halved
from experiments.benchmarks.work_precision.case import Case


@dataclass(frozen=True)
class Forms:
    """The forms of a problem, made when they are asked for."""

    cases: tuple[Case, ...]  # a tree of joints, a Lagrangian system, or both
    remarks: tuple[str, ...]  # what was chosen, and how far apart the forms are


@dataclass(frozen=True)
class Problem:
    """One problem."""

    name: str  # as on the command line
    title: str  # one line
    source: str  # where it is from
    points: str  # whose distance to the reference is the error
    duration: float  # [s]
    samples: int  # how many times in it errors are measured at
    coarsest: float  # [s] the longest step; the others are halves, quarters, …
    count: int  # how many steps
    forms: Callable[[], Forms]  # makes the forms, and their references
    packages: tuple[str, ...] = ()  # optional ones that it needs, by the names by which they are imported

    def steps(self, most: int | None = None) -> tuple[float, ...]:
        """[s] from the longest on."""
        return halved(self.coarsest, most or self.count)

    @property
    def times(self) -> NDArray[np.float64]:
        """(samples,) [s] when errors are measured."""
        return self.duration * np.arange(1, self.samples + 1) / self.samples
