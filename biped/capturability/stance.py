"""Standing models as inverted pendulums: mass and height, support, and the trunk as a flywheel."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from biped.capturability.flywheel import Flywheel, widened
from biped.capturability.friction import Case, largest_impulse
from biped.capturability.pendulum import NoLimitError, Pendulum, edge
from biped.capturability.steps import IN_PLACE, Footholds, Steps
from biped.dynamics.whole_body import WholeBody
from biped.errors import InputError
from biped.model import Model
from biped.model.joint import Joint
from biped.model.legs import Leg, legs_of
from biped.signals import Signal
from contact.arrays import Floats

#: Torque limits [N·m] in the positive and the negative direction, by joint.
Torques = Mapping[str, tuple[float, float]]
#: [m] Height above the lowest contact point up to which a contact point counts as standing on the floor.
STANDS = 0.02


@dataclass(frozen=True)
class Stance:
    """A standing model as a pendulum; positions are (forward, left) [m] from its centre of mass, seen from above.

    Attributes:
        pendulum: pendulum with the model's mass and height of the centre of mass.
        corners: (k, 2) [m] positions of the contact points on the floor.
        flywheels: the upper body as two flywheels, one turning forward, one left; empty if hip limits are unknown.
    """

    pendulum: Pendulum
    corners: Floats
    flywheels: tuple[Flywheel, ...] = ()

    def distance(self, azimuth: float) -> float:
        """Return the distance [m] to the edge of the support at an azimuth [rad]: 0 is forward, π/2 left."""
        return edge(self.corners, heading(azimuth))

    def impulse(
        self, azimuth: float, shape: Signal, *, delay: float = 0.0, friction: float = math.inf, hips: bool = False,
        steps: Steps | Footholds = IN_PLACE,
    ) -> float:  # fmt: skip
        """Return the largest push [N·s] through the centre of mass from which the pendulum recovers.

        Args:
            azimuth: [rad] direction of the push: 0 is forward, π/2 left.
            shape: share of the impulse delivered up to a time; it begins at zero and ends at one.
            delay: [s] reaction time.
            friction: coefficient of friction of the floor.
            hips: True if the trunk turns as a flywheel.
            steps: steps that the body may take; default: no step.

        Raises:
            NoLimitError: the extrapolated centre of mass is not above the support.
            InputError: with ``hips``, limits of the hips are unknown or ``steps`` are footholds; or a value is invalid.
        """
        if not (delay >= 0.0 and friction > 0.0):
            raise InputError(
                f"delay = {delay:g} s, friction = {friction:g}: the delay must be zero or above, friction above zero"
            )
        if hips and not self.flywheels:
            raise InputError("hips = True: set torque limits and angle limits of the hip joints, which are unknown")
        if hips and isinstance(steps, Footholds):
            raise InputError("hips = True: the hip strategy is not supported with given footholds; set hips = False")
        direction = heading(azimuth)
        stays = not (hips or steps.count) and self.distance(azimuth) <= friction * self.pendulum.height
        if math.isinf(friction) or stays:
            corners = widened(self.corners, self.flywheels, self.pendulum) if hips else self.corners
            return self.pendulum.impulse(steps.edge(corners, direction, self.pendulum), shape, delay)
        wheels = self.flywheels if hips else ()
        return largest_impulse(Case(self.pendulum, self.corners, wheels, friction, direction, shape, delay, steps))


def heading(azimuth: float) -> Floats:
    """Return the horizontal unit vector (forward, left), (2,), of an azimuth [rad]: 0 is forward, π/2 left."""
    return np.array([math.cos(azimuth), math.sin(azimuth)])


def stance_of(model: Model, q: ArrayLike, torques: Torques | None = None) -> Stance:
    """Return the stance of a model at rest: its pendulum, contact points and, for known hip limits, flywheels.

    Args:
        model: model whose lowest contact points are at height zero in ``q``.
        q: (nq,) configuration of the model.
        torques: [N·m] torque limits (positive, negative direction) by joint name; the model's limits hold if lower.

    Raises:
        NoLimitError: the model has no contact points.
    """
    body = WholeBody(model, q)
    points = np.array([body.contact_position(name) for name in model.contact_names]).reshape(-1, 3)
    if not len(points):
        raise NoLimitError(f"model {model.name!r} has no contact points to stand on")
    axes = np.array([model.facing, model.left])
    down = points[points[:, 2] < points[:, 2].min() + STANDS]
    gravity = float(np.linalg.norm(np.asarray(model.gravity)))
    pendulum = Pendulum(model.total_mass, float(body.com[2]), gravity)
    return Stance(pendulum, (down - body.com) @ axes.T, _flywheels(body, torques or {}))


def _flywheels(body: WholeBody, torques: Torques) -> tuple[Flywheel, ...]:
    """Return the upper body as flywheels, forward and to the left; () if torques or ranges of the hips are unknown."""
    model, legs = body.model, legs_of(body.model)
    hips = [[part[0] for part in (leg.sagittal, leg.frontal) if part] for leg in legs]
    if not legs or min(map(len, hips)) < 2:
        return ()
    forward, left = np.asarray(model.facing), np.asarray(model.left)
    flywheels = []
    for joints, axis in zip(zip(*hips, strict=True), (left, -forward), strict=True):
        positive, negative = (
            (sum(torque for torque, _ in hips), min(angle for _, angle in hips))
            for hips in zip(*(_turning(body, name, axis, torques) for name in joints), strict=True)
        )
        if not math.isfinite(sum(positive) + sum(negative)):
            return ()
        inertia = _inertia_above(body, legs, joints, axis)
        flywheels.append(Flywheel(inertia, (positive[0], negative[0]), (positive[1], negative[1])))
    return tuple(flywheels)


def _joint(model: Model, name: str) -> Joint:
    return model.bodies[model.joint_index(name)].joint


def _turning(body: WholeBody, name: str, axis: Floats, torques: Torques) -> tuple[tuple[float, float], ...]:
    """Return torque [N·m] and range [rad] with which a hip turns the trunk about an axis, for both directions."""
    model, joint = body.model, _joint(body.model, name)
    ranges = {dof_name: (lower, upper) for dof_name, lower, upper in model.ranges}
    lower, upper = ranges.get(name, (-math.inf, math.inf))
    at = float(body.q[model.coordinate(name)])
    forth, back = (min(joint.max_effort, torque) for torque in torques.get(name, (math.inf, math.inf)))
    onwards = forth, max(0.0, min(upper, joint.upper) - at)
    backwards = back, max(0.0, at - max(lower, joint.lower))
    return (backwards, onwards) if float(np.dot(joint.axis, axis)) > 0.0 else (onwards, backwards)


def _inertia_above(body: WholeBody, legs: tuple[Leg, ...], hips: tuple[str, ...], axis: Floats) -> float:
    """Return the inertia [kg·m²] of all bodies except the legs about an axis through the midpoint of the hips."""
    model = body.model
    in_legs = {model.joint_index(leg.joints[0]) for leg in legs}
    for i, part in enumerate(model.bodies):
        if part.parent is not None and model.body_index(part.parent) in in_legs:
            in_legs.add(i)
    middle = np.mean([_place(body, model.joint_index(name)) for name in hips], axis=0)
    total = 0.0
    for part in (part for i, part in enumerate(model.bodies) if i not in in_legs):
        local_axis = body.orientation(part.name).T @ axis
        lever = np.cross(axis, body.position(part.name) - middle)
        total += float(local_axis @ np.asarray(part.inertia) @ local_axis + part.mass * lever @ lever)
    return total


def _place(body: WholeBody, i: int) -> Floats:
    """Return the position (3,) [m] of the inboard joint of body i."""
    part = body.model.bodies[i]
    return body.position(part.name, -np.asarray(part.com))
