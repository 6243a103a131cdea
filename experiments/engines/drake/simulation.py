"""A rollout in Drake."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biped.model import Model
from contact.arrays import Floats
from experiments.engines.drake.plant import Built
from experiments.engines.engine import Applied, Case, Simulation
from experiments.engines.kernels.external import Arrival

#: Of a floating body Drake has quaternion, place; angular velocity, velocity.
_FLOATING_Q, _FLOATING_V = (4, 5, 6, 0, 1, 2, 3), (3, 4, 5, 0, 1, 2)


@dataclass(frozen=True)
class Ball:
    """A spherical joint."""

    q: slice  # where its quaternion is in our configuration
    v: slice  # where its angular velocity is in our velocity
    angles: int  # where its angles begin in Drake's
    parent: Any  # Drake's body on its inboard side


class Coordinates:
    """Maps of one plant. Its context has the positions that velocities belong to."""

    def __init__(self, plant: Any, model: Model, joints: Sequence[Any]) -> None:
        self._plant = plant
        self._balls: list[Ball] = []
        ours: list[int] = []
        theirs: list[int] = []
        velocities: list[int] = []
        for body, joint in zip(model.bodies, joints, strict=True):
            q, v = model.coordinates(body.joint.name), model.dofs(body.joint.name)
            first, start = joint.position_start(), joint.velocity_start()
            if body.joint.kind == "spherical":
                self._balls.append(Ball(q, v, first, joint.parent_body()))
                velocities += range(start, start + 3)
                continue
            floats = body.joint.kind == "floating"
            ours += range(q.start, q.stop)
            theirs += [first + k for k in (_FLOATING_Q if floats else (0,))]
            velocities += [start + k for k in (_FLOATING_V if floats else (0,))]
        self._ours, self._theirs, self._velocities = np.array(ours), np.array(theirs), np.array(velocities)

    def positions(self, q: Floats) -> Floats:
        """Our configuration (nq,) as Drake's positions; zero for what is not the model's."""
        from pydrake.common.eigen_geometry import Quaternion
        from pydrake.math import RollPitchYaw

        positions = np.zeros(self._plant.num_positions())
        positions[self._theirs] = q[self._ours]
        for ball in self._balls:
            unit = q[ball.q] / np.linalg.norm(q[ball.q])
            positions[ball.angles : ball.angles + 3] = RollPitchYaw(Quaternion(unit)).vector()
        return positions

    def read_positions(self, positions: Floats, q: Floats) -> None:
        """Write our configuration of Drake's positions into q; unit quaternions."""
        from pydrake.math import RollPitchYaw

        q[self._ours] = positions[self._theirs]
        for ball in self._balls:
            q[ball.q] = RollPitchYaw(positions[ball.angles : ball.angles + 3]).ToQuaternion().wxyz()

    def velocities(self, context: Any, v: Floats) -> Floats:
        """Our velocity (nv,), or generalized force, as Drake's; zero for what is not the model's."""
        values = np.zeros(self._plant.num_velocities())
        values[self._velocities] = v
        for ball in self._balls:
            values[self._velocities[ball.v]] = self._parent(context, ball).T @ v[ball.v]
        return values

    def read_velocities(self, context: Any, values: Floats, v: Floats) -> None:
        v[:] = values[self._velocities]
        for ball in self._balls:
            v[ball.v] = self._parent(context, ball) @ v[ball.v]

    def _parent(self, context: Any, ball: Ball) -> Floats:
        return np.asarray(self._plant.EvalBodyPoseInWorld(context, ball.parent).rotation().matrix())


