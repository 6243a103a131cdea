"""The linear-time variational integrator of Lee, Liu, Park and Srinivasa (2016), and what it was compared with."""

from dataclasses import dataclass
from typing import Any, ClassVar

from biped.errors import InputError
from biped.inputs.fields import quantity
from biped.integrators.lee.kernels.broyden import new_broyden
from biped.integrators.lee.kernels.dense_newton import new_column_newton
from biped.integrators.lee.kernels.initial_guesses import CURRENT, DYNAMICS, EULER, EXTRAPOLATED, InitialGuess
from biped.integrators.lee.kernels.quasi_newton import Riqn
from biped.integrators.lee.kernels.screw_body import ScrewBody
from biped.integrators.newton_settings import NewtonSettings
from biped.kernels.state.method import Variational
from biped.kernels.variational.newton import ArticulatedNewton
from biped.model import Model

#: Where the search of a step starts: ours, and the paper's IG1, IG2 and IG3 (section 3.3).
GUESSES = {"extrapolation": EXTRAPOLATED, "current": CURRENT, "euler": EULER, "dynamics": DYNAMICS}


def check_guess(guess: str) -> None:
    """Whether there is such a first guess.

    Raises:
        InputError: there is none; the message says which there are.
    """
    if guess not in GUESSES:
        raise InputError(f"integrator.guess = {guess!r}: it must be one of {', '.join(GUESSES)}")


@dataclass(frozen=True)
class Lee(NewtonSettings):
    """Bodies that move along screws (Lee et al. 2016, section 2.2), solved by exact Newton steps in O(n).

    The equations of a step are the paper's algorithm 2; floating roots, spherical joints and contacts are in them too.
    The potential P(T) of a body, which the paper leaves general, is that of uniform gravity.
    This class solves them as ``Recursive`` does its own; the others as the paper does. Linear and angular momentum are
    conserved, but the discrete linear momentum of a turning body is not its mass times Δx/h: the centre of mass of a
    free body strays from a straight line by O(h²), where ``Recursive`` keeps it to round-off.

    ``NewtonSettings`` documents the other settings.

    Raises:
        InputError: for a value that is out of range.
    """

    name: ClassVar[str] = "lee"
    paper: ClassVar[str] = "Lee et al. 2016"
    coordinates: ClassVar[str] = "generalized"
    cost: ClassVar[str] = "O(n)"

    guess: str = quantity(
        "", "First guess of a step: extrapolation, current (IG1), euler (IG2) or dynamics (IG3)", "extrapolation"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_guess(self.guess)

    def method(self, model: Model) -> Variational:
        """What the kernels step a tree by."""
        return Variational(ScrewBody(), self._finder(model), InitialGuess(GUESSES[self.guess]), self.solver)

    def _finder(self, model: Model) -> Any:
        return ArticulatedNewton()


@dataclass(frozen=True)
class LeeRiqn(Lee):
    """The paper's own: the recursive impulse-based quasi-Newton method (algorithm 3).

    It knows masses, and no stiffness: on a stiff floor or with stiff joints it does not converge in a whole step,
    and nearly all steps are taken in parts (``retried_steps``).
    """

    name: ClassVar[str] = "lee-riqn"

    def _finder(self, model: Model) -> Any:
        return Riqn()


@dataclass(frozen=True)
class LeeNewton(Lee):
    """Newton's method with the derivative column by column (algorithm 4) and a full matrix."""

    name: ClassVar[str] = "lee-newton"
    cost: ClassVar[str] = "O(n³)"

    def _finder(self, model: Model) -> Any:
        return new_column_newton(model.n, model.nv)


@dataclass(frozen=True)
class LeeBroyden(Lee):
    """Broyden's method with a full inverse, which starts each step as that of the mass matrix."""

    name: ClassVar[str] = "lee-broyden"
    cost: ClassVar[str] = "O(n²)"

    def _finder(self, model: Model) -> Any:
        return new_broyden(model.nv)
