"""Explicit methods as textbooks have them, in NumPy, on the public functions of ``biped.dynamics``: an oracle.

It shares the forward dynamics with what it checks, and nothing else: those are tested against Pinocchio.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from biped import Model, Push, dynamics
from contact import Floor
from contact.modes import NONE
from contact.regimes import point_force

TABLES = {
    "explicit-euler": ([0.0], [1.0]),
    "semi-implicit-euler": ([0.0], [1.0]),
    "rk4": ([0.0, 0.5, 0.5, 1.0], [1 / 6, 1 / 3, 1 / 3, 1 / 6]),
}


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def turned(q: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """exp(φ) q."""
    return product(np.roll(Rotation.from_rotvec(phi).as_quat(), 1), q)


def matrix(q: np.ndarray) -> np.ndarray:
    return Rotation.from_quat(np.roll(q, -1)).as_matrix()


def quaternions(model: Model) -> list[tuple[int, int, int]]:
    """(place in q, place of its angular velocity in v, parent or −1) of every quaternion."""
    found = []
    for body, q, v, parent in zip(model.bodies, model.tree.first_q, model.tree.first_v, model.tree.parent, strict=True):
        if body.joint.kind in ("floating", "spherical"):
            offset = 3 if body.joint.kind == "floating" else 0
            found.append((int(q) + offset, int(v) + offset, int(parent)))
    return found


def unit(model: Model, q: np.ndarray) -> np.ndarray:
    q = q.copy()
    for place, _, _ in quaternions(model):
        q[place : place + 4] /= np.linalg.norm(q[place : place + 4])
    return q


def one_dof(model: Model) -> list[tuple[int, int]]:
    tree = model.tree
    return [(int(tree.first_q[i]), int(tree.first_v[i])) for i in range(model.n) if tree.dofs[i] == 1]


class Slope(NamedTuple):
    """What a stage gives: rates of the state, forces of the floor, moment about the inertial origin, powers."""

    q: np.ndarray
    v: np.ndarray
    force: np.ndarray
    moment: np.ndarray
    joint_power: float
    contact_power: float
    turning: list[np.ndarray]


@dataclass
class Forces:
    floor: Floor | None = None
    mode: Sequence[int] = ()
    anchor: Any = ()
    torque: np.ndarray | None = None
    stiffness: np.ndarray | None = None
    damping: np.ndarray | None = None
    rest: np.ndarray | None = None
    pushes: list[tuple[Push, np.ndarray]] = field(default_factory=list)  # each with its mean force in the step


def slope(model: Model, q: np.ndarray, v: np.ndarray, forces: Forces, ahead: float = 0.0) -> Slope:
    """The rate of change of a state; q̇ and powers by the velocities ``ahead`` seconds later."""
    place = unit(model, q)
    motion = dynamics.forward_kinematics(model, place, v)
    wrench = np.zeros((model.n, 6))
    moment = np.zeros(3)
    for i, body in enumerate(model.bodies):
        moment += np.cross(motion.position[i], body.mass * np.array(model.gravity))
    applied = np.zeros((model.nc, 3))
    points = velocities(model, place, v)
    for c in range(model.nc if forces.floor else 0):
        i = int(model.tree.contact_body[c])
        if forces.mode[c] != NONE:
            applied[c] = point_force(
                forces.floor.parameters, forces.mode[c], tuple(motion.contact[c]), tuple(points[c]),
                tuple(forces.anchor[c]),
            )  # fmt: skip
        wrench[i] += np.concatenate([applied[c], np.cross(motion.contact[c] - motion.position[i], applied[c])])
        moment += np.cross(motion.contact[c], applied[c])
    for push, force in forces.pushes:
        i = model.body_index(push.body)
        arm = matrix(motion.orientation[i]) @ np.asarray(push.point)
        wrench[i] += np.concatenate([force, np.cross(arm, force)])
        moment += np.cross(motion.position[i] + arm, force)
    torque = np.zeros(model.nv) if forces.torque is None else forces.torque.copy()
    for a, j in one_dof(model):
        if forces.stiffness is not None:
            torque[j] -= forces.stiffness[j] * (q[a] - forces.rest[j]) + forces.damping[j] * v[j]
    acceleration = dynamics.forward_dynamics(model, place, v, torque, wrench)
    later = v + ahead * acceleration
    rate = np.zeros(model.nq)
    for a, j in one_dof(model):
        rate[a] = later[j]
    turning = []
    for a, j, parent in quaternions(model):
        omega = later[j : j + 3]
        if a == 3:
            rate[:3] = later[:3]
        elif parent >= 0:
            omega = matrix(motion.orientation[parent]).T @ omega
        turning.append(omega)
        rate[a : a + 4] = 0.5 * product(np.concatenate([[0.0], omega]), q[a : a + 4])
    joint_power = sum(torque[j] * later[j] for _, j in one_dof(model))
    contact_power = float(np.sum(applied * velocities(model, place, later)))
    return Slope(rate, acceleration, applied, moment, joint_power, contact_power, turning)


def velocities(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(nc, 3) of the contact points."""
    motion = dynamics.forward_kinematics(model, q, v)
    bodies = model.tree.contact_body
    arms = motion.contact - motion.position[bodies]
    return motion.velocity[bodies] + np.cross(motion.angular_velocity[bodies], arms)


class Step(NamedTuple):
    q: np.ndarray
    v: np.ndarray
    force: np.ndarray
    moment: np.ndarray
    joint_power: float
    contact_power: float


def step(name: str, model: Model, q: np.ndarray, v: np.ndarray, h: float, forces: Forces) -> Step:
    fractions, weights = TABLES[name]
    stages: list[Slope] = []
    for fraction in fractions:
        before = stages[-1] if stages else None
        at = q if before is None else q + fraction * h * before.q
        speed = v if before is None else v + fraction * h * before.v
        stages.append(slope(model, at, speed, forces, h if name == "semi-implicit-euler" else 0.0))

    def mean(what: Callable[[Slope], Any]) -> Any:
        return sum(weight * what(stage) for weight, stage in zip(weights, stages, strict=True))

    end = unit(model, q + h * mean(lambda s: s.q))
    if len(stages) == 1:
        for (a, _, _), omega in zip(quaternions(model), stages[0].turning, strict=True):
            end[a : a + 4] = turned(q[a : a + 4], h * omega)
    return Step(
        end, v + h * mean(lambda s: s.v), mean(lambda s: s.force), mean(lambda s: s.moment),
        mean(lambda s: s.joint_power), mean(lambda s: s.contact_power),
    )  # fmt: skip


def exact(model: Model, q: np.ndarray, v: np.ndarray, span: float) -> tuple[np.ndarray, np.ndarray]:
    """Where a model is after ``span`` [s] under gravity alone: (q, v), by scipy to twelve digits."""

    def flow(_: float, y: np.ndarray) -> np.ndarray:
        rates = slope(model, y[: model.nq], y[model.nq :], Forces())
        return np.concatenate([rates.q, rates.v])

    end = solve_ivp(flow, (0.0, span), np.concatenate([q, v]), "DOP853", rtol=3e-13, atol=1e-13).y[:, -1]
    return unit(model, end[: model.nq]), end[model.nq :]
