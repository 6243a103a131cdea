"""The tree of a compiled MJCF: MuJoCo's bodies and joints as a Pinocchio model, which the options of importing take.

MuJoCo applies the joints of a body in their order, each about its own anchor in the body's frame. Here each is a joint
of its own, and links without mass stand between them. MuJoCo's ``qpos0`` is where all joints are at zero.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any

import numpy as np

from biped.model.errors import ModelError
from biped.model.geometry import Vector3, quaternion_matrix, vector3
from biped.model.importing.contacts import UNIVERSE
from biped.model.importing.locking import listed

#: MuJoCo's numbers of the types of joints.
FREE, BALL, SLIDE, HINGE = range(4)
_WORLD = 0


@dataclass(frozen=True)
class Tree:
    """Where MuJoCo's bodies and joints are in Pinocchio's model.

    Attributes:
        model: Pinocchio's.
        floating: the name of the floating root joint, or None.
        home: [m] where its body is at home.
        place: by MuJoCo's body: the joint that it is on and its frame there, a ``pinocchio.SE3``.
        joints: names by MuJoCo's joint.
        bodies: names by MuJoCo's body.
    """

    model: Any
    floating: str | None
    home: Vector3
    place: dict[int, tuple[int, Any]]
    joints: list[str]
    bodies: list[str]

    def moves(self, body: int) -> bool:
        """Whether a body of MuJoCo's is not part of the ground."""
        return self.place[body][0] != UNIVERSE


def is_disabled(compiled: Any, flag: str) -> bool:
    """Whether ``<option><flag>`` turns this off, by MuJoCo's name of the bit; one that MuJoCo lacks is on."""
    import mujoco

    bit = getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}", None) or getattr(mujoco.mjtDisableBit, "mjDSBL_PASSIVE", 0)
    return bool(compiled.opt.disableflags & int(bit))


def pose(position: Any, quaternion: Any) -> Any:
    """A ``pinocchio.SE3`` of a place [m] and a unit quaternion (w, x, y, z)."""
    import pinocchio as pin

    return pin.SE3(quaternion_matrix(quaternion), np.array(position))


def tree_of(compiled: Any, floating: bool | None = None, locked: Mapping[str, float] = MappingProxyType({})) -> Tree:
    """Convert a compiled model.

    Args:
        compiled: a ``mujoco.MjModel``.
        floating: whether what is fixed to the world floats; None: what has a free joint does.
        locked: the option: joints that are not to move.

    Raises:
        ModelError: it has several free bodies, or nothing that moves, or bodies on the ground beside a free one.
    """
    import pinocchio as pin

    bodies = _names("body", [compiled.body(b).name for b in range(compiled.nbody)])
    joints = _names("joint", [compiled.joint(j).name or _unnamed(compiled, j, bodies) for j in range(compiled.njnt)])
    free = [j for j in range(compiled.njnt) if compiled.jnt_type[j] == FREE and floating is not False]
    _check_one_tree(compiled, free, joints, locked)
    model, root, home = pin.Model(), None, np.zeros(3)
    place: dict[int, tuple[int, Any]] = {_WORLD: (UNIVERSE, pin.SE3.Identity())}
    if floating and not free:
        root, home = "floating_base", _ground(compiled)
        place[_WORLD] = (int(model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), root)), _shift(-home))
        model.addJointFrame(1)
    floats = compiled.body_rootid[compiled.jnt_bodyid[free]]
    for b in sorted(range(1, compiled.nbody), key=lambda b: compiled.body_rootid[b] not in floats):  # what floats first
        row, at = place[compiled.body_parentid[b]]
        at = at * pose(compiled.body_pos[b], compiled.body_quat[b])
        own = range(compiled.body_jntadr[b], compiled.body_jntadr[b] + compiled.body_jntnum[b])
        for j in own:
            if compiled.jnt_type[j] == FREE:
                if j in free:
                    root, home = joints[j], at.translation
                    row, at = _added(model, row, pin.JointModelFreeFlyer(), pin.SE3(at.rotation, np.zeros(3)), root)
                continue
            anchor = np.zeros(3) if compiled.jnt_type[j] == SLIDE else compiled.jnt_pos[j]
            row, at = _added(model, row, _joint(compiled, j), at * _shift(anchor), joints[j], -anchor)
            _set_passive(model, compiled, row, j)
            if j != own[-1]:
                link = joints[j] if joints[j] not in bodies else f"{joints[j]}_link"
                model.addFrame(pin.Frame(link, row, pin.SE3.Identity(), pin.FrameType.BODY))
        place[b] = row, at
        if row != UNIVERSE and compiled.body_mass[b]:
            model.appendBodyToJoint(row, _inertia(compiled, b), at)
        model.addFrame(pin.Frame(bodies[b], row, at, pin.FrameType.BODY))
    if model.njoints == 1:
        raise ModelError("nothing in the MJCF moves: no body has a joint; load with floating=True to let it float")
    return Tree(model, root, vector3(home, "home"), place, joints, bodies)


