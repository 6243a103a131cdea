"""The linear-time variational integrator of Lee, Liu, Park and Srinivasa (2016), and the methods they compare."""

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

#: Initial guesses of a step: ours, and the paper's IG1, IG2 and IG3 (section 3.3).
GUESSES = {"extrapolation": EXTRAPOLATED, "current": CURRENT, "euler": EULER, "dynamics": DYNAMICS}


def check_guess(guess: str) -> None:
    """Check the name of an initial guess.

    Raises:
        InputError: the name is unknown; the message lists the known ones.
    """
    if guess not in GUESSES:
        raise InputError(f"integrator.guess = {guess!r}: it must be one of {', '.join(GUESSES)}")


@dataclass(frozen=True)
class Lee(NewtonSettings):
    """The integrator of Lee et al. 2016 (section 2.2), with bodies that move along screws, and Newton steps in O(n).

    The equations of a step are the paper's algorithm 2, extended by floating roots, spherical joints and contacts. The
    potential P(T) of a body, general in the paper, is that of uniform gravity. This class solves the equations with the
    Newton method of ``Recursive``, its subclasses with the methods of the paper. Linear and angular momentum are
    conserved, but the discrete linear momentum of a turning body is not its mass times Δx/h: the centre of mass of a
    free body deviates from a straight line by O(h²), with ``Recursive`` by round-off only.

    ``NewtonSettings`` documents all settings except ``guess``.

    Raises:
        InputError: a value is out of range.
    """

    name: ClassVar[str] = "lee"
    paper: ClassVar[str] = "Lee et al. 2016"
    coordinates: ClassVar[str] = "generalized"
    cost: ClassVar[str] = "O(n)"

    guess: str = quantity(
        "", "Initial guess of a step: extrapolation, current (IG1), euler (IG2) or dynamics (IG3)", "extrapolation"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_guess(self.guess)

    def method(self, model: Model) -> Variational:
        """Return the method for the kernels."""
        return Variational(ScrewBody(), self._finder(model), InitialGuess(GUESSES[self.guess]), self.solver)

    def _finder(self, model: Model) -> Any:
        return ArticulatedNewton()


@dataclass(frozen=True)
class LeeRiqn(Lee):
    """The recursive impulse-based quasi-Newton method of Lee et al. 2016 (algorithm 3).

    It ignores stiffness: on a stiff floor or with stiff joints it does not converge for a whole step, and nearly all
    steps are taken in parts (``retried_steps``).
    """

    name: ClassVar[str] = "lee-riqn"

    def _finder(self, model: Model) -> Any:
        return Riqn()


@dataclass(frozen=True)
class LeeNewton(Lee):
    """Newton's method with a full matrix, computed column by column (algorithm 4 of Lee et al. 2016)."""

    name: ClassVar[str] = "lee-newton"
    cost: ClassVar[str] = "O(n³)"

    def _finder(self, model: Model) -> Any:
        return new_column_newton(model.n, model.nv)


@dataclass(frozen=True)
class LeeBroyden(Lee):
    """Broyden's method with a full inverse matrix, which is h times the inverse mass matrix at the start of a step."""

    name: ClassVar[str] = "lee-broyden"
    cost: ClassVar[str] = "O(n²)"

    def _finder(self, model: Model) -> Any:
        return new_broyden(model.nv)
