"""The second derivatives of one variational step, its contact modes held.

By a complex step (``contact.analytic``) through the very kernels of its first derivatives: one evaluation for each way
in which the ends of a step and its anchors can move, whatever moves them. What of the equations depends on p and τ is
linear. So the derivatives of e and p' come as those of functions of (q_k, q_{k+1}, a), exact to round-off, and neither
the mechanics nor the law of contact is written a second time. The implicit function theorem, which makes second
derivatives of the step of them, is linear algebra (``biped.derivatives.linearization.second``).

Directions are unit twists in their own configuration at both ends, so that the derivatives here are those of numbers
that belong to frames which move.
"""

from typing import Any, NamedTuple

import numpy as np

from biped.derivatives.linearization.kernels import step
from biped.derivatives.linearization.kernels.points import set_point_jacobian
from biped.derivatives.linearization.kernels.steps import note_beginning
from biped.derivatives.linearization.kernels.tangent import along_anchor, is_held
from biped.kernels.state.pushes import Pushes
from biped.kernels.state.simulation_state import SimulationState, new_simulation_state
from biped.kernels.state.status import OK
from biped.kernels.step.step import prepare
from biped.kernels.tree.kinematics import Poses, new_poses, place_bodies
from biped.kernels.tree.tree import FLOATING, Tree
from biped.kernels.variational.equations import Scratch, displace, new_scratch, set_residual
from biped.kernels.variational.newton import place_candidate, place_push
from contact.arrays import Floats, Integers
from contact.ground import Ground
from contact.piecewise import Signals
from contact.vectors import load3
from kernelcache import Entry, Packed, addresses, call, kernel, part

Complexes = np.ndarray[tuple[int, ...], np.dtype[np.complex128]]

#: Length of a complex step: its square is negligible beside one.
REACH = 1e-20

# Places of the addresses of parts.
DISPLACE, EVALUATE, DIFFERENTIATE, TAKE, PARTS = range(5)


class SecondDerivative(NamedTuple):
    """A step that is differentiated beside itself, and room for it; complex but for where the step is.

    Columns of the results are q_k (nv), q_{k+1} (nv) and the anchors (2 nc), and so are the directions.
    """

    body: Any  # how its method discretizes a body
    tree: Tree
    ground: Ground
    begin: SimulationState  # where the step begins, with what is held in it
    end_q: Floats  # (nq,) and ends
    begin_poses: Poses  # there
    end_poses: Poses
    still: Floats  # (3,) zeros
    direction: Floats  # (nv,) unit displacements
    anchor_direction: Floats  # (nc, 2)
    length: Floats  # (1,) [s] h
    state: Any  # the same as complex numbers, and so on
    candidate: Complexes  # (nq,)
    shift: Complexes  # (3,)
    pushes: Pushes
    scratch: Scratch
    derivative: step.StepDerivative
    residual: Complexes  # (nv, 2 nv + 2 nc) ∂e/∂(q_k, q_{k+1}, a)
    momentum: Complexes  # (nv, 2 nv + 2 nc) ∂p'/∂(q_k, q_{k+1}, a)
    anchor: Complexes  # (2 nc, 2 nv + 2 nc) ∂a'/∂(q_k, q_{k+1}, a); of one that is kept the unit matrix
    first: Floats  # (2 nv + 2 nc, 2 nv + 2 nc) of the three one below the other: their values
    second: Floats  # (directions, 2 nv + 2 nc, 2 nv + 2 nc) and their derivatives
    parts: Integers  # (PARTS,)


def complex_room(value: Any) -> Any:
    """Return nested named tuples with complex arrays; trees and functions of time stay as they are."""
    if isinstance(value, tuple) and hasattr(value, "_fields") and not isinstance(value, (Signals, Tree)):
        return type(value)(*(complex_room(item) for item in value))
    is_real = isinstance(value, np.ndarray) and value.dtype == np.float64
    return value.astype(np.complex128) if is_real else value


