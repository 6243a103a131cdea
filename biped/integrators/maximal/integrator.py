"""The variational integrator of the thesis, in maximal coordinates."""

from dataclasses import dataclass
from typing import Any, ClassVar

from biped.integrators.closing import WRENCH, closing_columns, closing_if_any
from biped.integrators.maximal.kernels import new_root_finder
from biped.integrators.newton_settings import NewtonSettings
from biped.kernels.loop.log import Both
from biped.kernels.state.method import Variational
from biped.kernels.variational.discrete_body import MidpointBody
from biped.kernels.variational.newton import Extrapolation
from biped.model import Model


@dataclass(frozen=True)
class Maximal(NewtonSettings):
    """The variational integrator in maximal coordinates: seven for each body, with the joints as constraints.

    Source: Wendlandt 1997, section 5.4 and Algorithm 5.1. By Theorem 2.1 there, runs equal those of ``Recursive`` up to
    rounding and the tolerance. It is slower, but computes the reactions in the joints: the columns
    ``reaction_<joint>_fx`` … ``_nz`` of a run. The columns ``gap_position`` and ``gap_rotation`` are the largest gaps
    in the joints. See ``NewtonSettings`` for the settings.

    Joints that close loops are further constraints; see ``closing_columns`` for their reactions and gaps in a run.
    """

    name: ClassVar[str] = "maximal"
    paper: ClassVar[str] = "Wendlandt 1997"
    coordinates: ClassVar[str] = "maximal"
    cost: ClassVar[str] = "O(n)"
    takes_helical_joints: ClassVar[bool] = False
    takes_loops: ClassVar[bool] = True

    def method(self, model: Model) -> Variational:
        """Return the method for the kernels."""
        finder = new_root_finder(model.n)
        return Variational(MidpointBody(), finder, Extrapolation(), self.solver, closing_if_any(model))

    def recorder(self, method: Variational) -> Any:
        """Return the parts of the method whose numbers are recorded."""
        return Both(method.root_finder, method.closing)

    def columns(self, model: Model) -> dict[str, str]:
        """Return names and units of the recorded numbers, in order."""
        joints = [body.joint.name for body in model.bodies if body.joint.kind != "floating"]
        wrenches = {f"reaction_{joint}_{part}": unit for joint in joints for part, unit in WRENCH.items()}
        return wrenches | {"gap_position": "m", "gap_rotation": "1"} | closing_columns(model)
