"""Common parts of controllers with unilateral contact: contact points, friction, torque limits."""

import math
from dataclasses import field
from typing import Any

import numpy as np

from biped.dynamics import forward_kinematics
from biped.metrics.layout import standing_height
from biped.model import Model
from biped.model.compilation import LIMP
from biped.model.geometry import STANDARD_GRAVITY, Vector3
from biped.model.legs import foot_under
from contact.arrays import Floats, Integers
from controllers.joint_values import JointValues, by_joint
from controllers.kernels.feet_frame import Frame
from controllers.parameter import parameter

#: Metadata of the field ``torque_limit``, which is infinite if not given.
TORQUE_LIMIT = {"unit": "N·m", "title": "Torque limit of each joint, in addition to the model's effort limits"}


def a_friction() -> Any:
    """Return the controller field ``friction``."""
    return parameter(0.27, "", "Coefficient of friction assumed by the controller")


def a_lift(default: float) -> Any:
    """Return the controller field ``lift`` [m]."""
    return parameter(default, "m", "Points up to this height above the foot's lowest touching one count as loaded")


def a_foot_stiffness(default: float) -> Any:
    """Return the controller field ``kp_feet`` [1/s²]."""
    return parameter(default, "1/s²", "Proportional gain of the foot task (return to reference pose)", 0.0, 1000.0)


def a_foot_damping(default: float) -> Any:
    """Return the controller field ``kd_feet`` [1/s]."""
    return parameter(default, "1/s", "Damping gain of the foot task (return to reference pose)", 0.0, 100.0)


def a_task_weight(default: float, task: str, *between: float) -> Any:
    """Return a controller field for the weight of ``task`` in the cost of a quadratic program."""
    return parameter(default, "", f"Weight of {task} relative to the horizontal CoM task, whose weight is 1", *between)


def a_posture() -> Any:
    """Return the controller field ``posture`` (nq,): set by ``Controller.holding``, not a parameter."""
    return field(default=None, repr=False)


def place_of(q: Floats) -> Vector3:
    """Return the position [m] of a floating root's centre of mass."""
    return float(q[0]), float(q[1]), float(q[2])


def torque_limits(limit: JointValues, model: Model) -> dict[str, float]:
    """Return the torque limit [N·m] by joint: the smaller of ``limit`` and the joint's effort limit.

    Raises:
        ModelError: ``limit`` names a joint that the model does not have.
    """
    limits = by_joint(limit, model, default=math.inf)
    efforts = {body.joint.name: body.joint.max_effort for body in model.bodies if body.joint.has_axis}
    return {joint: min(most, efforts[joint]) for joint, most in limits.items()}


def limp(limits: dict[str, float], model: Model) -> list[str]:
    """Return the joints whose torque limit is almost zero."""
    most = within_reason(dict.fromkeys(limits, math.inf), model)
    return [joint for joint, limit in limits.items() if limit <= LIMP * most[joint]]


def within_reason(limits: dict[str, float], model: Model) -> dict[str, float]:
    """Return torque limits [N·m] that are all finite: an infinite limit is replaced by one that no posture needs.

    It is the weight times the height of the centre of mass, m g z: 691 N·m for the human; for a sliding joint, the
    weight [N].
    """
    weight = -model.total_mass * float(STANDARD_GRAVITY[2])
    most = {"prismatic": weight}
    kinds = {body.joint.name: body.joint.kind for body in model.bodies}
    return {
        joint: most.get(kinds[joint], weight * standing_height(model)) if math.isinf(limit) else limit
        for joint, limit in limits.items()
    }


def points_of_feet(model: Model) -> tuple[Integers, Integers]:
    """Return indices (m,) of the contact points on feet and toes, and the index (m,) of each point's foot."""
    on = [foot_under(model, point.body) for point in model.contact_points]
    pairs = [(point, model.feet.index(foot)) for point, foot in enumerate(on) if foot is not None]
    points, owners = np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()
    return points, owners


def frame_of(model: Model, q: Floats, reference: str) -> Frame:
    """Return the reference frame of posture ``q`` (nq,): ``reference`` is ``feet`` or ``world``."""
    placed = forward_kinematics(model, q)
    feet = np.array([model.body_index(foot) for foot in model.feet], dtype=np.int64)
    x, y, _ = placed.position[feet].mean(axis=0)
    return Frame(float(reference == "feet"), feet, (float(x), float(y), 0.0), placed.orientation[feet])
