"""Adapter for the engine PyBullet."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biped.dynamics import mass_matrix
from biped.errors import InputError
from biped.inputs.extras import need
from contact.arrays import Floats
from contact.vectors import quat_mul
from experiments.engines.engine import Applied, Case, Engine, Simulation, VendorDefaults, contact_points_of
from experiments.engines.kernels.contacts import nearest
from experiments.engines.kernels.external import Arrival, FloorState
from experiments.engines.pybullet.urdf import principal_axes
from experiments.engines.pybullet.world import FASTEST, Client, build_world, set_up_foot


@dataclass(frozen=True)
class Pybullet(Engine):
    """Settings of PyBullet; the comments name its parameters."""

    name = "pybullet"
    title = "PyBullet"
    package = "pybullet"
    distribution = "pybullet"
    takes_moving_floor = True  # as a plane whose pose and velocity are set at each step
    takes_patches = True  # as parameters of each contact point, which becomes a link without mass
    velocity_offset = 0.5

    iterations: int = 50  # largest number of solver iterations, numSolverIterations
    residual: float = 1e-7  # tolerance of the solver, solverResidualThreshold
    cone: bool = True  # True for a friction cone, enableConeFriction; False for a pyramid
    anchor: bool = True  # True to anchor points that stick, frictionAnchor
    damping: float = 0.0  # [1/s] damping of all motion, linearDamping and angularDamping
    soles: str = "points"  # "points", a sphere of 1 mm at each contact point, or "boxes"
    contact: str = "matched"  # "matched" to our floor's stiffness and damping, or "default"

    @property
    def vendor_defaults(self) -> VendorDefaults:
        text = (
            "PyBullet's defaults: 240 Hz or the next higher rate that divides the control period, 50 iterations, "
            "damping 0.04, rigid contacts, boxes as soles"
        )
        engine = Pybullet(50, 1e-7, True, False, 0.04, "boxes", "default")
        return VendorDefaults(engine, 1.0 / 240.0, text)

    def differences(self, case: Case) -> tuple[str, ...]:
        mu = case.floor.mu_s
        sentences = ["PyBullet's default contacts, rigid with error reduction, replace biped's spring and damper"]
        if self.contact == "matched":
            sentences = [
                "contact points have the normal spring and damper of biped's floor; tangentially they are rigid"
            ]
        shape = "cone" if self.cone else "pyramid"
        sentences.append(
            f"friction is a {shape} with one coefficient, {mu:g}, solved in {self.iterations} iterations at most"
        )
        if case.throw is not None:
            sentences.append(
                "restitution acts at each corner of the block separately, so one hit may be several impacts with "
                "another total impulse"
            )
        if self.anchor and _tilts(case):
            sentences.append(
                "on a tilting floor, sticking points are not anchored, since anchored points would keep their first "
                f"normal: they creep, the less the smaller `residual` ({self.residual:g}) is"
            )
        if self.damping:
            sentences.append(f"all motion is damped by {self.damping:g} 1/s")
        if case.impedance.stiffness or case.impedance.damping:
            sentences.append("PyBullet has no implicit joint springs: it holds their torques from each step's start")
        return tuple(sentences)

    def start(self, case: Case) -> Simulation:
        need("pybullet")
        self.check_choices(contact=("matched", "default"), soles=("points", "boxes"))
        self.check_soles(case, self.soles)
        return BulletSimulation(replace(self, anchor=self.anchor and not _tilts(case)), case)


def _tilts(case: Case) -> bool:
    """Return True if the floor tilts: Bullet's anchored points keep the normal of their first contact."""
    return case.platform is not None and not {"roll", "pitch"}.isdisjoint(case.platform.signals)


