"""PyBullet behind the adapter of engines."""

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from biped.errors import InputError
from biped.model.geometry import quaternion_matrix
from experiments.engines.bullet_world import as_bullet, as_ours, build_world
from experiments.engines.engine import Applied, Case, Floats, Natural, Simulation
from experiments.kernels.foreign import Arrival


@dataclass(frozen=True)
class Pybullet:
    """PyBullet with its settings.

    Attributes:
        iterations: of the solver at most, numSolverIterations.
        residual: at which it stops, solverResidualThreshold.
        cone: whether friction is a cone, enableConeFriction; else a pyramid.
        anchor: whether points that stick keep their place, frictionAnchor.
        damping: of all motion, linearDamping and angularDamping [1/s].
        soles: "points", a sphere of 1 mm at each contact point, or "boxes".
        contact: "matched" to our floor's stiffness and damping, or "default".
    """

    name: ClassVar[str] = "pybullet"
    title: ClassVar[str] = "PyBullet"
    package: ClassVar[str] = "pybullet"
    distribution: ClassVar[str] = "pybullet"
    install: ClassVar[str] = "pip install pybullet, under Python 3.11: there are no wheels of it for later ones"
    lag: ClassVar[float] = 0.5

    iterations: int = 500
    residual: float = 1e-14
    cone: bool = True
    anchor: bool = True
    damping: float = 0.0
    soles: str = "points"
    contact: str = "matched"

    @property
    def natural(self) -> Natural:
        """PyBullet's defaults."""
        engine = Pybullet(50, 1e-7, True, False, 0.04, "boxes", "default")
        step = 1.0 / 240.0
        return Natural(
            engine,
            step,
            step,
            "PyBullet's defaults: 240 Hz, 50 iterations, damping 0.04, rigid contacts, boxes as soles",
        )

    def differences(self, case: Case) -> tuple[str, ...]:
        """What cannot be made equal."""
        mu = case.floor.mu_s
        if self.contact == "matched":
            found = [
                "PyBullet's points have our floor's normal spring and damper; sideways they are rigid, not on springs"
            ]
        else:
            found = [
                "PyBullet's contacts are its defaults, rigid with error reduction, not our floor's spring and damper"
            ]
        shape = "cone" if self.cone else "pyramid"
        found.append(
            f"friction is a {shape} with one coefficient, {mu:g}, solved in {self.iterations} iterations at most"
        )
        if self.damping:
            found.append(f"all motion is damped by {self.damping:g} 1/s")
        if case.impedance.stiffness or case.impedance.damping:
            found.append("PyBullet has no implicit springs in joints: theirs are torques of each step's start")
        return tuple(found)

    def start(self, case: Case) -> Simulation:
        """A simulation of the case."""
        for name, value, choices in (
            ("contact", self.contact, ("matched", "default")),
            ("soles", self.soles, ("points", "boxes")),
        ):
            if value not in choices:
                raise InputError(f"PyBullet's {name} = {value!r}: it must be {choices[0]} or {choices[1]}")
        return BulletSimulation(self, case)


