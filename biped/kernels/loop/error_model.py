"""Linear model of the error between a body and its internal simulation, over one span between two updates.

Both bodies receive equal torques, so that the error e of the configuration and its rate ė obey, with the span h,

    A ė' = M ė − h (G + K) e − h β/τ Jzᵀ Jz e,    A = M + h D + h² K + h β Jᵀ J,    e' = e + h ė'.

M is the mass matrix, G the stiffness of gravity and ground reaction forces, K and D the joints' stiffness and damping.
J are the Jacobians of the contact points that touch the floor, Jz their vertical rows. The damper β is so strong that
sticking points do not move, and errors of their height decay with the time constant τ.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.tree.dynamics import compose_mass_matrix
from biped.kernels.tree.tree import FLOATING
from contact.arrays import Floats
from contact.modes import NONE, STICKING
from contact.vectors import add, copy1, cross, dot, load3, load6, load9, mat_vec, scale, triple
from kernelcache import kernel, routine

#: [s] Decay time of an error of the height of a contact point that touches the floor.
SETTLING = 0.1
#: Ratio of the damper's impulse per velocity, h β, to the body's mass.
FIRM = 1e3
#: Motions of the floor that the process noise contains: along x and y, about x and y.
FLOOR_MOTIONS = 4


class ErrorModel(NamedTuple):
    """Buffers of the error model at the present state."""

    span: float  # [s] h
    stiffness: Floats  # (nv,) K [N·m/rad]
    damping: Floats  # (nv,) D [N·m·s/rad]
    strength: Floats  # (nv,) square root of the spectral density of the process noise of each force [N √s, N·m √s]
    slack: Floats  # (nv,) [m/s, rad/s] standard deviation of independent noise of each rate
    calm: float  # share of the process noise while all contact points touch the floor
    floor: Floats  # (FLOOR_MOTIONS,) standard deviation of the floor's velocity [m/s, rad/s]
    mass: Floats  # (nv, nv) M
    factor: Floats  # (nv, nv) Cholesky factor of A
    held: Floats  # (nv, nv) Cholesky factor of M + h β Jᵀ J, with the rows that are kept
    load: Floats  # (nv, nv) G
    point: Floats  # (nc, 3, nv) J of each contact point, zero for free directions
    kept: Floats  # (nc, 3, nv) the rows of J that a correction keeps
    below: Floats  # (n, 12) force and its first moments on each body and all bodies outboard of it


def new_error_model(
    n: int, nv: int, nc: int, span: float, strength: Floats, slack: Floats, calm: float, floor: Floats
) -> ErrorModel:
    """Return the buffers for a tree of n bodies, nv degrees of freedom and nc contact points."""
    mass, factor, held, load = (np.full((nv, nv), np.nan) for _ in range(4))
    point, kept = (np.zeros((nc, 3, nv)) for _ in range(2))
    stiffness, damping, below = np.zeros(nv), np.zeros(nv), np.full((n, 12), np.nan)
    return ErrorModel(
        span, stiffness, damping, strength, slack, calm, floor, mass, factor, held, load, point, kept, below
    )  # fmt: skip


@routine
def set_load_stiffness(tree, poses, force, below, load):
    """Set G (nv, nv): minus the derivative of the generalized forces of gravity and contact forces (nc, 3).

    A force F at r moves with its body: dof b gives it the velocity u_b(r), and an ancestor a turns that velocity, so
    that ∂Q_a/∂q_b = ω_a · Σ u_b(r) × F, with the sum over all forces outboard of b.
    """
    for i in range(tree.parent.shape[0]):
        below[i] = 0.0
        add_load(below, i, load3(poses.com, i), scale(tree.mass[i], triple(tree.gravity)))
    for c in range(force.shape[0]):
        add_load(below, tree.contact_body[c], load3(poses.contact, c), load3(force, c))
    for i in range(tree.parent.shape[0] - 1, 0, -1):
        if tree.parent[i] >= 0:
            for k in range(12):
                below[tree.parent[i], k] += below[i, k]
    load[:] = 0.0
    for i in range(tree.parent.shape[0]):
        moments = load9(below[:, 3:], i)
        trace = moments[0] + moments[4] + moments[8]
        for b in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
            if tree.kind[i] == FLOATING and b < tree.first_v[i] + 3:
                continue  # the reference point of moments moves with the root
            twist = load6(poses.motion, b)
            turned = add(mat_vec(moments, twist[3:]), scale(-trace, twist[3:]))
            couple = add(cross(twist[:3], load3(below, i)), turned)
            j = i
            while j >= 0:
                for a in range(tree.first_v[j], tree.first_v[j] + tree.dofs[j]):
                    load[a, b] = -dot(load6(poses.motion, a)[3:], couple)
                    if j != i:
                        load[b, a] = load[a, b]
                j = tree.parent[j]


@kernel
def add_load(below, i, at, force):
    """Add a force and its first moments r Fᵀ to the row of body i."""
    for axis in range(3):
        below[i, axis] += force[axis]
        for other in range(3):
            below[i, 3 + 3 * axis + other] += at[axis] * force[other]


@routine
def set_error_model(tree, motion, mode, force, model):
    """Set M, J, G and the factors at the present poses, for the present modes (nc,) and forces (nc, 3) of contacts."""
    nv, span = model.mass.shape[0], model.span
    compose_mass_matrix(tree, motion, model.mass)
    set_load_stiffness(tree, motion.poses, force, model.below, model.load)
    set_point_jacobians(tree, motion.poses, mode, model.point)
    for i in range(nv):
        copy1(model.mass[i], model.factor[i])
        model.factor[i, i] += span * (model.damping[i] + span * model.stiffness[i])
    add_held_points(model.point, firmness(tree), 0, model.factor)
    factor_cholesky(model.factor)


@kernel
def factor_held(model, tree, first):
    """Factor M + h β Jᵀ J, with the rows of J that are kept, of the axes from ``first`` on."""
    for i in range(model.mass.shape[0]):
        copy1(model.mass[i], model.held[i])
    add_held_points(model.kept, firmness(tree), first, model.held)
    factor_cholesky(model.held)


@kernel
def firmness(tree):
    """Return h β [kg]."""
    total = 0.0
    for i in range(tree.parent.shape[0]):
        total += tree.mass[i]
    return FIRM * total


@kernel
def set_point_jacobians(tree, poses, mode, jacobian):
    """Set the rows of J of the contact points: all of a sticking point, the vertical one of a sliding point."""
    jacobian[:] = 0.0
    for c in range(mode.shape[0]):
        if mode[c] != NONE:
            set_point_rows(tree, poses, c, 0 if mode[c] == STICKING else 2, jacobian[c])


@kernel
def set_point_rows(tree, poses, c, first, rows):
    """Set the rows of J of a contact point from axis ``first`` on."""
    p, j = load3(poses.contact, c), tree.contact_body[c]
    while j >= 0:
        for dof in range(tree.first_v[j], tree.first_v[j] + tree.dofs[j]):
            s = load6(poses.motion, dof)
            moved = add(s[:3], cross(s[3:], p))
            for axis in range(first, 3):
                rows[axis, dof] = moved[axis]
        j = tree.parent[j]


@kernel
def add_held_points(point, firm, first, matrix):
    """Add h β Jᵀ J, of the axes from ``first`` on."""
    for c in range(point.shape[0]):
        for axis in range(first, 3):
            row = point[c, axis]
            for i in range(row.shape[0]):
                if row[i] != 0.0:
                    for k in range(row.shape[0]):
                        matrix[i, k] += firm * row[i] * row[k]


@routine
def write_transition(tree, poses, model, share, transition, noise):
    """Write the transition (nv, 2 nv) of the rates, ė' = R (e, ė), and the square root (nv, ·) of their noise.

    The process noise has forces in all degrees of freedom, velocities of the floor under the points that touch, and
    independent noise of each rate; all are multiplied by ``share``.
    """
    nv, firm = model.mass.shape[0], share * firmness(tree)
    for i in range(nv):
        for k in range(nv):
            transition[i, k] = -model.span * model.load[i, k]
            transition[i, nv + k] = model.mass[i, k]
            noise[i, k] = share * math.sqrt(model.span) * model.strength[i] if i == k else 0.0
        transition[i, i] -= model.span * model.stiffness[i]
        for k in range(noise.shape[1] - nv):
            noise[i, nv + k] = 0.0
    add_held_points(model.point, -firmness(tree) / SETTLING, 2, transition[:, :nv])
    for c in range(model.point.shape[0]):
        x, y = poses.contact[c, 0], poses.contact[c, 1]
        for i in range(nv):
            jx, jy, jz = model.point[c, 0, i], model.point[c, 1, i], model.point[c, 2, i]
            noise[i, nv] += firm * model.floor[0] * jx
            noise[i, nv + 1] += firm * model.floor[1] * jy
            noise[i, nv + 2] += firm * model.floor[2] * (y * jz)
            noise[i, nv + 3] -= firm * model.floor[3] * (x * jz)
    solve_cholesky(model.factor, transition)
    solve_cholesky(model.factor, noise)
    for i in range(nv):
        noise[i, nv + FLOOR_MOTIONS + i] = share * model.slack[i]


@kernel
def factor_cholesky(matrix):
    """Factor a symmetric positive definite matrix as L Lᵀ, with L in its lower triangle."""
    n = matrix.shape[0]
    for i in range(n):
        row = matrix[i]
        for k in range(i + 1):
            total, other = row[k], matrix[k]
            for j in range(k):
                total -= row[j] * other[j]
            row[k] = total / other[k] if k < i else math.sqrt(total)


@kernel
def take_off(row, share, other):
    """Subtract a multiple of another row."""
    for j in range(row.shape[0]):
        row[j] -= share * other[j]


@kernel
def divide(row, by):
    inverse = 1.0 / by
    for j in range(row.shape[0]):
        row[j] *= inverse


@kernel
def solve_lower(factor, columns):
    """Replace the columns X (n, ·) by L⁻¹ X."""
    for i in range(columns.shape[0]):
        row = columns[i]
        for k in range(i):
            take_off(row, factor[i, k], columns[k])
        divide(row, factor[i, i])


@kernel
def solve_cholesky(factor, columns):
    """Replace the columns X (n, ·) by (L Lᵀ)⁻¹ X."""
    solve_lower(factor, columns)
    for i in range(columns.shape[0] - 1, -1, -1):
        row = columns[i]
        for k in range(i + 1, columns.shape[0]):
            take_off(row, factor[k, i], columns[k])
        divide(row, factor[i, i])


@kernel
def allow(model, velocity, buffer):
    """Project velocities (nv, 1) onto those that the held contact points allow, with the least kinetic energy."""
    nv = model.mass.shape[0]
    for i in range(nv):
        buffer[i, 0] = 0.0
        for k in range(nv):
            buffer[i, 0] += model.mass[i, k] * velocity[k]
    solve_cholesky(model.held, buffer)
    for i in range(nv):
        velocity[i] = buffer[i, 0]
