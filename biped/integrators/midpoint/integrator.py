"""The midpoint rule in generalized coordinates (Johnson and Murphey 2009)."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from biped.errors import InputError
from biped.inputs.fields import like, quantity
from biped.integrators.lee.integrators import GUESSES, Lee, check_guess
from biped.integrators.lee.kernels.initial_guesses import InitialGuess
from biped.integrators.midpoint.expansion import expanded
from biped.integrators.midpoint.kernels.cached import new_cached
from biped.integrators.midpoint.kernels.linear_time import LinearTime
from biped.integrators.midpoint.kernels.rule import MidpointNewton, new_rule
from biped.integrators.newton_settings import NewtonSettings
from biped.kernels.state.method import Variational
from biped.kernels.tree.tree import Tree
from biped.kernels.variational.newton import Extrapolation
from biped.model import Model


@dataclass(frozen=True)
class Midpoint(NewtonSettings):
    """The generalized midpoint rule, L_d = h L((1 − α) q + α q', (q' − q)/h), solved by Newton steps in O(n).

    Johnson and Murphey 2009, whose algorithm takes O(n³). The coordinates are those of the joints. A free turn has
    three angles in one of two charts, the one that is regular at the start of a step. Only symmetries that are shifts
    of these coordinates are kept exactly: linear momentum and angular momentum about the vertical axis. Angular
    momentum about the other axes is kept to O(h²).

    ``NewtonSettings`` documents the other settings.

    Raises:
        InputError: a value is out of range.
    """

    name: ClassVar[str] = "midpoint"
    paper: ClassVar[str] = "Johnson & Murphey 2009"
    coordinates: ClassVar[str] = "generalized"
    cost: ClassVar[str] = "O(n)"
    conserves_momentum: ClassVar[bool] = False
    takes_helical_joints: ClassVar[bool] = False

    alpha: float = quantity("", "Midpoint rule: evaluation point within the step, 0 to 1; 0.5 has order 2", 0.5)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.alpha, bool) or not (math.isfinite(self.alpha) and 0.0 <= self.alpha <= 1.0):
            raise InputError(f"integrator.alpha = {self.alpha!r}: it must be a number from 0 to 1")

    @property
    def order(self) -> int:  # type: ignore[override]
        """Order of the error in the step, in smooth motion."""
        return 2 if self.alpha == 0.5 else 1

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """True if a step back undoes a step."""
        return self.alpha == 0.5

    def method(self, model: Model) -> Variational:
        """Return the method for the kernels."""
        wide = expanded(model.tree)
        rule = new_rule(float(self.alpha), wide, self._derivatives(wide), model.n)
        return Variational(rule, MidpointNewton(), self._guess(), self.solver)

    def _derivatives(self, wide: Tree) -> Any:
        return LinearTime()

    def _guess(self) -> Any:
        return Extrapolation()


@dataclass(frozen=True)
class ScalableVariational(Midpoint):
    """The midpoint rule by the recursions of the paper, derivative by derivative, with a full matrix, for comparison.

    Its steps are those of ``Midpoint``, at O(n³) instead of O(n). It has no contacts: Newton's matrix leaves them out.

    ``Midpoint`` documents the other settings.

    Raises:
        InputError: a value is out of range.
    """

    name: ClassVar[str] = "svi"
    cost: ClassVar[str] = "O(n³)"
    takes_contact: ClassVar[bool] = False
    takes_moving_floor: ClassVar[bool] = False

    guess: str = like(Lee, "guess")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_guess(self.guess)

    def _derivatives(self, wide: Tree) -> Any:
        return new_cached(wide)

    def _guess(self) -> Any:
        return InitialGuess(GUESSES[self.guess])
