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
    """The variational integrator of Lee et al. 2016, section 2.2: bodies move along screws, and a step costs O(n).

    The equations of a step are algorithm 2 of Lee et al., extended to floating roots, spherical joints and contacts.
    The potential energy of a body is that of uniform gravity. This class solves the equations by the Newton method of
    ``Recursive``, its subclasses by the methods of Lee et al. Linear and angular momentum are conserved. However, the
    discrete linear momentum of a rotating body is not its mass times its mean velocity in a step: the centre of mass of
    a free body deviates from a straight line by O(h²) for time steps h, but with ``Recursive`` by round-off only.

    See ``NewtonSettings`` for the settings; ``guess`` is the initial guess of a step's solution.

    Raises:
        InputError: a value is out of range.
    """

    name: ClassVar[str] = "lee"
    paper: ClassVar[str] = "Lee et al. 2016"
    coordinates: ClassVar[str] = "generalized"
    cost: ClassVar[str] = "O(n)"

    guess: str = quantity(
        "", "Initial guess in a time step: extrapolation; current, euler, dynamics (Lee 2016: IG1–3)", "extrapolation"
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

    Its approximate Jacobian has no stiffness terms: on a stiff floor or with stiff joints the iteration does not
    converge for a whole time step, and nearly all steps are split (counted in ``retried_steps``).
    """

    name: ClassVar[str] = "lee-riqn"

    def _finder(self, model: Model) -> Any:
        return Riqn()


@dataclass(frozen=True)
class LeeNewton(Lee):
    """``Lee`` with a dense Jacobian in Newton's method, computed column by column (Lee et al. 2016, algorithm 4)."""

    name: ClassVar[str] = "lee-newton"
    cost: ClassVar[str] = "O(n³)"

    def _finder(self, model: Model) -> Any:
        return new_column_newton(model.n, model.nv)


@dataclass(frozen=True)
class LeeBroyden(Lee):
    """``Lee`` with Broyden's method; in each step the inverse Jacobian starts as step length × inverse mass matrix."""

    name: ClassVar[str] = "lee-broyden"
    cost: ClassVar[str] = "O(n²)"

    def _finder(self, model: Model) -> Any:
        return new_broyden(model.nv)
