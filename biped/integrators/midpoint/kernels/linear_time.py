"""Derivatives of the Lagrangian and Newton's steps in O(n), by ``biped.kernels.midpoint``."""

from typing import NamedTuple

from biped.integrators.midpoint.kernels.rule import set_legendre_momentum, set_legendre_residual, set_newton_step
from biped.kernels.midpoint import equations
from biped.kernels.midpoint.elimination import eliminate_blocks, solve_blocks
from biped.kernels.tree.factorization import add_point_block
from biped.kernels.variational.equations import contact_chord
from biped.kernels.variational.joints import set_joint_diagonal
from contact.ground import floor_force_derivative
from contact.vectors import add, load3, mat_scale, triple
from kernelcache import kernel


class LinearTime(NamedTuple):
    """Derivatives by passes over the tree; Newton's matrix is eliminated with two 6 x 6 blocks per body."""


@set_legendre_residual.register(LinearTime)
def set_recursive_residual(derivatives, rule, h):
    equations.place_middle(rule.tree, rule.start, rule.alpha, h, rule.buffers)
    equations.set_gravity_impulses(rule.tree, rule.buffers, (1.0 - rule.alpha) * h)
    return equations.set_midpoint_residual(rule.tree, rule.buffers, rule.free)


@set_newton_step.register(LinearTime)
def set_two_block_step(derivatives, tree, ground, state, scratch, rule, h, fresh):
    if fresh:
        equations.set_midpoint_blocks(rule.tree, h, (1.0 - rule.alpha) * h, rule.buffers)
        add_contact_blocks(tree, ground, state, scratch, rule.buffers.factors.by_rate, h)
        set_joint_diagonal(tree, state, scratch, h)
        eliminate_blocks(rule.tree, rule.buffers, rule.alpha, h, scratch.diagonal, rule.free)
    solve_blocks(rule.tree, rule.buffers, rule.alpha, rule.buffers.residual, rule.buffers.delta)


@kernel
def add_contact_blocks(tree, ground, state, scratch, by_rate, h):
    """Add the ground reaction forces to Newton's matrix.

    They act at the unit twists at k and depend on the points' displacements at k + 1. r and h c are these twists up to
    O(h²), so that forces belong to the block of Y, each at its own arms.
    """
    shift = triple(scratch.shift)
    for c in range(tree.contact_body.shape[0]):
        if state.force[c, 2] != 0.0:
            middle, velocity = contact_chord(tree, ground, state, scratch, h, c)
            D = floor_force_derivative(ground, state, c, middle, velocity, h)
            left, right = load3(scratch.motion.poses.contact, c), add(shift, load3(scratch.next.contact, c))
            i = tree.contact_body[c]
            add_point_block(by_rate, tree.first_v[i] + tree.dofs[i] - 1, left, right, mat_scale(-0.5 * h * h, D))


@set_legendre_momentum.register(LinearTime)
def set_recursive_momentum(derivatives, rule, h, momentum):
    equations.set_gravity_impulses(rule.tree, rule.buffers, rule.alpha * h)
    equations.set_midpoint_momentum(rule.tree, h, rule.buffers, rule.nothing, momentum)
