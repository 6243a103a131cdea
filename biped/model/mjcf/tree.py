"""Tree of a compiled MJCF: MuJoCo's bodies and joints as a Pinocchio model.

MuJoCo applies the joints of a body in order, each about its own anchor in the body's frame. Here each is a separate
joint, with links without mass between them. All joints are at zero in MuJoCo's ``qpos0``.
"""

from collections.abc import Collection
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np

from biped.model.errors import ModelError
from biped.model.geometry import Vector3, quaternion_matrix, vector3
from biped.model.importing.contacts import UNIVERSE
from contact.errors import listed

#: MuJoCo's numbers of the types of joints.
FREE, BALL, SLIDE, HINGE = range(4)


class Tree(NamedTuple):
    """Mapping from MuJoCo's bodies and joints to Pinocchio's model."""

    model: Any
    floating: str | None  # name of the floating root joint, or None
    home: Vector3  # [m] position of its body at home
    place: dict[int, tuple[int, Any]]  # by MuJoCo's body: joint and frame on it, a pinocchio.SE3
    joints: list[str]  # names by MuJoCo's joint
    bodies: list[str]  # names by MuJoCo's body

    def moves(self, body: int) -> bool:
        """Return True if a body of MuJoCo's is not part of the ground."""
        return self.place[int(body)][0] != UNIVERSE


def is_disabled(compiled: Any, flag: str) -> bool:
    """Return True if ``<option><flag>`` disables the feature with MuJoCo's name ``flag``, or all constraints."""
    import mujoco

    flags = (flag, "CONSTRAINT") if flag in ("CONTACT", "EQUALITY", "FRICTIONLOSS", "LIMIT") else (flag,)
    return any(compiled.opt.disableflags & int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}")) for name in flags)


def pose(position: Any, quaternion: Any = (1.0, 0.0, 0.0, 0.0)) -> Any:
    """Return the ``pinocchio.SE3`` of a position [m] and a unit quaternion (w, x, y, z)."""
    import pinocchio as pin

    return pin.SE3(quaternion_matrix(quaternion), np.array(position, dtype=np.float64))


def tree_of(compiled: Any, floating: bool | None = None, locked: Collection[str] = ()) -> Tree:
    """Convert the bodies and joints of a ``mujoco.MjModel`` to a Pinocchio model.

    Args:
        compiled: the ``mujoco.MjModel``.
        floating: True: bodies fixed to the world float; None: only bodies with a free joint float; False: none float.
        locked: names of joints that will be locked, or patterns with ``*``.

    Raises:
        ModelError: nothing moves, or a joint outside of a floating tree moves and is not in ``locked``.
    """
    import pinocchio as pin

    bodies = [compiled.body(b).name for b in range(compiled.nbody)]
    bodies = [name or _apart(f"body_{b}", bodies) for b, name in enumerate(bodies)]
    joints = [compiled.joint(j).name for j in range(compiled.njnt)]
    joints = [name or _apart(_unnamed(compiled, j, bodies), joints) for j, name in enumerate(joints)]
    if "universe" in joints:
        raise ModelError("joint 'universe': Pinocchio reserves this name; rename the joint")
    free = [j for j in range(compiled.njnt) if compiled.jnt_type[j] == FREE and floating is not False]
    _check_alone(compiled, free, joints, locked)
    model, root, home = pin.Model(), None, np.zeros(3)
    place: dict[int, tuple[int, Any]] = {0: (UNIVERSE, pose(home))}
    if floating and not free:
        ground = np.flatnonzero(compiled.body_weldid[1:] == 0) + 1
        root, home = _apart("floating_base", joints), compiled.body_pos[ground[0]].copy() if len(ground) else home
        place[0] = _added(model, UNIVERSE, pin.JointModelFreeFlyer(), pose((0, 0, 0)), root), pose(-home)
    floats = compiled.body_rootid[compiled.jnt_bodyid[free]]
    for b in sorted(range(1, compiled.nbody), key=lambda b: compiled.body_rootid[b] not in floats):  # floating first
        row, at = place[compiled.body_parentid[b]]
        at = at * pose(compiled.body_pos[b], compiled.body_quat[b])
        indices = range(compiled.body_jntadr[b], compiled.body_jntadr[b] + compiled.body_jntnum[b])
        for j in indices:
            if compiled.jnt_type[j] == FREE:
                if j in free:
                    root, home, turned = joints[j], at.translation, pin.SE3(at.rotation, np.zeros(3))
                    row, at = _added(model, UNIVERSE, pin.JointModelFreeFlyer(), turned, root), pose((0, 0, 0))
                continue
            anchor = np.zeros(3) if compiled.jnt_type[j] == SLIDE else compiled.jnt_pos[j]
            row, at = _added(model, row, _joint(compiled, j), at * pose(anchor), joints[j]), pose(-anchor)
            _set_passive(model, compiled, row, j)
            if j != indices[-1]:
                model.addFrame(pin.Frame(_apart(joints[j], bodies), row, pose((0, 0, 0)), pin.FrameType.BODY))
        place[b] = row, at
        if row != UNIVERSE and compiled.body_mass[b]:
            R = quaternion_matrix(compiled.body_iquat[b])
            tensor = R @ np.diag(compiled.body_inertia[b]) @ R.T
            model.appendBodyToJoint(row, pin.Inertia(compiled.body_mass[b], compiled.body_ipos[b], tensor), at)
        model.addFrame(pin.Frame(bodies[b], row, at, pin.FrameType.BODY))
    if model.njoints == 1:
        raise ModelError("nothing in the MJCF moves: no body has a joint; load with floating=True to let it float")
    return Tree(model, root, vector3(home, "home"), place, joints, bodies)


