"""A planar mechanism in PyBullet: a free body for each moving frame, held together by point constraints.

A chain or tree of frames that turn about y or slide along the world's x becomes a model for a force-balance simulator:
bodies in space, and constraints whose drift an error-reduction parameter corrects. PyBullet's default solver iterates
over the constraints, at most 50 times; ``direct`` solves them all together.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from biped.errors import InputError
from biped.inputs.extras import need
from contact.arrays import Floats
from experiments.engines.pybullet.world import Client, let_move, silenced
from formulations.mechanism.frames import Frame, tree_of

#: Index of the body of all frames at rest.
GROUND = -1


@dataclass(frozen=True)
class LinkageSettings:
    """Settings of the solver, with PyBullet's defaults."""

    iterations: int = 50  # largest number of iterations, numSolverIterations
    residual: float = 1e-7  # tolerance, solverResidualThreshold
    direct: bool = False  # True to solve all constraints together by Dantzig's method
    point_inertia: float = 0.01  # [kg m²] inertia of bodies without an inertia, which PyBullet would never rotate


class Body(NamedTuple):
    """A rigid body in its initial pose: the frame that a configuration variable moves, and all frames fixed to it."""

    name: str  # name of the configuration variable
    mass: float  # [kg]
    inertia: float  # [kg m²] about the y axis through the centre of mass
    centre: Floats  # (3,) [m] centre of mass
    angle: float  # [rad] angle of the moved frame about y, in the world
    slides: bool  # True for a body that slides along the world's x, instead of being free


class Pin(NamedTuple):
    """A point at which two bodies are connected."""

    first: int  # index of a body
    second: int  # index of another body, or GROUND
    place: Floats  # (3,) [m] initial position of the first body's pin
    gap: Floats  # (3,) [m] vector from ``place`` to the initial position of the second body's pin


def bodies_and_pins(
    frames: Sequence[Frame], q: Mapping[str, float], coincident: Sequence[tuple[str, str]], point_inertia: float
) -> tuple[list[Body], list[Pin]]:
    """Return a planar mechanism as free bodies and the pins between them, at q [rad or m].

    ``frames`` are the top frames; moving frames turn about y, or slide along the world's x. ``coincident`` are pairs of
    names of frames whose origins coincide. Bodies without an inertia about y get ``point_inertia`` [kg m²].
    """
    nodes = tree_of(frames)
    places: list[Floats] = []
    owner: list[int] = []
    moving: list[int] = []
    for k, (frame, parent) in enumerate(nodes):
        value = None if frame.coordinate is None else q.get(frame.coordinate, 0.0)
        places.append((places[parent] if parent >= 0 else np.eye(4)) @ frame.matrix(value))
        owner.append(owner[parent] if parent >= 0 else GROUND)
        if frame.coordinate is not None:
            _check_planar(frame, owner[k])
            owner[k] = len(moving)
            moving.append(k)
    bodies = []
    for number, k in enumerate(moving):
        loads = [
            (node.frame.mass, place[:3, 3])
            for node, place, of in zip(nodes, places, owner, strict=True)
            if of == number and node.frame.mass is not None
        ]
        bodies.append(_body(nodes[k].frame, places[k], loads, point_inertia))
    pins = []
    for number, k in enumerate(moving):
        if not bodies[number].slides:
            parent = nodes[k].parent
            pins.append(Pin(number, owner[parent] if parent >= 0 else GROUND, places[k][:3, 3], np.zeros(3)))
    index = {node.frame.name: k for k, node in enumerate(nodes) if node.frame.name}
    for pair in coincident:
        for name in pair:
            if name not in index:
                raise InputError(f"unknown frame {name!r}; frames are {', '.join(map(repr, index))}")
        first, second = (index[name] for name in pair)
        gap = places[second][:3, 3] - places[first][:3, 3]
        pins.append(Pin(owner[first], owner[second], places[first][:3, 3], gap))
    return bodies, pins


def _check_planar(frame: Frame, below: int) -> None:
    if frame.transform != "ry" and not (frame.transform == "tx" and below == GROUND):
        raise InputError(
            f"frame {frame.label} moves by {frame.transform}; in a planar linkage, moving frames must turn about y "
            "(ry) or, on a frame at rest, slide along x (tx)"
        )


def _body(frame: Frame, place: Floats, loads: list[tuple[Any, Floats]], point_inertia: float) -> Body:
    name, mass = str(frame.coordinate), sum(load[0] for load, _ in loads)
    if mass <= 0.0:
        raise InputError(f"the body that {name!r} moves has no mass: add a mass to one of its frames")
    centre = np.asarray(sum(load[0] * at for load, at in loads) / mass)
    inertia = sum(load[2] + load[0] * float((at - centre) @ (at - centre)) for load, at in loads)
    angle = math.atan2(place[0, 2], place[0, 0])
    return Body(name, mass, inertia or point_inertia, centre, angle, frame.transform == "tx")


