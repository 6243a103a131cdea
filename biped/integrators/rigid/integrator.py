"""The variational integrator with rigid contact: what touches the floor does not go into it, what sticks stays."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from biped.disturbances import Disturbances
from biped.errors import InputError
from biped.integrators.newton_settings import SolverSettings
from biped.integrators.rigid.interior.method import RigidContact, new_rigid_contact
import biped.integrators.rigid.interior.step
import biped.integrators.rigid.interior.position
from biped.dynamics import forward_kinematics
from biped.kernels.state.simulation_state import START
from contact.modes import NONE
from biped.kernels.variational.discrete_body import MidpointBody
from biped.kernels.variational.newton import Extrapolation
from biped.model import Model
from contact import Floor


if TYPE_CHECKING:
    from biped.runs.state import State

#: [m] Points of a state that is gone on from may be so far in the floor.
IN_FLOOR = 1e-6


@dataclass(frozen=True)
class Rigid(SolverSettings):
    """The variational integrator with rigid contact and Coulomb friction, solved by an interior point method."""

    name: ClassVar[str] = "rigid"
    paper: ClassVar[str] = "Brüdigam et al. 2024"
    order: ClassVar[int] = 2
    symmetric: ClassVar[bool] = False
    symplectic: ClassVar[bool] = True
    conserves_momentum: ClassVar[bool] = True
    takes_moving_floor: ClassVar[bool] = True
    takes_passive_joints: ClassVar[bool] = True

    complementarity: float = 1e-12
    directions: int = 8

    def bind(self, model: Model, floor: Floor, disturbances: Disturbances) -> None:
        """Refuse floors whose friction differs between sticking and sliding."""
        floors = {"floor": floor} | {f"patch {k}": patch.floor for k, patch in enumerate(disturbances.patches, 1)}
        for name, one in floors.items():
            if one.mu_s != one.mu_d:
                raise InputError(
                    f"integrator 'rigid' has one coefficient of friction, and the {name} has mu_s = {one.mu_s:g} and "
                    f"mu_d = {one.mu_d:g}: make them the same"
                )

    def begin(self, state: "State") -> None:
        """Raise a start whose points are in the floor until the deepest of them stands on it.

        Raises:
            InputError: they are, and the root does not float, or steps have been taken by an integrator with springs.
        """
        model, arrays = state.model, state.arrays
        if not model.nc:
            return
        depth = -float(forward_kinematics(model, arrays.q).contact[:, 2].min())
        if depth <= (IN_FLOOR if state.steps else 0.0):
            return
        if state.steps or not model.is_floating:
            raise InputError(
                f"a contact point is {depth:.3g} m in the floor, and integrator 'rigid' cannot go on from there: a "
                "floating model's start is raised until it stands on the floor; begin with one, or end the run before "
                "with points above the floor"
            )
        arrays.q[2] += depth
        arrays.ledger.works[START] += -depth * model.total_mass * model.gravity[2]
        arrays.mode[:] = arrays.found[:] = NONE

    def method(self, model: Model) -> RigidContact:
        """What the kernels step a tree by."""
        return new_rigid_contact(
            MidpointBody(), Extrapolation(), self.solver, self.complementarity, self.directions, model.tree
        )

    def recorder(self, method: RigidContact) -> Any:
        """What of the method is recorded."""
        return method.unknowns

    def columns(self, model: Model) -> dict[str, str]:
        """Names and units of what is recorded, in its order."""
        return {"contact_residual": "N*s", "contact_complementarity": "N*s*m", "contact_depth": "m"}
