"""Conversion of MuJoCo's ``<actuator>`` section: actuators, limits of the joints' efforts, and notes on the rest."""

import math
from typing import Any

import numpy as np

from biped.model.actuator import Actuator, Range
from biped.model.geometry import vector3
from biped.model.mjcf.left_out import MOST
from biped.model.mjcf.tree import HINGE, SLIDE, Tree, is_disabled
from contact.errors import listed


def actuators_of(compiled: Any, tree: Tree) -> tuple[tuple[Actuator, ...], list[str]]:
    """Return the actuators of joints with one degree of freedom, and notes about what is not read.

    The efforts, armature and damping of the joints in ``tree`` are set from the actuators.
    """
    read: list[Actuator] = []
    unread, driven, skipped = [], set[int](), set[int]()
    count = len(compiled.actuator_trntype)
    for k in range(count):
        name, why, joint = compiled.actuator(k).name or f"actuator_{k}", _why_not(compiled, k), _joint(compiled, k)
        if why:
            unread.append(f"{name} ({why})")
        else:
            read.append(_actuator(compiled, tree, k, name))
        if joint is not None:
            driven.add(joint)
            skipped |= {joint} if why else set()
            for field in ("armature", "damping"):  # missing in earlier versions of MuJoCo
                value = getattr(compiled, f"actuator_{field}", np.zeros(count))[k]
                getattr(tree.model, field)[_dof(tree, joint)] += compiled.actuator_gear[k, 0] ** 2 * value
    movable = np.flatnonzero(np.isin(compiled.jnt_type, (HINGE, SLIDE))).tolist()
    notes = {
        "not read: <actuator>": unread,
        "joints without an <actuator>, which a controller may nevertheless drive": [
            tree.joints[j] for j in movable if count and j not in driven
        ],
        "forces whose bounds differ by direction: the greater bound is used for both": [
            tree.joints[j] for j in movable if _is_lopsided_when_set(compiled, tree, j, [] if j in skipped else read)
        ],
    }
    return tuple(read), [f"{what}: {listed(names, MOST)}" for what, names in notes.items() if names]


def _joint(compiled: Any, k: int) -> int | None:
    """Return the joint of an actuator if it has one degree of freedom, else None."""
    import mujoco

    kind, joint = mujoco.mjtTrn(int(compiled.actuator_trntype[k])), int(compiled.actuator_trnid[k, 0])
    on_joint = kind in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
    return joint if on_joint and compiled.jnt_type[joint] in (HINGE, SLIDE) else None


def _why_not(compiled: Any, k: int) -> str:
    """Return the reason why a model cannot have an actuator; empty if it can."""
    import mujoco

    group = int(compiled.actuator_group[k])
    if is_disabled(compiled, "ACTUATION") or (0 <= group <= 30 and compiled.opt.disableactuator >> group & 1):
        return "disabled by <option>"
    if _joint(compiled, k) is None:
        kind = mujoco.mjtTrn(int(compiled.actuator_trntype[k])).name.removeprefix("mjTRN_").lower()
        return f"acts on a {'free or ball joint' if kind.startswith('joint') else kind}"
    known = {"dyntype": "NONE", "gaintype": "FIXED", "biastype": "NONE AFFINE"}
    kinds = {"dyntype": mujoco.mjtDyn, "gaintype": mujoco.mjtGain, "biastype": mujoco.mjtBias}
    for field, words in known.items():
        name = kinds[field](int(getattr(compiled, f"actuator_{field}")[k])).name.partition("_")[2]
        if name not in words.split():
            return f"{field} {name.lower()}"
    return "delay" if np.any(getattr(compiled, "actuator_delay", np.zeros(k + 1))[k]) else ""


def _actuator(compiled: Any, tree: Tree, k: int, name: str) -> Actuator:
    """Return an actuator in the coordinates of the model's joint, which is at zero at ``qpos0``."""
    joint, gear = int(compiled.actuator_trnid[k, 0]), float(compiled.actuator_gear[k, 0])
    gain, bias = float(compiled.actuator_gainprm[k, 0]), np.array(compiled.actuator_biasprm[k, :3])
    bias *= bool(compiled.actuator_biastype[k])
    length = gear * float(compiled.qpos0[compiled.jnt_qposadr[joint]])
    controls, forces = _range(compiled, k, "ctrl"), _range(compiled, k, "force")
    if bias[1] != -gain:
        bias[0] += bias[1] * length
    elif controls is not None:
        controls = controls[0] - length, controls[1] - length
    return Actuator(name, tree.joints[joint], gain, vector3(bias, name), gear, controls, forces)


def _range(compiled: Any, k: int, what: str) -> Range | None:
    limited = getattr(compiled, f"actuator_{what}limited")[k]
    if not limited or (what == "ctrl" and is_disabled(compiled, "CLAMPCTRL")):
        return None
    low, high = getattr(compiled, f"actuator_{what}range")[k].tolist()
    return low, high


def _dof(tree: Tree, joint: int) -> int:
    return int(tree.model.joints[tree.model.getJointId(tree.joints[joint])].idx_v)


def _is_lopsided_when_set(compiled: Any, tree: Tree, j: int, actuators: list[Actuator]) -> bool:
    """Bound the effort of a joint by ``actuatorfrcrange`` and by its actuators, if all are known.

    Returns:
        True if a bound differs by direction.
    """
    on_joint = [a for a in actuators if a.joint == tree.joints[j]]
    bounds = [a.force_range for a in on_joint if a.force_range is not None]
    bounds += [a.ctrl_range for a in on_joint if a.ctrl_range is not None and not any(a.bias)]
    effort = sum(a.max_effort for a in on_joint) if on_joint else math.inf
    if compiled.jnt_actfrclimited[j]:
        low, high = compiled.jnt_actfrcrange[j].tolist()
        bounds.append((low, high))
        effort = min(effort, max(abs(low), abs(high)))
    tree.model.effortLimit[_dof(tree, j)] = effort
    return any(-low != high for low, high in bounds)
