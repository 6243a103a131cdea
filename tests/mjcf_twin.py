"""A model read from MJCF against MuJoCo itself: masses, mass matrix, gravity's forces, ranges and bearings."""

from pathlib import Path
from typing import Any

import numpy as np

from biped import Model, dynamics
from biped.model.geometry import quaternion_matrix
from biped.model.mjcf.loading import compiled_mjcf
from biped.model.mjcf.tree import BALL, FREE, tree_of
from biped.model.pinocchio_model import orientations
from contact.arrays import Floats


class Twin:
    """MuJoCo's own reading of a file beside ours; what is locked in ours is not compared.

    The armature of free and ball joints, which a model lacks, is taken off MuJoCo's, too.
    """

    def __init__(self, path: Path, model: Model, floating: bool | None = None) -> None:
        import mujoco

        self.mujoco, self.ours = mujoco, model
        self.model = compiled_mjcf(path)[0]
        self.data = mujoco.MjData(self.model)
        tree = tree_of(self.model, floating, ("*",))
        ours = {body.joint.name for body in model.bodies}
        self.joints = [(j, name) for j, name in enumerate(tree.joints) if name in ours]
        self.moving = np.array([tree.moves(b) for b in range(self.model.nbody)])
        self.model.dof_armature[np.isin(self.model.jnt_type[self.model.dof_jntid], (FREE, BALL))] = 0.0
        mujoco.mj_kinematics(self.model, self.data)
        self.home = self.data.xmat.reshape(-1, 3, 3).copy()

    def place(self, q: Floats) -> Floats:
        """Put MuJoCo's model in our configuration q; T of its velocity T v."""
        ours, engine, data = self.ours, self.model, self.data
        turned = orientations(ours, q)
        for j, name in self.joints:
            at, place = int(engine.jnt_qposadr[j]), ours.coordinates(name)
            if engine.jnt_type[j] not in (FREE, BALL):
                data.qpos[at] = engine.qpos0[at] + q[place.start]
                continue
            H, R = self.home[engine.jnt_bodyid[j]], quaternion_matrix(q[place.stop - 4 : place.stop])
            turn = R @ H if engine.jnt_type[j] == FREE else H.T @ R @ H
            self.mujoco.mju_mat2Quat(data.qpos[at + 3 * (engine.jnt_type[j] == FREE) :][:4], turn.ravel())
            if engine.jnt_type[j] == FREE:
                data.qpos[at : at + 3] = q[:3] - R @ np.array(ours.root.com)
        T = np.zeros((engine.nv, ours.nv))
        for j, name in self.joints:
            dof, dofs = int(engine.jnt_dofadr[j]), ours.dofs(name)
            R = turned[ours.joint_index(name)] if engine.jnt_type[j] in (FREE, BALL) else np.eye(3)
            local = (R @ self.home[engine.jnt_bodyid[j]]).T
            if engine.jnt_type[j] == FREE:
                arm = -R @ np.array(ours.root.com)
                T[dof : dof + 3, :3] = np.eye(3)
                T[dof : dof + 3, 3:6] = -_cross(arm)
                T[dof + 3 : dof + 6, 3:6] = local
            elif engine.jnt_type[j] == BALL:
                T[dof : dof + 3, dofs] = local
            else:
                T[dof, dofs] = 1.0
        return T

    def errors(self, rng: np.random.Generator, states: int = 3) -> dict[str, float]:
        """Relative errors, the worst of random configurations; ranges and bearings are compared as they are."""
        ours, engine, data = self.ours, self.model, self.data
        moving = self.moving
        worst = {"mass": _error(ours.total_mass, engine.body_mass[moving].sum()), **self.limits()}
        for _ in range(states):
            q = random_configuration(ours, rng)
            T = self.place(q)
            self.mujoco.mj_forward(engine, data)
            M = np.zeros((engine.nv, engine.nv))
            _full_mass_matrix(self.mujoco, engine, data, M)
            data.qvel[:] = 0.0
            self.mujoco.mj_fwdPosition(engine, data)
            self.mujoco.mj_fwdVelocity(engine, data)
            com = engine.body_mass[moving] @ data.xipos[moving] / engine.body_mass[moving].sum()
            still = np.zeros(ours.nv)
            found = {
                "centre of mass": _error(dynamics.centre_of_mass(ours, q), com),
                "mass matrix": _error(dynamics.mass_matrix(ours, q), T.T @ M @ T),
                "gravity": _error(dynamics.inverse_dynamics(ours, q, still, still), T.T @ data.qfrc_bias),
            }
            worst = {key: max(worst.get(key, 0.0), found.get(key, 0.0)) for key in {**worst, **found}}
        return worst

    def limits(self) -> dict[str, float]:
        engine = self.model
        damping = self.damping()
        ours, theirs = [], []
        for j, name in self.joints:
            if engine.jnt_type[j] in (FREE, BALL):
                continue
            joint, dof = self.ours.bodies[self.ours.joint_index(name)].joint, int(engine.jnt_dofadr[j])
            low, high = engine.jnt_range[j] - engine.qpos0[engine.jnt_qposadr[j]]
            bounds = (low, high) if engine.jnt_limited[j] else (0.0, 0.0)
            ours.append(
                (*(np.nan_to_num((joint.lower, joint.upper), posinf=0.0, neginf=0.0)), joint.damping, joint.friction)
            )
            theirs.append((*bounds, damping[dof], engine.dof_frictionloss[dof]))
        return {"joints": _error(np.array(ours), np.array(theirs)) if ours else 0.0}

    def damping(self) -> Floats:
        """(nv,) What MuJoCo's joints resist a rate of one with at home."""
        engine, data = self.model, self.data
        data.qpos[:], data.qvel[:] = engine.qpos0, 1.0
        self.mujoco.mj_forward(engine, data)
        return -data.qfrc_damper


def random_configuration(model: Model, rng: np.random.Generator) -> Floats:
    """Of all joints, within a metre and a radian of home; quaternions are anyhow."""
    q = rng.uniform(-1.0, 1.0, model.nq)
    for body in model.bodies:
        if not body.joint.has_axis:
            stop = model.coordinates(body.joint.name).stop
            turn = rng.standard_normal(4)
            q[stop - 4 : stop] = turn / np.linalg.norm(turn)
    return q


def _full_mass_matrix(mujoco: Any, engine: Any, data: Any, M: Floats) -> None:
    """MuJoCo's dense mass matrix; its function took other arguments before version 4."""
    if hasattr(data, "qM"):
        mujoco.mj_fullM(engine, M, data.qM)
    else:
        mujoco.mj_fullM(engine, data, M)


def _cross(a: Floats) -> Floats:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def _error(ours: Any, theirs: Any) -> float:
    return float(np.abs(np.subtract(ours, theirs)).max() / max(1e-12, np.abs(theirs).max()))