class BulletSimulation:
    """A rollout in PyBullet, in a client of its own, which is disconnected with it."""

    def __init__(self, settings: Pybullet, case: Case) -> None:
        import pybullet

        self.engine, self.settings, self.case = pybullet, settings, case
        self.client = pybullet.connect(pybullet.DIRECT)
        if self.client < 0:
            raise InputError("PyBullet has no client left: too many of its simulations are alive in this process")
        self.close = weakref.finalize(self, pybullet.disconnect, self.client)
        model = case.model
        self.world = build_world(pybullet, self.client, settings, case)
        self.joints = [link for link in self.world.links if link >= 0]
        names = [body.joint.name for body, link in zip(model.bodies, self.world.links, strict=True) if link >= 0]
        self.dofs = np.array([model.dof(name) for name in names], dtype=int)
        self.coordinates = np.array([model.coordinate(name) for name in names], dtype=int)
        # From the root's axes to those of its inertia, which are PyBullet's base.
        self.turn = as_ours(pybullet.getDynamicsInfo(self.world.robot, -1, physicsClientId=self.client)[4])
        bodies = sorted({model.body_index(point.body) for point in model.contact_points})
        self.feet = [self.world.links[body] for body in bodies]
        self.foot_of = {link: k for k, link in enumerate(self.feet)}
        self.points = np.array([point.position for point in model.contact_points]).reshape(-1, 3)
        self.owner = np.array([bodies.index(model.body_index(point.body)) for point in model.contact_points], dtype=int)
        self.stiffness, self.damping, self.rest = (
            np.array([values.get(name, 0.0) for name in names])
            for values in (case.impedance.stiffness, case.impedance.damping, case.impedance.rest)
        )
        self.q, self.v = np.zeros(model.nq), np.zeros(model.nv)

    def place(self, q: Floats, v: Floats, thrown: Floats) -> None:
        """Start anew."""
        engine, client = self.engine, self.client
        self.world = build_world(engine, client, self.settings, self.case)
        robot = self.world.robot
        if self.case.model.is_floating:
            engine.resetBasePositionAndOrientation(
                robot, q[:3].tolist(), as_bullet(product(q[3:7], self.turn)), physicsClientId=client
            )
            engine.resetBaseVelocity(robot, v[:3].tolist(), v[3:6].tolist(), physicsClientId=client)
        for joint, coordinate, dof in zip(self.joints, self.coordinates, self.dofs, strict=True):
            engine.resetJointState(robot, joint, q[coordinate], v[dof], physicsClientId=client)
        if self.world.thrown >= 0:
            engine.resetBasePositionAndOrientation(
                self.world.thrown, thrown[:3].tolist(), as_bullet(thrown[3:7]), physicsClientId=client
            )
            engine.resetBaseVelocity(
                self.world.thrown, thrown[7:10].tolist(), thrown[10:].tolist(), physicsClientId=client
            )
        self.q[:], self.v[:] = q, v

    def step(self, torque: Floats, forces: Sequence[Applied]) -> None:
        """Take one step."""
        engine, client, robot = self.engine, self.client, self.world.robot
        held = torque[self.dofs]
        held = held - self.stiffness * (self.q[self.coordinates] - self.rest) - self.damping * self.v[self.dofs]
        engine.setJointMotorControlArray(
            robot, self.joints, engine.TORQUE_CONTROL, forces=held.tolist(), physicsClientId=client
        )
        for push in forces:
            link = self.world.links[push.body]
            engine.applyExternalForce(
                robot, link, push.force.tolist(), push.place.tolist(), engine.WORLD_FRAME, physicsClientId=client
            )
        engine.stepSimulation(physicsClientId=client)

    def read(self, arrival: Arrival) -> None:
        """Where it is now, and the forces in the step."""
        engine, client, robot = self.engine, self.client, self.world.robot
        q, v = self.q, self.v
        if self.case.model.is_floating:
            place, turn = engine.getBasePositionAndOrientation(robot, physicsClientId=client)
            before = q[3:7].copy()
            q[:3], q[3:7] = place, product(as_ours(turn), self.turn * (1.0, -1.0, -1.0, -1.0))
            if before @ q[3:7] < 0.0:
                q[3:7] *= -1.0
            v[:3], v[3:6] = engine.getBaseVelocity(robot, physicsClientId=client)
        for k, state in enumerate(engine.getJointStates(robot, self.joints, physicsClientId=client)):
            q[self.coordinates[k]], v[self.dofs[k]] = state[0], state[1]
        arrival.q[:], arrival.v[:] = q, v
        arrival.force[:], arrival.blow[:] = 0.0, 0.0
        contacts = engine.getContactPoints(robot, physicsClientId=client)
        touching = [contact for contact in contacts if contact[9] > 0.0]
        if touching:
            self._read_contacts(touching, arrival)
        if self.world.thrown >= 0:
            place, turn = engine.getBasePositionAndOrientation(self.world.thrown, physicsClientId=client)
            velocity, spin = engine.getBaseVelocity(self.world.thrown, physicsClientId=client)
            arrival.thrown[:] = (*place, *as_ours(turn), *velocity, *spin)

    def _read_contacts(self, contacts: Sequence[Any], arrival: Arrival) -> None:
        """Add up forces: a contact's normal and directions of friction are those of forces on the model."""
        feet = []
        for contact in contacts:
            force = np.array(contact[7]) * contact[9]
            force += np.array(contact[11]) * contact[10]
            force += np.array(contact[13]) * contact[12]
            if contact[2] == self.world.thrown:
                arrival.blow[:] += self.case.step * force
                arrival.blow_at[:] = contact[5]
            else:
                feet.append((self.foot_of[contact[3]], contact[5], force))
        if not feet:
            return
        states = self.engine.getLinkStates(self.world.robot, self.feet, physicsClientId=self.client)
        for foot, place, force in feet:
            state = states[foot]
            local = quaternion_matrix(as_ours(state[5])).T @ (np.array(place) - state[4])
            far = np.sum((self.points - local) ** 2, axis=1) + (self.owner != foot)
            arrival.force[int(np.argmin(far))] += force


def product(a: Floats, b: Floats) -> Floats:
    """Of two quaternions, scalar first."""
    return np.array((a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))))
