"""The plan of the other side: a human is the mirror image of itself."""

from dataclasses import replace

import numpy as np

from biped.errors import InputError
from biped.model import Model
from biped.recovery.plan import RecoveryPlan
from biped.recovery.rollout import Path
from contact.arrays import Floats

#: What left and right do to a vector in world axes: positions, and what turns.
_PLACE, _TURN = np.array([1.0, -1.0, 1.0]), np.array([-1.0, 1.0, -1.0])
_SIDES = {"left_": "right_", "right_": "left_"}


def mirrored(model: Model, plan: RecoveryPlan) -> RecoveryPlan:
    """The plan with left and right swapped.

    Raises:
        InputError: the model's joints are no pairs of a left and a right one with a floating root between them.
    """
    other, sign = _joints(model)
    root = np.concatenate([_PLACE, _TURN])
    swap = np.concatenate([np.arange(6), 6 + other])
    signs = np.concatenate([root, sign])
    q = plan.path.q.copy()
    q[:, :3] *= _PLACE
    q[:, 4:7] *= _TURN
    q[:, 7:] = plan.path.q[:, 7 + other] * sign
    p = plan.path.p[:, swap] * signs
    nv = len(signs)
    both = np.concatenate([swap, nv + swap])
    gains = plan.gains[:, other][:, :, both] * sign[None, :, None] * np.concatenate([signs, signs])
    path = Path(q, p, np.zeros_like(plan.path.anchor), plan.path.u[:, other] * sign)
    low, high = plan.low[other] * sign, plan.high[other] * sign
    facts = plan.facts | {"azimuth": -float(plan.facts["azimuth"])}
    return replace(plan, path=path, gains=gains, low=np.minimum(low, high), high=np.maximum(low, high), facts=facts)


def _joints(model: Model) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int64]], Floats]:
    """Each joint's twin on the other side, and the sign with which its angle is mirrored."""
    names = list(model.joint_names)
    other, sign = [], []
    for name in names:
        side = next((side for side in _SIDES if name.startswith(side)), None)
        twin = None if side is None else _SIDES[side] + name.removeprefix(side)
        if twin not in names:
            raise InputError(f"joint {name!r} has no twin on the other side: {model.name!r} cannot be mirrored")
        axis = np.asarray(model.bodies[model.joint_index(name)].joint.axis)
        other.append(names.index(twin))
        sign.append(float(np.dot(_TURN * axis, np.asarray(model.bodies[model.joint_index(twin)].joint.axis))))
    if not np.allclose(np.abs(sign), 1.0):
        raise InputError(f"joints of {model.name!r} are no mirror images of one another")
    return np.array(other, dtype=np.int64), np.array(sign)