class Linkage:
    """A planar mechanism in PyBullet, started from rest, in its own client; see ``bodies_and_pins``."""

    def __init__(
        self,
        frames: Sequence[Frame],
        q: Mapping[str, float],
        coincident: Sequence[tuple[str, str]] = (),
        *,
        step: float,
        gravity: float = 9.81,
        settings: LinkageSettings | None = None,
    ) -> None:
        need("pybullet")
        settings = settings or LinkageSettings()
        self.gravity, self.step = gravity, step
        self.bodies, self.pins = bodies_and_pins(frames, q, coincident, settings.point_inertia)
        self.client = Client()
        self.client.setGravity(0.0, 0.0, -gravity)
        self.client.setPhysicsEngineParameter(
            fixedTimeStep=step, numSubSteps=0, numSolverIterations=settings.iterations,
            solverResidualThreshold=settings.residual,
        )  # fmt: skip
        if settings.direct:
            with silenced(1):  # PyBullet prints a message
                solver = self.client.CONSTRAINT_SOLVER_LCP_DANTZIG
                self.client.setPhysicsEngineParameter(constraintSolverType=solver, minimumSolverIslandSize=1)
        self._seen: dict[int, tuple[Floats, Floats, Floats, Floats]] = {}  # motions of bodies since the last step
        self.links = [self._add(body) for body in self.bodies]
        for pin in self.pins:
            self._join(pin)

    def _add(self, body: Body) -> tuple[int, int]:
        """Add a body; return PyBullet's numbers of body and link; its axes are the world's at the start."""
        client, shape = self.client, -1
        place, turn = body.centre.tolist(), (0.0, 0.0, 0.0, 1.0)
        if body.slides:
            number = client.createMultiBody(
                0.0, shape, shape, place, turn, linkMasses=[body.mass], linkCollisionShapeIndices=[shape],
                linkVisualShapeIndices=[shape], linkPositions=[(0.0, 0.0, 0.0)], linkOrientations=[turn],
                linkInertialFramePositions=[(0.0, 0.0, 0.0)], linkInertialFrameOrientations=[turn],
                linkParentIndices=[0], linkJointTypes=[client.JOINT_PRISMATIC], linkJointAxis=[(1.0, 0.0, 0.0)],
            )  # fmt: skip
            client.setJointMotorControl2(number, 0, client.VELOCITY_CONTROL, force=0.0)
        else:
            number = client.createMultiBody(body.mass, shape, shape, place, turn)
        link = 0 if body.slides else -1
        let_move(client, number, link, 0.0, localInertiaDiagonal=[body.inertia] * 3, jointDamping=0.0)
        return number, link

    def _join(self, pin: Pin) -> None:
        ground = pin.second == GROUND
        second, link = (-1, -1) if ground else self.links[pin.second]
        other = pin.place + pin.gap
        arms = pin.place - self.bodies[pin.first].centre, other if ground else other - self.bodies[pin.second].centre
        kind, axis = self.client.JOINT_POINT2POINT, (0.0, 0.0, 0.0)
        self.client.createConstraint(*self.links[pin.first], second, link, kind, axis, *(arm.tolist() for arm in arms))

    def advance(self, steps: int) -> None:
        """Take a number of steps."""
        for _ in range(steps):
            self.client.stepSimulation()
        self._seen.clear()

    def _motion(self, number: int) -> tuple[Floats, Floats, Floats, Floats]:
        """Return centre of mass (3,) [m], rotation (3, 3), velocity (3,) [m/s] and angular velocity (3,) [rad/s]."""
        if number not in self._seen:
            self._seen[number] = self._read(number)
        return self._seen[number]

    def _read(self, number: int) -> tuple[Floats, Floats, Floats, Floats]:
        client, (body, link) = self.client, self.links[number]
        if link >= 0:
            state = client.getLinkState(body, link, 1, 1)
            place, turn, velocity, spin = state[0], state[1], state[6], state[7]
        else:
            place, turn = client.getBasePositionAndOrientation(body)
            velocity, spin = client.getBaseVelocity(body)
        R = np.reshape(client.getMatrixFromQuaternion(turn), (3, 3))
        return np.array(place), R, np.array(velocity), np.array(spin)

    def energy(self) -> float:
        """Return the energy [J] of all bodies; the potential is zero at z = 0."""
        total = 0.0
        for number, body in enumerate(self.bodies):
            place, _, velocity, spin = self._motion(number)
            total += 0.5 * body.mass * float(velocity @ velocity) + body.mass * self.gravity * float(place[2])
            total += 0.5 * body.inertia * float(spin @ spin)
        return total

    def angle(self, name: str) -> float:
        """Return the angle [rad] about y, in (−π, π] in the world, of the frame that a configuration variable turns."""
        names = [body.name for body in self.bodies]
        if name not in names:
            raise InputError(f"unknown configuration variable {name!r}; variables are {', '.join(map(repr, names))}")
        number = names.index(name)
        R = self._motion(number)[1]
        return math.remainder(self.bodies[number].angle + math.atan2(R[0, 2], R[0, 0]), math.tau)

    def defect(self) -> float:
        """Return the greatest distance [m] between two points that a pin connects."""
        return max(float(np.linalg.norm(self._point(pin, False) - self._point(pin, True))) for pin in self.pins)

    def _point(self, pin: Pin, of_second: bool) -> Floats:
        number, place = (pin.second, pin.place + pin.gap) if of_second else (pin.first, pin.place)
        if number == GROUND:
            return place
        centre, R, _, _ = self._motion(number)
        return centre + R @ (place - self.bodies[number].centre)