class BulletSimulation(Simulation):
    """A rollout in PyBullet, with a client of its own, which is disconnected when the rollout is deleted."""

    def __init__(self, settings: Pybullet, case: Case) -> None:
        super().__init__(case)
        self.settings, self.client = settings, Client()
        model = case.model
        self.world = build_world(self.client, settings, case)
        jointed = [
            (link, body.joint.name) for body, link in zip(model.bodies, self.world.links, strict=True) if link >= 0
        ]
        self.joints = [link for link, _ in jointed]
        self.dofs = np.array([model.dof(name) for _, name in jointed], dtype=int)
        self.coordinates = np.array([model.coordinate(name) for _, name in jointed], dtype=int)
        # Rotation from the root's axes to its principal axes of inertia, which are those of PyBullet's base.
        self.turn = _scalar_first(self.client.getDynamicsInfo(self.world.robot, -1)[4])
        self.points = contact_points_of(model, lambda body: principal_axes(body)[1])
        springs = case.impedance
        self.stiffness, self.damping, self.rest = (
            np.array([values.get(name, 0.0) for _, name in jointed])
            for values in (springs.stiffness, springs.damping, springs.rest)
        )
        self.q, self.v = np.zeros(model.nq), np.zeros(model.nv)

    def place(self, q: Floats, v: Floats, projectile: Floats) -> None:
        """Restart; raises InputError if springs and dampers in joints would be unstable."""
        client = self.client
        check_springs(self.case, q, self.dofs, self.stiffness, self.damping)
        self.world = build_world(client, self.settings, self.case)
        if self.case.model.is_floating:
            self._place_free(self.world.robot, q[:3], _product(q[3:7], self.turn), v[:6])
        for joint, coordinate, dof in zip(self.joints, self.coordinates, self.dofs, strict=True):
            client.resetJointState(self.world.robot, joint, q[coordinate], v[dof])
        if self.world.projectile >= 0:
            self._place_free(self.world.projectile, projectile[:3], projectile[3:7], projectile[7:])
        self.q[:], self.v[:] = q, v
        self.region = np.zeros(self.case.model.nc, dtype=int)  # the floor under each contact point

    def _place_free(self, body: int, place: Floats, turn: Floats, velocity: Floats) -> None:
        client = self.client
        client.resetBasePositionAndOrientation(body, place.tolist(), [float(turn[k]) for k in (1, 2, 3, 0)])
        client.resetBaseVelocity(body, velocity[:3].tolist(), velocity[3:].tolist())

    def set_floor(self, floor: FloorState) -> None:
        if self.case.platform is not None:
            self._place_free(self.world.floor, floor.pose[:3], floor.pose[3:], floor.velocity)
        for point in np.flatnonzero(floor.region != self.region) if self.case.patches else ():
            link, under = self.world.points[point], self.case.floors[floor.region[point]]
            set_up_foot(self.client, self.world.robot, link, self.settings, self.case, under)
        self.region[:] = floor.region

    def step(self, torque: Floats, forces: Sequence[Applied]) -> None:
        client, robot = self.client, self.world.robot
        held = torque[self.dofs]
        held -= self.stiffness * (self.q[self.coordinates] - self.rest) + self.damping * self.v[self.dofs]
        if self.joints:
            client.setJointMotorControlArray(robot, self.joints, client.TORQUE_CONTROL, forces=held.tolist())
        for push in forces:
            link = self.world.links[push.body]
            if link >= 0:  # otherwise the force would act at the body's position a step ago
                client.getLinkState(robot, link, computeForwardKinematics=1)
            client.applyExternalForce(robot, link, push.force.tolist(), push.place.tolist(), client.WORLD_FRAME)
        client.stepSimulation()

    def passive_rollout(self, steps: int) -> None:
        """Take steps without torques and forces, which Bullet clears after each step anyway."""
        for _ in range(steps):
            self.client.stepSimulation()

    def read(self, arrival: Arrival) -> None:
        client, robot = self.client, self.world.robot
        q, v = self.q, self.v
        if self.case.model.is_floating:
            place, turn = client.getBasePositionAndOrientation(robot)
            now = _product(_scalar_first(turn), self.turn * (1.0, -1.0, -1.0, -1.0))
            q[:3], q[3:7] = place, now if now @ q[3:7] >= 0.0 else -now
            v[:3], v[3:6] = client.getBaseVelocity(robot)
        states = client.getJointStates(robot, self.joints) if self.joints else ()
        q[self.coordinates], v[self.dofs] = [state[0] for state in states], [state[1] for state in states]
        # Velocities at Bullet's limit mean that the simulation has exploded.
        arrival.q[:], arrival.v[:] = np.nan if np.abs(v).max() >= FASTEST else q, v
        arrival.force[:], arrival.impact[:] = 0.0, 0.0
        contacts = [c for c in client.getContactPoints(robot) if c[9] > 0.0]
        if contacts:
            self._read_contacts(contacts, arrival)
        if self.world.projectile >= 0:
            place, turn = client.getBasePositionAndOrientation(self.world.projectile)
            velocity, spin = client.getBaseVelocity(self.world.projectile)
            arrival.projectile[:] = (*place, *_scalar_first(turn), *velocity, *spin)

    def _read_contacts(self, contacts: Sequence[Any], arrival: Arrival) -> None:
        """Add up contact forces; the normal and friction directions are those of the forces on the model."""
        points = {link: k for k, link in enumerate(self.world.points)}
        frames = {}
        if not points:
            links = {self.world.links[body]: body for body in set(self.points[0].tolist())}
            frames = {link: (body, *self._frame(link)) for link, body in links.items()}
        weight = sum(contact[9] for contact in contacts if contact[2] == self.world.projectile)
        if weight > 0.0:
            arrival.impact_place[:] = 0.0
        for contact in contacts:
            normal, first, second = contact[9], contact[10], contact[12]
            force = [
                normal * n + first * a + second * b
                for n, a, b in zip(contact[7], contact[11], contact[13], strict=True)
            ]
            if contact[2] == self.world.projectile:
                arrival.impact[:] += self.case.step * np.array(force)
                arrival.impact_place[:] += normal / weight * np.array(contact[5])
            elif points:
                arrival.force[points[contact[3]]] += force
            else:
                body, place, R = frames[contact[3]]
                arrival.force[nearest(self.points, body, (np.array(contact[5]) - place) @ R)] += force

    def _frame(self, link: int) -> tuple[Floats, Floats]:
        """Return the centre of mass (3,) [m] of a link and its principal axes (3, 3) in PyBullet."""
        if link < 0:
            place, turn = self.client.getBasePositionAndOrientation(self.world.robot)
        else:
            place, turn = self.client.getLinkState(self.world.robot, link)[:2]
        return np.array(place), np.reshape(self.client.getMatrixFromQuaternion(turn), (3, 3))