def new_second_derivative(body: Any, tree: Tree, ground: Ground, pushes: Pushes, nq: int) -> SecondDerivative:
    """Room for the second derivatives of the steps of a tree."""
    n, nv, nc = tree.parent.shape[0], tree.armature.shape[0], tree.contact_body.shape[0]
    z, size = np.zeros, 2 * nv + 2 * nc
    return SecondDerivative(
        body=body, tree=tree, ground=ground, begin=new_simulation_state(nq, nv, nc), end_q=z(nq),
        begin_poses=new_poses(n, nv, nc), end_poses=new_poses(n, nv, nc), still=z(3), direction=z(nv),
        anchor_direction=z((nc, 2)), length=z(1), state=complex_room(new_simulation_state(nq, nv, nc)),
        candidate=z(nq, dtype=complex), shift=z(3, dtype=complex), pushes=complex_room(pushes),
        scratch=complex_room(new_scratch(n, nq, nv, nc)), derivative=complex_room(step.new_step_derivative(n, nv, nc)),
        residual=z((nv, size), dtype=complex), momentum=z((nv, size), dtype=complex),
        anchor=z((2 * nc, size), dtype=complex), first=z((size, size)), second=z((size, size, size)),
        parts=z(PARTS, dtype=np.int64),
    )  # fmt: skip


@kernel
def displaced_into(D, poses, q, column, first, found):
    """Q ⊕ iε of a unit displacement, the place of a floating root with it."""
    for dof in range(D.direction.shape[0]):
        D.direction[dof] = 1.0 if first + dof == column else 0.0
    displace(D.tree, poses, q, D.still, complex(0.0, REACH), D.direction, found, D.shift)
    if D.tree.kind[0] == FLOATING:
        for axis in range(3):
            found[axis] = q[axis] + D.shift[axis]


@part
def displace_part(D, column):
    """Put both ends of the step, and its anchors, iε away along one direction."""
    nv = D.direction.shape[0]
    note_beginning(D.begin, D.state)
    displaced_into(D, D.begin_poses, D.begin.q, column, 0, D.state.q)
    displaced_into(D, D.end_poses, D.end_q, column, nv, D.candidate)
    for c in range(D.state.anchor.shape[0]):
        for axis in range(2):
            reach = REACH if 2 * nv + 2 * c + axis == column else 0.0
            D.state.anchor[c, axis] = complex(D.begin.anchor[c, axis], reach)
    return OK


@part
def evaluate_part(D):
    """The step's equations there."""
    tree, state, scratch, pushes = D.tree, D.state, D.scratch, D.pushes
    prepare(tree, state, scratch)
    step.set_candidate(tree, state.q, D.candidate, scratch)
    for j in range(pushes.body.shape[0]):
        place_push(scratch.motion.poses, pushes, j, pushes.left)
    place_candidate(tree, pushes, scratch)
    set_residual(D.body, tree, D.ground, state, pushes, scratch, D.length[0])
    return OK


@part
def differentiate_part(D):
    """Their first derivatives there."""
    h, derivative = D.length[0], D.derivative
    step.differentiate_solved(D.body, D.tree, D.ground, D.state, D.pushes, D.scratch, derivative, 0, h)
    step.load_newton_blocks(D.tree, D.state, D.scratch, derivative, derivative.block, h)
    step.compose(D.tree, derivative.block)
    D.residual[:] = 0.0
    left, right = D.scratch.motion.poses.motion, D.scratch.next.motion
    nv = D.direction.shape[0]
    step.add_products(D.tree, derivative.block, left, right, -1.0, D.residual[:, nv : 2 * nv])
    for dof in range(nv):
        D.residual[dof, nv + dof] -= derivative.joints.diagonal[dof]
        for other in range(nv):
            D.residual[dof, other] = derivative.start_residual[dof, other]
            D.momentum[dof, other] = derivative.start_momentum[dof, other]
            D.momentum[dof, nv + other] = derivative.end_momentum[dof, other]
    store_by_anchors(D, 0.5 * h)
    return OK


