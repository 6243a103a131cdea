"""The variational integrator in generalized coordinates: what the framework is built around."""

from dataclasses import dataclass
from typing import ClassVar

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
    """

    name: ClassVar[str] = "recursive"
    paper: ClassVar[str] = "Wendlandt 1997"
    coordinates: ClassVar[str] = "generalized"
    cost: ClassVar[str] = "O(n)"

    def method(self, model: Model) -> Variational:
        """What the kernels step a tree by."""
        return Variational(MidpointBody(), ArticulatedNewton(), Extrapolation(), self.solver)
