"""How many steps of Newton's method a motion takes, and which are recorded."""

from dataclasses import dataclass
from typing import ClassVar

from biped.checks import above_zero, whole, zero_or_above
from biped.errors import InputError
from biped.mechanism.errors import MechanismError


@dataclass(frozen=True, kw_only=True)
class StepSettings:
    """What every motion by implicit steps is told.

    Attributes:
        duration: [s] a whole number of steps.
        step: [s]
        tolerance: of a step's equations.
        max_iterations: of Newton's method in a step.
        record_every: steps from one row to the next; a whole number of times in all.

    Raises:
        InputError: of the kind ``error``; the message says what would be right.
    """

    duration: float
    step: float
    tolerance: float
    max_iterations: int
    record_every: int

    error: ClassVar[type[InputError]] = MechanismError

    def __post_init__(self) -> None:
        above_zero(self.step, "step")
        zero_or_above(self.duration, "duration")
        above_zero(self.tolerance, "tolerance")
        whole(self.max_iterations, "max_iterations")
        whole(self.record_every, "record_every")
        if self.max_iterations < 1 or self.record_every < 1:
            raise self.error("max_iterations and record_every must be one or more")
        if abs(self.steps * self.step - self.duration) > 1e-6 * self.step:
            raise self.error(f"duration = {self.duration:g} s: it must be a whole number of steps of {self.step:g} s")
        if self.steps % self.record_every:
            raise self.error(
                f"record_every = {self.record_every}: {self.steps} steps are not a whole number of times as many"
            )

    @property
    def steps(self) -> int:
        """How many."""
        return round(self.duration / self.step)
