"""Values of joints: one number for all joints, or a table by joint."""

from collections.abc import Mapping

import numpy as np

from biped.errors import InputError
from biped.model import Model
from biped.model.errors import unknown
from contact.arrays import Floats

#: One number for all joints, or a table by joint; joints missing in a table get the controller's default.
JointValues = float | Mapping[str, float]


def checked(values: JointValues, what: str, *, least: float = -np.inf, infinite: bool = False) -> JointValues:
    """Return ``values`` after a check of each number; ``what`` names them in messages.

    Raises:
        InputError: a value is not a number, is below ``least``, or is infinite while ``infinite`` is False.
    """
    for place, value in _named(values, what):
        if not _is_number(value) or np.isnan(value) or value < least or (np.isinf(value) and not infinite):
            bound = "" if np.isinf(least) else f", {least:g} or above"
            raise InputError(f"{place} = {value!r}: it must be a {'' if infinite else 'finite '}number{bound}")
    return dict(values) if isinstance(values, Mapping) else float(values)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _named(values: JointValues, what: str) -> list[tuple[str, float]]:
    if isinstance(values, Mapping):
        return [(f"{what}[{joint!r}]", value) for joint, value in values.items()]
    return [(what, values)]


def by_joint(values: JointValues, model: Model, default: float = 0.0) -> dict[str, float]:
    """Return the value of each joint with one degree of freedom by name; ``default`` for joints missing in a table.

    Raises:
        ModelError: a table names a joint that the model does not have; the message lists the model's joints.
    """
    joints = model.joint_names
    if not isinstance(values, Mapping):
        return dict.fromkeys(joints, float(values))
    for joint in values:
        if joint not in joints:
            raise unknown("joint", joint, joints)
    return {joint: float(values.get(joint, default)) for joint in joints}


def angles_of(model: Model, q: Floats) -> dict[str, float]:
    """Return the joint angles [rad] of a configuration (nq,), by joint."""
    return {joint: float(q[model.coordinate(joint)]) for joint in model.joint_names}