class DrakeSimulation(Simulation):
    """A rollout whose ``plant`` is Drake's."""

    def __init__(self, case: Case, built: Built) -> None:
        from pydrake.systems.analysis import Simulator

        super().__init__(case)
        self.plant, self._built = built.plant, built
        self.coordinates = Coordinates(built.plant, case.model, built.joints)  # from ours to Drake's and back
        self._diagram_context = built.diagram.CreateDefaultContext()
        self.context = self.plant.GetMyMutableContextFromRoot(self._diagram_context)  # the plant's part
        self._simulator = Simulator(built.diagram, self._diagram_context)
        self._results = self.plant.get_contact_results_output_port()
        self._generalized = self.plant.get_applied_generalized_force_input_port()
        self._spatial = self.plant.get_applied_spatial_force_input_port()
        self._set_springs()

    def _set_springs(self) -> None:
        springs = self.case.impedance
        joints = [self.plant.get_joint_actuator(k).joint().name() for k in self.plant.GetJointActuatorIndices()]
        if joints:
            rest = [springs.rest.get(joint, 0.0) for joint in joints]
            port = self.plant.get_desired_state_input_port(self._built.bodies[0].model_instance())
            port.FixValue(self.context, [*rest, *np.zeros(len(rest))])

    def place(self, q: Floats, v: Floats, projectile: Floats) -> None:
        positions = self.coordinates.positions(q)
        block = self._built.block_joint
        if block is not None:
            first = block.position_start()
            positions[first : first + 7] = (*projectile[3:7], *projectile[:3])
        self.plant.SetPositions(self.context, positions)
        velocities = self.coordinates.velocities(self.context, v)
        if block is not None:
            first = block.velocity_start()
            velocities[first : first + 6] = (*projectile[10:13], *projectile[7:10])
        self.plant.SetVelocities(self.context, velocities)
        self.failure = ""

    def step(self, torque: Floats, forces: Sequence[Applied]) -> None:
        """Take one step; where Drake's solver fails, what is read next is not finite."""
        self._generalized.FixValue(self.context, self.coordinates.velocities(self.context, torque))
        self._spatial.FixValue(self.context, [self._on_body(force) for force in forces])
        try:
            self._built.diagram.ExecuteForcedEvents(self._diagram_context, publish=False)
        except RuntimeError as error:
            self.failure = str(error)

    def passive_rollout(self, steps: int) -> None:
        self._generalized.FixValue(self.context, np.zeros(self.plant.num_velocities()))
        self._spatial.FixValue(self.context, [])
        self._diagram_context.SetTime(0.0)  # steps are taken at multiples of the step, the first at zero
        self._simulator.Initialize()
        try:
            self._simulator.AdvanceTo(steps * self.case.step)
        except RuntimeError as error:
            self.failure = str(error)

    def _on_body(self, applied: Applied) -> Any:
        from pydrake.multibody.math import SpatialForce
        from pydrake.multibody.plant import ExternallyAppliedSpatialForce

        body = self._built.bodies[applied.body]
        force = ExternallyAppliedSpatialForce()
        force.body_index = body.index()
        force.p_BoBq_B = self.plant.EvalBodyPoseInWorld(self.context, body).inverse().multiply(applied.place)
        force.F_Bq_W = SpatialForce(np.zeros(3), applied.force)
        return force

    def read(self, arrival: Arrival) -> None:
        positions, velocities = self.plant.GetPositions(self.context), self.plant.GetVelocities(self.context)
        self.coordinates.read_positions(positions, arrival.q)
        self.coordinates.read_velocities(self.context, velocities, arrival.v)
        arrival.force[:], arrival.impact[:] = 0.0, 0.0
        results = self._results.Eval(self.context)
        for k in range(results.num_point_pair_contacts()):
            self._read_contact(results.point_pair_contact_info(k), arrival)
        block = self._built.block_joint
        if block is not None:
            first, start = block.position_start(), block.velocity_start()
            arrival.projectile[:3] = positions[first + 4 : first + 7]
            arrival.projectile[3:7] = positions[first : first + 4]
            arrival.projectile[7:10] = velocities[start + 3 : start + 6]
            arrival.projectile[10:13] = velocities[start : start + 3]
        if self.failure:
            arrival.q[:] = np.nan

    def _read_contact(self, contact: Any, arrival: Arrival) -> None:
        pair = contact.point_pair()
        force = contact.contact_force()
        if self._built.block in (pair.id_A, pair.id_B):
            arrival.impact[:] += self.case.step * force * (1.0 if self._built.block == pair.id_A else -1.0)
            arrival.impact_place[:] = contact.contact_point()
            return
        points = self._built.points
        if pair.id_B in points:
            arrival.force[points[pair.id_B]] += force
        else:
            arrival.force[points[pair.id_A]] -= force
