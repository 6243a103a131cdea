"""Settings shared by the integrators that solve equations for a step."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from biped.errors import InputError
from biped.inputs.fields import quantity
from biped.integrators.integrator import Integrator
from biped.kernels.state.method import Solver

#: Allowed range of each setting: 2^20 parts of a millisecond are nanoseconds.
LIMITS = {"max_iterations": (0, 1000), "max_backtracks": (1, 60), "max_halvings": (0, 20)}


@dataclass(frozen=True)
class SolverSettings(Integrator):
    """Settings of variational integrators that solve for a step; the remaining residual enters the next step.

    Raises:
        InputError: a value is out of range.
    """

    order: ClassVar[int] = 2
    symmetric: ClassVar[bool] = True
    symplectic: ClassVar[bool] = True
    conserves_momentum: ClassVar[bool] = True
    takes_moving_floor: ClassVar[bool] = True
    takes_passive_joints: ClassVar[bool] = True
    takes_helical_joints: ClassVar[bool] = True

    tolerance: float = quantity("N·s", "Norm of a step's residual at convergence (or rounding error)", 1e-8)
    max_iterations: int = quantity("", "Greatest number of iterations before a step is halved", 30)
    max_backtracks: int = quantity("", "Greatest number of halvings in the line search of an iteration", 12)
    max_halvings: int = quantity("", "Greatest number of halvings of a step that is retried", 8)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.tolerance) and self.tolerance > 0.0):
            raise InputError(f"integrator.tolerance = {self.tolerance!r}: it must be finite and above zero")
        for name, (least, most) in LIMITS.items():
            value: Any = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise InputError(f"integrator.{name} = {value!r}: it must be a whole number from {least} to {most}")

    @property
    def solver(self) -> Solver:
        """Settings as the kernels need them."""
        return self._solver(math.inf)

    def _solver(self, landing_depth: float) -> Solver:
        return Solver(float(self.tolerance), self.max_iterations, self.max_backtracks, self.max_halvings, landing_depth)


@dataclass(frozen=True)
class NewtonSettings(SolverSettings):
    """Settings of variational integrators on compliant floors, whose contact law acts on a landing at the step's end.

    Raises:
        InputError: a value is out of range.
    """

    landing_depth: float = quantity(
        "m", "Penetration of a landing point above which a step is retried; inf: never", 1e-4, infinite=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.landing_depth > 0.0:
            raise InputError(f"integrator.landing_depth = {self.landing_depth!r}: it must be above zero (inf: never)")

    @property
    def solver(self) -> Solver:
        """Settings as the kernels need them."""
        return self._solver(float(self.landing_depth))
