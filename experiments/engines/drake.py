"""Drake behind the adapter of engines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from biped.disturbances import Throw
from biped.errors import InputError
from experiments.engines.drake_contact import DEFAULT_RELAXATION, IMPACT, block_contact, thrown_back
from experiments.engines.drake_coordinates import Coordinates
from experiments.engines.drake_plant import Built, build
from experiments.engines.engine import Applied, Case, Floats, Natural, Simulation
from experiments.kernels.foreign import Arrival

_APPROXIMATIONS = ("sap", "similar", "lagged")
_CONTACTS = ("matched", "default")


@dataclass(frozen=True)
class Drake:
    """Drake's discrete plant with its settings; soles are spheres of 1 µm at the contact points.

    Attributes:
        approximation: of contact: sap, with a linear spring and damper; similar or lagged, with the law of Hunt and
            Crossley. (Drake's fourth, tamsi, is deprecated.)
        contact: "matched" to our floor's stiffness and damping, or "default".
    """

    name: ClassVar[str] = "drake"
    title: ClassVar[str] = "Drake"
    package: ClassVar[str] = "pydrake"
    distribution: ClassVar[str] = "drake"
    install: ClassVar[str] = "pip install 'biped-balance[drake]'"
    lag: ClassVar[float] = 0.5

    approximation: str = "sap"
    contact: str = "matched"

    @property
    def natural(self) -> Natural:
        """Drake's defaults."""
        return Natural(
            Drake("lagged", "default"),
            1e-3,
            2e-3,
            "Drake's defaults: discrete, lagged, 1 ms, point stiffness, dissipation and stiction tolerance its own; "
            "spheres at the contact points",
        )

    def differences(self, case: Case) -> tuple[str, ...]:
        """What cannot be made equal."""
        found = [self._normal(case), self._friction(case)]
        if case.throw is not None:
            found.append(self._blow(case.throw, case.step))
        if any(body.joint.kind == "spherical" for body in case.model.bodies):
            found.append("spherical joints have three angles, singular where the middle one is ±90°")
        return tuple(found)

    def start(self, case: Case) -> Simulation:
        """A simulation of the case."""
        for name, choices in (("approximation", _APPROXIMATIONS), ("contact", _CONTACTS)):
            if getattr(self, name) not in choices:
                raise InputError(f"Drake's {name} = {getattr(self, name)!r}: it must be {' or '.join(choices)}")
        return DrakeSimulation(case, build(case, self.approximation, self.contact == "matched"))

    def _normal(self, case: Case) -> str:
        if self.contact == "default":
            return "Drake's contacts are its defaults, not our floor's spring and damper"
        if self.approximation == "sap":
            return (
                "the normal force is our floor's spring and damper, taken at the end of each step, not in its middle: "
                f"{1e2 * case.step * case.floor.k_n / max(case.floor.b_n, 1e-9):.2g} % more damping"
            )
        return (
            "damping grows with penetration (Hunt and Crossley): it is our floor's where all points carry equal shares "
            "of the weight, less in a point that carries less"
        )

    def _friction(self, case: Case) -> str:
        one = f"one coefficient of friction, {case.floor.mu_s:g}, and no tangential spring"
        if self.approximation == "sap":
            tau = case.floor.b_n / case.floor.k_n if self.contact == "matched" else DEFAULT_RELAXATION
            glide = 1e3 * (tau + case.step) * case.floor.mu_s * 0.1
            return (
                f"{one}: points under load creep, and those that slide are lifted, by {glide:.2g} mm at 0.1 m/s, which "
                "is how sap makes friction convex; where that is more than they are deep, they chatter"
            )
        tolerance = case.floor.zvt if self.contact == "matched" else 1e-4
        return f"{one}: points creep at up to {tolerance:g} m/s, the stiction tolerance, before they slide"

    def _blow(self, throw: Throw, step: float) -> str:
        edges = "boxes touch in one point at a time, which may be the end of an edge"
        if self.contact == "default":
            return f"the block's contact is Drake's default, which knows no restitution; {edges}"
        law = "spring and damper" if self.approximation == "sap" else "Hunt-Crossley contact"
        attained = thrown_back(block_contact(throw, step), self.approximation, throw, step)
        return (
            f"Drake has no restitution: the block's contact is a {law} of {1e3 * IMPACT:g} ms, which in steps of "
            f"{1e3 * step:g} ms throws it back from a wall with {attained:.2f}, not {throw.restitution:g}; {edges}"
        )


class DrakeSimulation:
    """A rollout in Drake.

    Attributes:
        plant: Drake's.
        coordinates: from ours to Drake's and back.
        context: the state of the plant, a part of the diagram's.
    """

    def __init__(self, case: Case, built: Built) -> None:
        self.case, self.plant, self._built = case, built.plant, built
        self.coordinates = Coordinates(built.plant, case.model, built.joints)
        self._diagram_context = built.diagram.CreateDefaultContext()
        self.context = self.plant.GetMyMutableContextFromRoot(self._diagram_context)
        self._results = self.plant.get_contact_results_output_port()
        self._generalized = self.plant.get_applied_generalized_force_input_port()
        self._spatial = self.plant.get_applied_spatial_force_input_port()
        self._failed = False
        self._set_springs()

    def _set_springs(self) -> None:
        """The rest positions of the springs, and no velocity."""
        springs = self.case.impedance
        joints = [self.plant.get_joint_actuator(k).joint().name() for k in self.plant.GetJointActuatorIndices()]
        if joints:
            rest = [springs.rest.get(joint, 0.0) for joint in joints]
            port = self.plant.get_desired_state_input_port(self._built.bodies[0].model_instance())
            port.FixValue(self.context, [*rest, *np.zeros(len(rest))])

    def place(self, q: Floats, v: Floats, thrown: Floats) -> None:
        """Start anew."""
        positions = self.coordinates.positions(q)
        block = self._built.block_joint
        if block is not None:
            first = block.position_start()
            positions[first : first + 7] = (*thrown[3:7], *thrown[:3])
        self.plant.SetPositions(self.context, positions)
        velocities = self.coordinates.velocities(self.context, v)
        if block is not None:
            first = block.velocity_start()
            velocities[first : first + 6] = (*thrown[10:13], *thrown[7:10])
        self.plant.SetVelocities(self.context, velocities)
        self._failed = False

    def step(self, torque: Floats, forces: Sequence[Applied]) -> None:
        """Take one step; where Drake's solver fails, what is read next is not finite."""
        self._generalized.FixValue(self.context, self.coordinates.velocities(self.context, torque))
        self._spatial.FixValue(self.context, [self._on_body(force) for force in forces])
        try:
            self._built.diagram.ExecuteForcedEvents(self._diagram_context, publish=False)
        except RuntimeError:
            self._failed = True

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
        """Where it is now, and the forces in the step."""
        positions, velocities = self.plant.GetPositions(self.context), self.plant.GetVelocities(self.context)
        self.coordinates.read_positions(positions, arrival.q)
        self.coordinates.read_velocities(self.context, velocities, arrival.v)
        arrival.force[:], arrival.blow[:] = 0.0, 0.0
        results = self._results.Eval(self.context)
        for k in range(results.num_point_pair_contacts()):
            self._read_contact(results.point_pair_contact_info(k), arrival)
        block = self._built.block_joint
        if block is not None:
            first, start = block.position_start(), block.velocity_start()
            arrival.thrown[:3], arrival.thrown[3:7] = positions[first + 4 : first + 7], positions[first : first + 4]
            arrival.thrown[7:10] = velocities[start + 3 : start + 6]
            arrival.thrown[10:13] = velocities[start : start + 3]
        if self._failed:
            arrival.q[:] = np.nan

    def _read_contact(self, contact: Any, arrival: Arrival) -> None:
        """Add the force of a contact, which is on its second geometry."""
        pair = contact.point_pair()
        force = contact.contact_force()
        if self._built.block in (pair.id_A, pair.id_B):
            arrival.blow[:] += self.case.step * force * (1.0 if self._built.block == pair.id_A else -1.0)
            arrival.blow_at[:] = contact.contact_point()
            return
        points = self._built.points
        if pair.id_B in points:
            arrival.force[points[pair.id_B]] += force
        else:
            arrival.force[points[pair.id_A]] -= force