@kernel
def store_by_anchors(D, half):
    """What forces at contact points, and anchors that are dragged, depend on by the anchors."""
    tree, points, now, later = D.tree, D.derivative.points, D.scratch.motion.poses, D.scratch.next
    nv = D.direction.shape[0]
    D.momentum[:, 2 * nv :] = 0.0
    D.anchor[:] = 0.0
    for c in range(tree.contact_body.shape[0]):
        column = 2 * nv + 2 * c
        if is_held(points, c):
            force = points.by_anchor[c]
            set_point_jacobian(tree, now.motion, c, load3(now.contact, c), points.jacobian)
            push_columns(points.jacobian, half, force, D.residual[:, column:])
            set_point_jacobian(tree, D.derivative.left, c, load3(D.derivative.arm, c), points.jacobian)
            push_columns(points.jacobian, half, force, D.momentum[:, column:])
        if points.moves[c] == 1:
            M, rows = points.anchor[c], D.anchor[2 * c :]
            set_point_jacobian(tree, now.motion, c, load3(now.contact, c), points.jacobian)
            move_rows(points.jacobian, M, 0, rows)
            set_point_jacobian(tree, later.motion, c, load3(later.contact, c), points.jacobian)
            move_rows(points.jacobian, M, 6, rows[:, nv:])
            rows[0, column], rows[0, column + 1], rows[1, column], rows[1, column + 1] = M[12], M[13], M[14], M[15]
        else:
            D.anchor[2 * c, column] = D.anchor[2 * c + 1, column + 1] = 1.0


@kernel
def push_columns(jacobian, half, force, columns):
    """h/2 Jᵀ ∂F/∂a for a contact point, into two columns."""
    for dof in range(jacobian.shape[0]):
        for k in range(2):
            columns[dof, k] = half * along_anchor(jacobian, dof, force, k)


@kernel
def move_rows(jacobian, M, first, rows):
    """∂a'/∂P J for a contact point, into two rows."""
    for dof in range(jacobian.shape[0]):
        x, y, z = jacobian[dof, 0], jacobian[dof, 1], jacobian[dof, 2]
        for k in range(2):
            m = first + 3 * k
            rows[k, dof] = M[m] * x + M[m + 1] * y + M[m + 2] * z


@part
def take_part(D, column):
    """Keep what came of one direction; for a column below zero the values themselves."""
    take_rows(D, D.residual, 0, column)
    take_rows(D, D.momentum, D.residual.shape[0], column)
    take_rows(D, D.anchor, 2 * D.residual.shape[0], column)
    return OK


@kernel
def take_rows(D, found, first, column):
    for row in range(found.shape[0]):
        for k in range(found.shape[1]):
            if column < 0:
                D.first[first + row, k] = found[row, k].real
            else:
                D.second[column, first + row, k] = found[row, k].imag / REACH


@kernel
def place_ends_of(D):
    place_bodies(D.tree, D.begin.q, D.begin_poses)
    place_bodies(D.tree, D.end_q, D.end_poses)


@part
def differentiate_twice(D):
    """Fill ``first`` and ``second`` for the step from ``begin`` to ``end_q``."""
    place_ends_of(D)
    for column in range(-1, D.first.shape[0]):
        call(D.parts[DISPLACE], D, column)
        call(D.parts[EVALUATE], D)
        call(D.parts[DIFFERENTIATE], D)
        call(D.parts[TAKE], D, column)
    return OK


class SecondDifferentiator:
    """A world whose steps are differentiated twice: everything is compiled, or loaded, once it is made."""

    def __init__(self, body: Any, tree: Tree, ground: Ground, pushes: Pushes, nq: int) -> None:
        self.room = new_second_derivative(body, tree, ground, pushes, nq)
        self._given = pushes
        room = Packed(self.room)
        self.room.parts[:] = addresses(
            [(displace_part, room, 0), (evaluate_part, room), (differentiate_part, room), (take_part, room, 0)]
        )
        self._differentiate = Entry(differentiate_twice, room)

    def between(self, end_q: Floats, h: float) -> SecondDerivative:
        """The derivatives of the step that leads to ``end_q``, from what has been put into ``room.begin``."""
        self.room.end_q[:], self.room.length[0] = end_q, h
        self.room.pushes.impulse[:] = self._given.impulse
        self._differentiate()
        return self.room