def _check_one_tree(compiled: Any, free: list[int], joints: list[str], locked: Mapping[str, float]) -> None:
    """Refuse what moves beside a floating body; free bodies but one, or joints that are not locked."""
    if not free:
        return
    others = [
        j for j in range(compiled.njnt) if compiled.body_rootid[compiled.jnt_bodyid[j]] != compiled.jnt_bodyid[free[0]]
    ]
    loose = [joints[j] for j in others if not any(fnmatchcase(joints[j], pattern) for pattern in locked)]
    if loose:
        ways = (
            f"lock them: locked={{{loose[0]!r}: 0.0}}"
            if len(free) == 1
            else "take the others out of a copy of the file"
        )
        raise ModelError(
            f"a model with a floating root has one tree of bodies, and in this MJCF there move beside that of "
            f"{joints[free[0]]!r} the joints {listed(loose, most=40)}: {ways}"
        )


def _ground(compiled: Any) -> Any:
    """[m] Where the first body is that is fixed to the world; the origin if there is none."""
    fixed = [b for b in range(1, compiled.nbody) if compiled.body_weldid[b] == _WORLD]
    return compiled.body_pos[fixed[0]].copy() if fixed else np.zeros(3)


def _names(kind: str, names: Iterable[str]) -> list[str]:
    """Each name, or one by its number where it has none; MuJoCo sees to it that those given differ."""
    given = list(names)
    return [name or f"{kind}_{k}" for k, name in enumerate(given)]


def _unnamed(compiled: Any, j: int, bodies: list[str]) -> str:
    """A joint without a name is called after its body, and by its number where that has several."""
    b = int(compiled.jnt_bodyid[j])
    number = f"_{j - compiled.body_jntadr[b] + 1}" if compiled.body_jntnum[b] > 1 else ""
    return f"{bodies[b]}_joint{number}"


def _shift(by: Any) -> Any:
    import pinocchio as pin

    return pin.SE3(np.eye(3), np.array(by))


def _added(model: Any, parent: int, joint: Any, at: Any, name: str, back: Any = (0.0, 0.0, 0.0)) -> tuple[int, Any]:
    """Add a joint; the row of it, and the body's frame there: at ``back`` from its anchor."""
    row = int(model.addJoint(parent, joint, at, name))
    model.addJointFrame(row)
    return row, _shift(back)


def _joint(compiled: Any, j: int) -> Any:
    import pinocchio as pin

    axis = np.array(compiled.jnt_axis[j])
    if compiled.jnt_type[j] == BALL:
        return pin.JointModelSpherical()
    return (
        pin.JointModelPrismaticUnaligned(axis)
        if compiled.jnt_type[j] == SLIDE
        else pin.JointModelRevoluteUnaligned(axis)
    )


def _inertia(compiled: Any, b: int) -> Any:
    import pinocchio as pin

    R = quaternion_matrix(compiled.body_iquat[b])
    tensor = R @ np.diag(compiled.body_inertia[b]) @ R.T
    return pin.Inertia(float(compiled.body_mass[b]), np.array(compiled.body_ipos[b]), 0.5 * (tensor + tensor.T))


def _set_passive(model: Any, compiled: Any, row: int, j: int) -> None:
    """Give Pinocchio's joint of one degree of freedom MuJoCo's range, counted from ``qpos0``, bearings and effort."""
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
