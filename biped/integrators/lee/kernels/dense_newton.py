"""Newton's method with a full matrix, built by columns (Lee et al. 2016, algorithms 2 and 4): O(n³) per iteration."""

from typing import NamedTuple

import numpy as np

from biped.integrators.lee.kernels.quasi_newton import iterate_quasi_newton, set_correction
from biped.kernels.solve.dense import factor_dense, solve_dense
from biped.kernels.state.method import find_root
from biped.kernels.tree.factorization import block_times
from biped.kernels.variational.equations import hand_to_parent, set_newton_blocks
from contact.arrays import Floats, Integers
from contact.vectors import add6, dot6, load6
from kernelcache import routine


class ColumnNewton(NamedTuple):
    """Buffers of algorithm 4 of Lee et al. 2016, which takes two passes over the tree for each column."""

    matrix: Floats  # (nv, nv)
    order: Integers  # (nv,) order of the rows by pivoting
    moves: Integers  # (n,) 1 if the column's degree of freedom moves a body


def new_column_newton(n: int, nv: int) -> ColumnNewton:
    """Return buffers for a tree's full matrix."""
    return ColumnNewton(np.full((nv, nv), np.nan), np.zeros(nv, np.int64), np.zeros(n, np.int64))


@routine
def fill_columns(tree, left, right, block, diagonal, moves, wrench, matrix):
    """Set A by columns: outboard the bodies that move, inboard the necessary wrenches."""
    n = tree.parent.shape[0]
    for body in range(n):
        for i in range(n):
            parent = tree.parent[i]
            moves[i] = 1 if i == body or (parent >= body and moves[parent] == 1) else 0
        for column in range(tree.first_v[body], tree.first_v[body] + tree.dofs[body]):
            s = load6(right, column)
            wrench[:] = 0.0
            for i in range(n - 1, -1, -1):
                b = load6(wrench, i)
                if moves[i] == 1:
                    b = add6(b, block_times(block, i, s))
                for row in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
                    matrix[row, column] = dot6(load6(left, row), b)
                hand_to_parent(tree, wrench, i, b)
            matrix[column, column] += diagonal[column]


@set_correction.register(ColumnNewton)
def set_column_correction(root_finder, tree, ground, state, scratch, body, h, iteration):
    set_newton_blocks(body, tree, ground, state, scratch, h)
    left, right, block = scratch.motion.poses.motion, scratch.next.motion, scratch.motion.factors.block
    fill_columns(
        tree, left, right, block, scratch.diagonal, root_finder.moves, scratch.motion.factors.wrench, root_finder.matrix
    )
    factor_dense(root_finder.matrix, root_finder.order)
    solve_dense(root_finder.matrix, root_finder.order, scratch.residual, scratch.delta)


find_root.register(ColumnNewton)(iterate_quasi_newton)
