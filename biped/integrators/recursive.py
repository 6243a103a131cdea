"""The variational integrator in generalized coordinates, the default of the framework."""

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
    """The variational integrator in generalized coordinates, with exact Newton iterations in O(n) for n bodies.

    The equations are those of Wendlandt 1997, chapters 2 and 5, in joint coordinates. The first iteration of a step
    reuses the last step's Newton matrix if the contacts have not changed. See ``NewtonSettings`` for the settings.

    Joints that close loops are constraints, whose equations border the Newton matrix; see ``closing_columns`` for their
    reactions and gaps in a run.
    """

    name: ClassVar[str] = "recursive"
    paper: ClassVar[str] = "Wendlandt 1997"
    coordinates: ClassVar[str] = "generalized"
    cost: ClassVar[str] = "O(n)"
    takes_loops: ClassVar[bool] = True

    def method(self, model: Model) -> Variational:
        """Return the method for the kernels."""
        finder = ArticulatedNewton(keeps_factors=not model.closing_joints)
        return Variational(MidpointBody(), finder, Extrapolation(), self.solver, closing_if_any(model))

    def recorder(self, method: Variational) -> Any:
        """Return the part of the method whose numbers are recorded."""
        return method.closing

    def columns(self, model: Model) -> dict[str, str]:
        """Return names and units of the recorded numbers, in order."""
        return closing_columns(model)
