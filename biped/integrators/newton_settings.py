"""Settings shared by the integrators that solve equations for a step."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from biped.errors import InputError
from biped.inputs.fields import quantity
from biped.integrators.integrator import Integrator
from biped.kernels.state.method import Solver

#: Allowed range of each setting; 2^20 parts of a step of 1 ms last a nanosecond each.
LIMITS = {"max_iterations": (0, 1000), "max_backtracks": (1, 60), "max_halvings": (0, 20)}


@dataclass(frozen=True)
class SolverSettings(Integrator):
    """Settings of variational integrators, which solve equations in each time step and carry the residual over.

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

    tolerance: float = quantity("N·s", "Residual norm below which a time step is solved (or rounding, if larger)", 1e-8)
    max_iterations: int = quantity("", "Largest number of solver iterations before a time step is halved", 30)
    max_backtracks: int = quantity("", "Largest number of halvings of a Newton correction in its line search", 12)
    max_halvings: int = quantity("", "Largest number of times that a failed time step is halved and retried", 8)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.tolerance) and self.tolerance > 0.0):
            raise InputError(f"integrator.tolerance = {self.tolerance!r}: it must be finite and above zero [N·s]")
        for name, (least, most) in LIMITS.items():
            value: Any = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise InputError(f"integrator.{name} = {value!r}: it must be a whole number from {least} to {most}")

    @property
    def solver(self) -> Solver:
        """Tolerances and limits in the form that the kernels read."""
        return self._solver(math.inf)

    def _solver(self, landing_depth: float) -> Solver:
        return Solver(float(self.tolerance), self.max_iterations, self.max_backtracks, self.max_halvings, landing_depth)


@dataclass(frozen=True)
class NewtonSettings(SolverSettings):
    """Settings of variational integrators on compliant floors, where a landing takes effect at the end of a time step.

    Raises:
        InputError: a value is out of range.
    """

    landing_depth: float = quantity(
        "m", "Landing depth of a contact point above which the time step is halved; inf: never", 1e-4, infinite=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.landing_depth > 0.0:
            raise InputError(f"integrator.landing_depth = {self.landing_depth!r}: it must be above zero [m], or inf")

    @property
    def solver(self) -> Solver:
        """Tolerances and limits in the form that the kernels read."""
        return self._solver(float(self.landing_depth))
