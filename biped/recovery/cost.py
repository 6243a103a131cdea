"""Costs of recoveries: squares of deviations from standing where it stood, and of torques.

Σ_k ½ Σ w r·r + ½ u·R u, with residuals r of the states and their Jacobians in tangent coordinates: the slope of the
cost is exact, its second derivative that of Gauss and Newton. The end counts most; on the way torques, motion, ranges
of joints and feet that slip cost a little, and how else it is done costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from biped import dynamics
from biped.errors import InputError
from biped.kernels.tree.kinematics import new_poses
from biped.kernels.tree.rows import differentiate_rows, place_rows
from biped.model import Model
from biped.recovery.quadratic import LeastSquares, Residual
from biped.recovery.rollout import Path
from contact.arrays import Floats


@dataclass(frozen=True)
class Weights:
    """Deviations [units] that cost as much as one another: at the end, and before it.

    Attributes:
        divergent: [m] of the divergent component of motion from above where the centre of mass stood.
        height: [m] of the centre of mass.
        vertical: [m/s] its velocity upwards.
        spin: [kg·m²/s] angular momentum about the centre of mass.
        trunk: [rad] turn of the root.
        posture: [rad] joints.
        motion: [√J] momenta, as √(p·M⁻¹p) with the M of where it stood.
        feet: [m] contact points from where they stood.
        tail: [s] before the end, which count once more together.
        motion_before: [√J] the same per √s, on the way.
        range_before: [rad] beyond the ranges of joints, per √s.
        slip_before: [m] of contact points beyond ``slip_free`` sideways, per √s.
        slip_free: [m].
    """

    divergent: float = 0.02
    height: float = 0.05
    vertical: float = 0.2
    spin: float = 4.0
    trunk: float = 0.3
    posture: float = 0.5
    motion: float = 5.0
    feet: float = 0.01
    tail: float = 0.3
    motion_before: float = 60.0
    range_before: float = 0.05
    slip_before: float = 0.0045
    slip_free: float = 0.015


@dataclass(frozen=True, eq=False)
class Places:
    """Where a model with a floating root is at each of N ticks, in world axes."""

    com: Floats  #: (N, 3) [m] centre of mass of all
    contact: Floats  #: (N, nc, 3) [m] contact points
    com_jacobian: Floats  #: (N, 3, nv) ∂com by the unit twists of the configuration; empty if not asked for
    contact_jacobian: Floats  #: (N, nc, 3, nv) the same of the points


def places_of(model: Model, q: Floats, *, jacobians: bool = True) -> Places:
    """Centre of mass and contact points in configurations (N, nq), and how they move with these."""
    tree, poses = model.tree, new_poses(model.n, model.nv, model.nc)
    q = np.ascontiguousarray(q)
    com, contact = np.empty((len(q), 3)), np.empty((len(q), model.nc, 3))
    place_rows(tree, q, poses, com, contact)
    count, root = len(q) if jacobians else 0, q[:, :3]
    by_com, by_contact = np.zeros((count, 3, model.nv)), np.zeros((count, model.nc, 3, model.nv))
    differentiate_rows(tree, q[:count], tree.mass / tree.mass.sum(), poses, by_com, by_contact)
    return Places(root + com, root[:, None] + contact, by_com, by_contact)


class Standing(LeastSquares):
    """The cost of coming back to where it stood.

    Args:
        model: with a floating root, that stands; each of its joints has one degree of freedom.
        q: (nq,) where.
        ticks: N.
        period: [s] of a tick.
        torques: (joints,) [N·m] that are a lot: as much on all joints for a second costs one half for each.
        weights: what deviations cost.

    Raises:
        InputError: the model has no floating root, or another kind of joint.
    """

    def __init__(
        self, model: Model, q: Floats, ticks: int, period: float, torques: Floats, weights: Weights | None = None
    ) -> None:
        if not model.is_floating or model.nq != model.nv + 1:
            raise InputError(f"{model.name}: a recovery is of a floating root and joints of one degree of freedom each")
        self.model, self.q, self.weights = model, q.copy(), Weights() if weights is None else weights
        self.mass = float(model.total_mass)
        there = places_of(model, q[None], jacobians=False)
        self.com, self.contact, self.turn = there.com[0], there.contact[0], _turns(q)
        self.omega = float(np.sqrt(-model.tree.gravity[2] / self.com[2]))
        self.to_motion = np.linalg.cholesky(np.linalg.inv(dynamics.mass_matrix(model, q))).T
        self.damping = np.diag(1.0 / np.asarray(torques) ** 2)
        self.input = period * self.damping
        ranges = {joint: (low, high) for joint, low, high in model.ranges}
        lows, highs = zip(*(ranges.get(name, (-np.inf, np.inf)) for name in model.joint_names), strict=True)
        self.low, self.high = np.minimum(lows, q[7:]), np.maximum(highs, q[7:])
        self.way = np.full(ticks + 1, period)
        last = max(1, round(self.weights.tail / period))
        self.end = np.zeros(ticks + 1)
        self.end[-last:] = 1.0 / last
        self.end[-1] += 1.0

    def residuals(self, path: Path, *, jacobians: bool = True) -> list[Residual]:
        """The residuals of each task along a path."""
        w, nv, end = self.weights, self.model.nv, self.end
        at = places_of(self.model, path.q, jacobians=jacobians)
        momentum, nx = path.p[:, :3], 2 * nv + path.anchor.shape[1]

        def task(name: str, r: Floats, weight: Floats, scale: float, q: Floats | None, p: Floats | None) -> Residual:
            J = np.zeros((len(r), r.shape[1], nx if jacobians else 0))
            if jacobians and q is not None:
                J[:, :, :nv] = q / scale
            if jacobians and p is not None:
                J[:, :, nv : 2 * nv] = p / scale
            return Residual(name, r / scale, J, weight)

        fast = self.mass * self.omega
        unit = np.eye(nv)
        flat = at.com[:, :2] + momentum[:, :2] / fast - self.com[:2]
        low, height = at.com[:, 2:] - self.com[2], at.com_jacobian[:, 2:]
        joints = path.q[:, 7:] - self.q[7:]
        beyond = np.minimum(path.q[:, 7:] - self.low, 0.0) + np.maximum(path.q[:, 7:] - self.high, 0.0)
        turn = np.asarray((_turns(path.q) * self.turn.inv()).as_rotvec())
        moved = at.contact - self.contact
        everywhere = end + self.way * (w.motion / w.motion_before) ** 2
        return [
            task("divergent", flat, end, w.divergent, at.com_jacobian[:, :2], unit[:2] / fast),
            task("height", low, end, w.height, height, None),
            task("vertical", momentum[:, 2:] / self.mass, end, w.vertical, None, unit[2:3] / self.mass),
            self._spin(task, path, at.com - path.q[:, :3], at.com_jacobian),
            task("trunk", turn, end, w.trunk, self._turning(turn) if jacobians else None, None),
            task("posture", joints, end, w.posture, unit[6:], None),
            task("range", beyond, self.way, w.range_before, unit[6:] * (beyond != 0.0)[:, :, None], None),
            task("motion", path.p @ self.to_motion.T, everywhere, w.motion, None, self.to_motion),
            task("feet", _flat(moved), end, w.feet, _flat(at.contact_jacobian), None),
            self._slips(task, moved[:, :, :2], at),
        ]

    def _spin(self, task, path: Path, arm: Floats, by_com: Floats) -> Residual:  # type: ignore[no-untyped-def]
        momentum, nv = path.p[:, :3], self.model.nv
        spin = path.p[:, 3:6] - np.cross(arm, momentum)
        if not len(by_com):
            return task("spin", spin, self.end, self.weights.spin, None, None)
        by_p = np.zeros((len(spin), 3, nv))
        by_p[:, :, :3], by_p[:, :, 3:6] = -_hat(arm), np.eye(3)
        return task("spin", spin, self.end, self.weights.spin, _hat(momentum) @ (by_com - np.eye(3, nv)), by_p)

    def _turning(self, turn: Floats) -> Floats:
        found = np.zeros((len(turn), 3, self.model.nv))
        found[:, :, 3:6] = _inverse_left(turn)
        return found

    def _slips(self, task, moved: Floats, at: Places) -> Residual:  # type: ignore[no-untyped-def]
        w = self.weights
        away = np.linalg.norm(moved, axis=2)
        out = np.maximum(away - w.slip_free, 0.0)
        by_q = None
        if len(at.contact_jacobian):
            unit = moved / np.maximum(away, 1e-9)[:, :, None] * (out > 0.0)[:, :, None]
            by_q = np.einsum("kcx,kcxj->kcj", unit, at.contact_jacobian[:, :, :2])
        return task("slips", out, self.way, w.slip_before, by_q, None)


def _flat(rows: Floats) -> Floats:
    """(N, nc, 3, …) as (N, 3 nc, …)."""
    return rows.reshape(rows.shape[0], rows.shape[1] * rows.shape[2], *rows.shape[3:])


def _turns(q: Floats) -> Rotation:
    """The root's orientation in a configuration (nq,), or in each of (N, nq)."""
    return Rotation.from_quat(q[..., 3:7], scalar_first=True)


