"""MuJoCo's ``<actuator>`` section: what a model has of it, what bounds its joints' efforts, and what is not read."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from biped.model.actuator import Actuator, Range
from biped.model.geometry import vector3
from biped.model.importing.locking import listed
from biped.model.mjcf.tree import HINGE, SLIDE, Tree, is_disabled


def actuators_of(compiled: Any, tree: Tree) -> tuple[tuple[Actuator, ...], list[str]]:
    """Return the actuators of joints of one degree of freedom, and a sentence for each kind of what is not read.

    The efforts, armature and damping of the joints in ``tree`` become those that the actuators give them.
    """
    found: list[Actuator] = []
    unread, on = [], set[int]()
    for k in range(len(compiled.actuator_trntype)):
        name, why = compiled.actuator(k).name or f"actuator_{k}", _why_not(compiled, k)
        if why:
            unread.append(f"{name} ({why})")
        else:
            found.append(_actuator(compiled, tree, k, name))
        if _is_on_joint(compiled, k):
            on.add(int(compiled.actuator_trnid[k, 0]))
            _add_bearings(compiled, tree, k)
    lopsided = _set_efforts(compiled, tree, found, on)
    movable = np.flatnonzero(np.isin(compiled.jnt_type, (HINGE, SLIDE))) if len(compiled.actuator_trntype) else ()
    told: Mapping[str, Sequence[str]] = {
        "not read: <actuator>": unread,
        "joints without an <actuator>, which a controller here may drive all the same": [
            tree.joints[j] for j in movable if j not in on
        ],
        "of forces whose bounds differ by direction the greater bounds both": lopsided,
    }
    return tuple(found), [f"{what}: {listed(names, most=40)}" for what, names in told.items() if names]


def _is_on_joint(compiled: Any, k: int) -> bool:
    """Whether an actuator acts on a joint of one degree of freedom."""
    import mujoco

    kind, joint = mujoco.mjtTrn(int(compiled.actuator_trntype[k])), compiled.actuator_trnid[k, 0]
    on_joint = kind in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
    return on_joint and bool(compiled.jnt_type[joint] in (HINGE, SLIDE))


def _why_not(compiled: Any, k: int) -> str:
    """Why an actuator is not one that a model has; empty if it is."""
    import mujoco

    if not _is_on_joint(compiled, k):
        kind = mujoco.mjtTrn(int(compiled.actuator_trntype[k])).name.removeprefix("mjTRN_").lower()
        return f"acts on a {'free or ball joint' if kind.startswith('joint') else kind}"
    words = {
        "dyntype": (mujoco.mjtDyn, ("mjDYN_NONE",)), "gaintype": (mujoco.mjtGain, ("mjGAIN_FIXED",)),
        "biastype": (mujoco.mjtBias, ("mjBIAS_NONE", "mjBIAS_AFFINE")),
    }  # fmt: skip
    for field, (kinds, known) in words.items():
        name = kinds(int(getattr(compiled, f"actuator_{field}")[k])).name
        if name not in known:
            return f"{field} {name.partition('_')[2].lower()}"
    delayed = getattr(compiled, "actuator_delay", None)
    return "delayed" if delayed is not None and delayed[k] else ""


def _actuator(compiled: Any, tree: Tree, k: int, name: str) -> Actuator:
    """Return it in the coordinates of the model's joint, which is at zero at ``qpos0``."""
    joint, gear = int(compiled.actuator_trnid[k, 0]), float(compiled.actuator_gear[k, 0])
    gain, bias = float(compiled.actuator_gainprm[k, 0]), np.array(compiled.actuator_biasprm[k, :3])
    if not compiled.actuator_biastype[k]:
        bias[:] = 0.0
    length = gear * float(compiled.qpos0[compiled.jnt_qposadr[joint]])
    controls = _range(compiled, k, "ctrl")
    if bias[1] != -gain:
        bias[0] += bias[1] * length
    elif controls is not None:
        controls = controls[0] - length, controls[1] - length
    force = _range(compiled, k, "force")
    return Actuator(name, tree.joints[joint], gain, vector3(bias, name), gear, controls, force)


def _range(compiled: Any, k: int, what: str) -> Range | None:
    limited = getattr(compiled, f"actuator_{what}limited")[k]
    if not limited or (what == "ctrl" and is_disabled(compiled, "CLAMPCTRL")):
        return None
    low, high = getattr(compiled, f"actuator_{what}range")[k].tolist()
    return low, high


def _add_bearings(compiled: Any, tree: Tree, k: int) -> None:
    """Add the armature and damping of an actuator, which the joint feels times the gear's square."""
    v = _dof(tree, int(compiled.actuator_trnid[k, 0]))
    square = float(compiled.actuator_gear[k, 0]) ** 2
    for field in ("armature", "damping"):
        values = getattr(compiled, f"actuator_{field}", None)
        if values is not None:
            getattr(tree.model, field)[v] += square * values[k]


def _dof(tree: Tree, joint: int) -> int:
    return int(tree.model.joints[tree.model.getJointId(tree.joints[joint])].idx_v)


def _set_efforts(compiled: Any, tree: Tree, actuators: Sequence[Actuator], on: set[int]) -> list[str]:
    """Bound the efforts of joints by ``actuatorfrcrange`` and by their actuators; names of those not symmetric."""
    lopsided = []
    for j in np.flatnonzero(np.isin(compiled.jnt_type, (HINGE, SLIDE))).tolist():
        own = [one for one in actuators if one.joint == tree.joints[j]]
        bounds = [one.force_range for one in own if one.force_range is not None]
        effort = sum(one.max_effort for one in own) if own and j in on else math.inf
        if compiled.jnt_actfrclimited[j]:
            bounds.append(tuple(compiled.jnt_actfrcrange[j].tolist()))
            effort = min(effort, float(np.abs(compiled.jnt_actfrcrange[j]).max()))
        tree.model.effortLimit[_dof(tree, j)] = effort
        if any(-low != high for low, high in bounds):
            lopsided.append(tree.joints[j])
    return lopsided
