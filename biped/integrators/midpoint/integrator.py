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
    """The generalized midpoint rule of Johnson and Murphey 2009, with Newton iterations in O(n) for n bodies.

    The discrete Lagrangian of a step of length h from q to q' is L_d = h L((1 − α) q + α q', (q' − q)/h). The unknowns
    are joint coordinates. The rotation of a floating or spherical joint has three angles, of two kinds (charts): a step
    uses the kind that is regular at its start. Linear momentum and vertical angular momentum are conserved
    exactly, because their symmetries shift coordinates. Angular momentum about other axes has an error of O(h²).

    See ``NewtonSettings`` for the settings other than ``alpha`` (α).

    Raises:
        InputError: a value is out of range.
    """

    name: ClassVar[str] = "midpoint"
    paper: ClassVar[str] = "Johnson & Murphey 2009"
    coordinates: ClassVar[str] = "generalized"
    cost: ClassVar[str] = "O(n)"
    conserves_momentum: ClassVar[bool] = False
    takes_helical_joints: ClassVar[bool] = False

    alpha: float = quantity("", "Midpoint rule: evaluation point, 0 (start of the step) to 1 (end); 0.5: order 2", 0.5)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.alpha, bool) or not (math.isfinite(self.alpha) and 0.0 <= self.alpha <= 1.0):
            raise InputError(f"integrator.alpha = {self.alpha!r}: it must be a number from 0 to 1")

    @property
    def order(self) -> int:  # type: ignore[override]
        """Order of accuracy in the length of the time step, for smooth motion."""
        return 2 if self.alpha == 0.5 else 1

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """True if a time step of length −h undoes a step of length h."""
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
    """The midpoint rule with the recursions and the dense Newton matrix of Johnson and Murphey 2009, for comparison.

    The motion is that of ``Midpoint``, at a cost of O(n³) instead of O(n) for n bodies. Contacts are not supported.

    See ``Midpoint`` for the settings; ``guess`` is the initial guess of a step's solution, as in ``Lee``.

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
