"""The variational integrator in generalized coordinates: what the framework is built around."""

from dataclasses import dataclass
from typing import Any, ClassVar

from biped.integrators.closing import closing_columns, closing_if_any
from biped.integrators.newton_settings import NewtonSettings
from biped.kernels.state.method import Variational
from biped.kernels.variational.discrete_body import MidpointBody
from biped.kernels.variational.newton import ArticulatedNewton, Extrapolation
from biped.model import Model


@dataclass(frozen=True)
class Recursive(NewtonSettings):
    """The variational integrator in generalized coordinates, solved by exact Newton steps in O(n).

    Wendlandt 1997, chapters 2 and 5, in the coordinates of the joints; the factorization is two-sided. The
    first iteration of a step goes by the last step's factorization where the contacts are still the same.
    ``NewtonSettings`` documents the settings.

    Loops are constraints of its coordinates, a border of the factorization; a run has the reactions of the joints that
    close them, and how far they were open, as ``closing_columns`` names them.
    """

    name: ClassVar[str] = "recursive"
    paper: ClassVar[str] = "Wendlandt 1997"
    coordinates: ClassVar[str] = "generalized"
    cost: ClassVar[str] = "O(n)"
    takes_loops: ClassVar[bool] = True

    def method(self, model: Model) -> Variational:
        """What the kernels step a tree by."""
        finder = ArticulatedNewton(keeps_factors=not model.closing_joints)
        return Variational(MidpointBody(), finder, Extrapolation(), self.solver, closing_if_any(model))

    def recorder(self, method: Variational) -> Any:
        """What of the method is recorded."""
        return method.closing

    def columns(self, model: Model) -> dict[str, str]:
        """Names and units of what is recorded, in its order."""
        return closing_columns(model)