def _check_alone(compiled: Any, free: list[int], joints: list[str], locked: Collection[str]) -> None:
    roots = compiled.body_rootid[compiled.jnt_bodyid]
    separate = [joints[j] for j in range(compiled.njnt) if free and roots[j] != roots[free[0]]]
    loose = [name for name in separate if not any(fnmatchcase(name, pattern) for pattern in locked)]
    if loose:
        lock = f"lock them: locked={{{loose[0]!r}: 0.0}}"
        raise ModelError(
            "a model with a floating root must be one tree, but these moving joints of the MJCF are not in the tree of "
            f"the free joint {joints[free[0]]!r}: {listed(loose, most=40)}; "
            f"{lock if len(free) == 1 else 'remove their bodies from a copy of the file'}"
        )


def _apart(name: str, taken: Collection[str]) -> str:
    return _apart(f"{name}_", taken) if name in taken else name


def _unnamed(compiled: Any, j: int, bodies: list[str]) -> str:
    """Return a name for an unnamed joint: its body's, with a number if the body has several joints."""
    b = int(compiled.jnt_bodyid[j])
    number = f"_{j - compiled.body_jntadr[b] + 1}" if compiled.body_jntnum[b] > 1 else ""
    return f"{bodies[b]}_joint{number}"


def _added(model: Any, parent: int, joint: Any, at: Any, name: str) -> int:
    row = int(model.addJoint(parent, joint, at, name))
    model.addJointFrame(row)
    return row


def _joint(compiled: Any, j: int) -> Any:
    import pinocchio as pin

    if compiled.jnt_type[j] == BALL:
        return pin.JointModelSpherical()
    kind = pin.JointModelPrismaticUnaligned if compiled.jnt_type[j] == SLIDE else pin.JointModelRevoluteUnaligned
    return kind(compiled.jnt_axis[j])


def _set_passive(model: Any, compiled: Any, row: int, j: int) -> None:
    """Set bearings and range, relative to ``qpos0``, of Pinocchio's joint from MuJoCo's."""
    if compiled.jnt_type[j] == BALL:
        return
    q, v, dof = model.joints[row].idx_q, model.joints[row].idx_v, int(compiled.jnt_dofadr[j])
    limited = compiled.jnt_limited[j] and not is_disabled(compiled, "LIMIT")
    low, high = compiled.jnt_range[j] - compiled.qpos0[compiled.jnt_qposadr[j]] if limited else (-np.inf, np.inf)
    model.lowerPositionLimit[q], model.upperPositionLimit[q] = low, high
    model.velocityLimit[v] = model.effortLimit[v] = np.inf
    model.armature[v] = compiled.dof_armature[dof]
    model.damping[v] = 0.0 if is_disabled(compiled, "DAMPER") else compiled.dof_damping[dof]
    model.friction[v] = 0.0 if is_disabled(compiled, "FRICTIONLOSS") else compiled.dof_frictionloss[dof]
