"""The workspace controller against a longhand twin: Algorithms 4.1 to 4.6 as Wendlandt 1997 prints them.

Body frames, 4 x 4 poses, 6 x 6 adjoints, finite joint maps: nothing in common with the kernels but the model.
Two misprints are corrected: Algorithm 4.3 accumulates, as 3.3 does, and X_c takes ṗ, as equation 4.12 does.
``test_workspace_physics`` checks the printed algorithms themselves.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from biped import Model, Observation, human
from controllers.workspace import WorkspaceController, WorkspaceGains

from .whole_body_twin import hat


def pose(R, p):
    g = np.eye(4)
    g[:3, :3], g[:3, 3] = R, p
    return g


def adjoint(g):
    """Return Ad_g for twists (v, ω) (Appendix A.6)."""
    R, p = g[:3, :3], g[:3, 3]
    return np.block([[R, hat(p) @ R], [np.zeros((3, 3)), R]])


class Twin:
    """Workspace controller in the thesis's notation, link by link; frames at the centres of mass, home axes."""

    def __init__(self, model: Model, gains: WorkspaceGains, position, orientation) -> None:
        self.model, self.gains = model, gains
        self.target, self.wanted = np.array(position), Rotation.from_quat(np.roll(orientation, -1))

    def inertia(self, i):
        body = self.model.bodies[i]
        M = np.zeros((6, 6))
        M[:3, :3] = body.mass * np.eye(3)
        M[3:, 3:] = np.array(body.inertia)
        return M

    def joint_map(self, i):
        """Return H_k, the joint's twist in the outboard body's frame at its centre of mass."""
        axis, com = np.array(self.model.bodies[i].joint.axis), np.array(self.model.bodies[i].com)
        return np.concatenate([np.cross(axis, com), axis])

    def relative_pose(self, i, angle):
        tree = self.model.tree
        R = Rotation.from_rotvec(angle * np.array(self.model.bodies[i].joint.axis)).as_matrix()
        return pose(R, tree.joint_offset[i] + R @ np.array(self.model.bodies[i].com))

    def torques(self, q, v):
        model, tree, n = self.model, self.model.tree, self.model.n
        R = Rotation.from_quat(np.roll(q[3:7], -1))
        g = {0: pose(R.as_matrix(), q[:3])}
        V = {0: np.concatenate([R.inv().apply(v[:3]), R.inv().apply(v[3:6])])}
        A, a, z, P = {}, {0: np.zeros(6)}, {}, {}
        # Algorithms 4.1 and 4.2
        for k in range(n):
            if k:
                rel = self.relative_pose(k, q[tree.first_q[k]])
                rate = v[tree.first_v[k]]
                A[k] = adjoint(np.linalg.inv(rel))
                g[k] = g[tree.parent[k]] @ rel
                inboard = A[k] @ V[tree.parent[k]]
                joint = self.joint_map(k) * rate
                V[k] = inboard + joint
                # a_k = Ȧ V: the derivative of Ad_{g⁻¹} is −ad(joint twist) Ad_{g⁻¹}
                ad = np.block([[hat(joint[3:]), hat(joint[:3])], [np.zeros((3, 3)), hat(joint[3:])]])
                a[k] = -ad @ inboard
            M, omega = self.inertia(k), hat(V[k][3:])
            Omega = np.block([[omega, np.zeros((3, 3))], [np.zeros((3, 3)), omega]])
            gravity = np.concatenate([g[k][:3, :3].T @ (M[0, 0] * np.array(model.gravity)), np.zeros(3)])
            z[k] = -gravity + Omega @ M @ V[k]
            P[k] = M
        # Algorithm 4.3
        feet = [model.body_index(foot) for foot in model.feet]
        for foot in feet:
            P[foot] = 1e6 * self.inertia(0)
            z[foot] = np.zeros(6)
        for k in range(n - 1, 0, -1):
            H = self.joint_map(k)[:, None]
            K = H @ np.linalg.inv(H.T @ P[k] @ H) @ H.T
            L = (np.eye(6) - K @ P[k]) @ A[k]
            parent = tree.parent[k]
            P[parent] = P[parent] + L.T @ P[k] @ L
            z[parent] = z[parent] + L.T @ (P[k] @ a[k] + z[k])
        # Algorithm 4.4
        gains = self.gains
        error = q[:3] - self.target
        Xc = -np.array(gains.kd_position) * v[:3] - np.array(gains.kp_position) * error
        e = (R * self.wanted.inv()).as_quat(canonical=True)[:3]
        XR = -np.array(gains.kd_orientation) * v[3:6] - np.array(gains.kp_orientation) * e
        X = np.concatenate([R.inv().apply(Xc - np.cross(v[3:6], v[:3])), R.inv().apply(XR)])
        F = P[0] @ X + z[0]
        # Algorithm 4.5: wrenches pull back by the transpose of Ad of the inverse
        pulls = [adjoint(np.linalg.inv(np.linalg.inv(g[0]) @ g[foot])).T for foot in feet]
        G = np.hstack(pulls)
        shares = np.split(G.T @ np.linalg.solve(G @ G.T, F), len(feet))
        # Algorithm 4.6
        tau = np.zeros(model.nv)
        for foot, pull, share in zip(feet, pulls, shares, strict=True):
            Fbar = pull @ share
            for k in self.leg(foot):
                rel = self.relative_pose(k, q[tree.first_q[k]])
                Fk = -adjoint(rel).T @ Fbar
                tau[tree.first_v[k]] = self.joint_map(k) @ Fk
                Fbar = -Fk
        return tau

    def leg(self, foot):
        chain = []
        while foot > 0:
            chain.append(foot)
            foot = int(self.model.tree.parent[foot])
        return chain[::-1]


@pytest.mark.parametrize("seed", range(6))
def test_torques_are_those_of_the_printed_algorithms(seed):
    model = human()
    rng = np.random.default_rng(seed)
    orientation = np.array([1.0, *(0.2 * rng.normal(size=3))])
    orientation /= np.linalg.norm(orientation)
    angles = {joint: rng.uniform(-0.6, 0.6) for joint in model.joint_names}
    angles |= {f"{side}_knee_pitch": rng.uniform(-1.4, -0.4) for side in ("left", "right")}
    q = model.configuration((*rng.normal(size=2), 1.1), orientation, angles)
    v = rng.normal(size=model.nv)
    target = np.array([1.0, 0.1, -0.1, 0.05])
    target /= np.linalg.norm(target)
    gains = WorkspaceGains((40, 50, 180), (6, 7, 14), (45, 50, 55), (7, 8, 6))
    controller = WorkspaceController((0.1, 0.0, 1.1), tuple(target), gains)
    expected = Twin(model, gains, (0.1, 0.0, 1.1), target).torques(q, v)
    ours = controller.torques(Observation(model, 0.0, q, v))
    expected = expected[[model.dof(joint) for joint in model.joint_names]]
    assert np.abs(ours - expected).max() <= 1e-7 * np.abs(expected).max()
