"""Ragdolls: limp models after a fall, with contact points on all bodies."""

import math
from dataclasses import replace
from itertools import product

import numpy as np

from biped.model.body import Body
from biped.model.compilation import WEIGHT_LEVER
from biped.model.contact_point import ContactPoint
from biped.model.geometry import STANDARD_GRAVITY, vector3
from biped.model.model import Model
from biped.model.shape import Box
from contact.arrays import Floats

#: [rad/s or m/s] Rate of a limp joint under the model's weight (hinges: at ``WEIGHT_LEVER``): loose, but no
#: free swing. The human's joints have 7.3 N·m·s/rad.
LIMP_RATE = 10.0


def ragdoll(model: Model, q: Floats | None = None) -> Model:
    """Return the limp model that continues a fall from configuration ``q`` (nq,), by default the home configuration.

    The contact points of ``model`` are followed by its ``body_points`` or, if it has none, by the corners of the boxes
    on bodies without contact points. Joints are damped, and limited to their ranges of motion in ``ranges`` or, without
    such a range, to their own limits. A joint that is outside its range at ``q`` cannot move farther out.
    """
    q = model.neutral() if q is None else q
    weight = -model.total_mass * STANDARD_GRAVITY[2]
    bodies = tuple(_limp(body, model, q, weight) if body.joint.has_axis else body for body in model.bodies)
    return replace(touching_all_over(model), bodies=bodies)


def touching_all_over(model: Model) -> Model:
    """Return the model with its ``body_points`` added to its contact points."""
    more = body_points(model)
    return replace(model, contact_points=(*model.contact_points, *more), body_points=()) if more else model


def body_points(model: Model) -> tuple[ContactPoint, ...]:
    """Return the contact points that are added to those of ``model`` after a fall."""
    touching = {point.body for point in model.contact_points}
    boxes = [box for box in model.shapes if box.body not in touching]
    return model.body_points or tuple(
        point for number, box in enumerate(boxes) for point in _corners(f"{box.body}_{number}", box)
    )


def _corners(name: str, box: Box) -> list[ContactPoint]:
    points = []
    for number, signs in enumerate(product((-0.5, 0.5), repeat=3)):
        corner = np.add(box.center, np.asarray(box.rotation) @ np.multiply(signs, box.size))
        points.append(ContactPoint(f"{name}_corner_{number}", box.body, vector3(corner, "corner")))
    return points


def _limp(body: Body, model: Model, q: Floats, weight: float) -> Body:
    joint, at = body.joint, float(q[model.coordinate(body.joint.name)])
    ranges = {name: (lower, upper) for name, lower, upper in model.ranges}
    lower, upper = ranges.get(joint.name, (joint.lower, joint.upper))
    lever = WEIGHT_LEVER if joint.turns else 1.0
    damping = max(joint.damping, weight * lever / LIMP_RATE)
    limp = replace(joint, lower=min(lower, at), upper=max(upper, at), max_velocity=math.inf, damping=damping)
    return replace(body, joint=limp)