def _scalar_first(quaternion: tuple[float, float, float, float]) -> Floats:
    x, y, z, w = quaternion
    return np.array((w, x, y, z))


def _product(a: Floats, b: Floats) -> Floats:
    """Return the product of two quaternions (w, x, y, z)."""
    return np.array(quat_mul(a.tolist(), b.tolist()))


def check_springs(case: Case, q: Floats, dofs: Floats, stiffness: Floats, damping: Floats) -> None:
    """Raise InputError for unstable springs: v' = v - h A (K θ + B v), θ' = θ + h v' must not grow, A = M(q)⁻¹.

    ``dofs`` are the joints' indices in a velocity; ``stiffness`` [N·m/rad], ``damping`` [N·m·s/rad].
    """
    if not (stiffness.any() or damping.any()):
        return
    h = case.step
    A = h * np.linalg.inv(mass_matrix(case.model, q))[np.ix_(dofs, dofs)]
    eye = np.eye(len(dofs))
    spring, damper = A * stiffness, eye - A * damping
    step = np.block([[damper, -spring], [h * damper, eye - h * spring]])
    if np.max(np.abs(np.linalg.eigvals(step))) > 1.0 + 1e-6:
        raise InputError(
            "PyBullet integrates springs of joints explicitly, which is unstable for these stiffnesses and dampings at "
            f"a time step of {h:g} s: reduce the time step, or stiffness and damping"
        )