def _hat(vectors: Floats) -> Floats:
    """(…, 3, 3) the matrices of a ×, for vectors a."""
    return np.cross(vectors[..., None, :], np.eye(3), axis=-1).swapaxes(-1, -2)


def _inverse_left(phi: Floats) -> Floats:
    """(N, 3, 3) ∂log(exp(δ) exp(φ))/∂δ."""
    angle = np.linalg.norm(phi, axis=1)
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    factor = np.where(small, 1.0 / 12.0, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    cross = _hat(phi)
    found: Floats = np.eye(3) - 0.5 * cross + factor[:, None, None] * (cross @ cross)
    return found


class AtRest(LeastSquares):
    """The cost of a tree of hinges on a fixed base: to be where it was, at rest, in the end.

    Args:
        model: whose root does not float.
        q: (nq,) where.
        period: [s] of a tick.
        torques: (joints,) [N·m] that are a lot: as much for a second costs ``way`` times one half for each.
        angle: [rad] of a joint, and
        momentum: [N·m·s] of one, that cost one half at the end.
        way: what torques count.
    """

    def __init__(
        self, model: Model, q: Floats, period: float, torques: Floats, angle: float, momentum: float, way: float
    ) -> None:
        self.model, self.q, self.angle, self.momentum = model, q.copy(), angle, momentum
        self.damping = np.diag(1.0 / np.asarray(torques) ** 2)
        self.input = way * period * self.damping

    def residuals(self, path: Path, *, jacobians: bool = True) -> list[Residual]:
        """The residuals at the end of a path."""
        nv, nx = self.model.nv, 2 * self.model.nv + path.anchor.shape[1]
        end = np.zeros(len(path.q))
        end[-1] = 1.0
        found = []
        for name, value, scale, at in (("angle", path.q - self.q, self.angle, 0), ("rate", path.p, self.momentum, nv)):
            J = np.zeros((len(path.q), nv, nx))
            J[:, :, at : at + nv] = np.eye(nv) / scale
            found.append(Residual(name, value / scale, J, end))
        return found
