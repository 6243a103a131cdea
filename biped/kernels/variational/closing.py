"""Joints that close loops, in a variational step and for the velocity at its end.

Impulses λ of the closing joints at the start of a step close the loops at its end (Wendlandt 1997, equations 5.11, with
the tree's joints eliminated). The momentum there is that of the chord. Impulses of the closing joints at the end change
it so that the velocities keep the loops closed too; controllers measure these velocities, and the ledger uses them.
They are the first part of the next step's λ, so that no position depends on them, as in RATTLE.
"""

import math

from biped.kernels.solve.rounding import EPSILON
from biped.kernels.tree import loops
from biped.kernels.tree.closing import POSITION, ROTATION, Closing
from biped.kernels.tree.dynamics import rates_from_momentum, turn_inertias
from biped.kernels.tree.kinematics import copy_poses
from contact.vectors import dot, load3, store6
from kernelcache import kernel, optional

# Tolerance of the rows in addition to rounding [m, rad], and tolerance of dependent rows.
GAP = 1e-13
ROUNDINGS = 32.0
IMPLIED_GAP = 1e-9


@optional("closing", Closing)
def begin_closing(tree, scratch, closing):
    """Set the rows at the start of the step, and zero impulses."""
    loops.set_loop_rows(scratch.motion.poses, closing)
    loops.set_loop_gradient(tree, scratch.motion.poses, closing)
    closing.impulse[:] = 0.0


@optional("closing", Closing, lambda squared, *_: squared)
def add_closing_impulses(squared, scratch, closing):
    """Set the rows at the candidate, add their impulses to the residual, and return its new squared norm."""
    loops.set_loop_rows(scratch.next, closing)
    return loops.add_loop_impulses(closing, closing.impulse, scratch.residual)


@optional("closing", Closing, 0.0)
def square_of_gaps(tree, closing, h):
    """Return the square [N²·s²] of the momentum of a mean body that would close the gaps in a step."""
    mass = moment = 0.0
    for i in range(tree.parent.shape[0]):
        mass += tree.mass[i]
        moment += tree.inertia[i, 0] + tree.inertia[i, 4] + tree.inertia[i, 8]
    gaps = 0.0
    for r in range(closing.gap.shape[0]):
        size = mass if loops.is_shift(closing.joints, r) else moment
        gaps += (size * closing.gap[r]) ** 2
    return gaps / (h * h * tree.parent.shape[0] * tree.parent.shape[0])


@optional("closing", Closing, True)
def is_closed(tree, scratch, closing):
    """Return True if the gaps are rounding, which grows with the distance of the bodies from O."""
    farthest = 0.0
    for i in range(tree.parent.shape[0]):
        com = load3(scratch.next.com, i)
        farthest = max(farthest, dot(com, com))
    least = max(GAP, ROUNDINGS * EPSILON * (math.sqrt(farthest) + tree.parent.shape[0]))
    for r in range(closing.gap.shape[0]):
        if not abs(closing.gap[r]) <= (least if closing.free[r] == 1 else IMPLIED_GAP):
            return False
    return True


@optional("closing", Closing)
def keep_impulses(closing):
    """Save the impulses at the start of a line search."""
    for r in range(closing.impulse.shape[0]):
        closing.base_impulse[r] = closing.impulse[r]


@optional("closing", Closing)
def change_impulses(closing, factor):
    """Set the impulses at ``factor`` of Newton's step from the saved ones."""
    for r in range(closing.impulse.shape[0]):
        closing.impulse[r] = closing.base_impulse[r] + factor * closing.change[r]


@optional("closing", Closing)
def end_closing(scratch, closing):
    """Record the largest gaps, and the joints' impulses at the start of the step."""
    for r in range(closing.gap.shape[0]):
        kind = POSITION if loops.is_shift(closing.joints, r) else ROTATION
        closing.worst[kind] = max(closing.worst[kind], abs(closing.gap[r]))
    loops.set_loop_rows(scratch.motion.poses, closing)
    store_wrenches(scratch.motion.poses, closing, closing.impulse, closing.start)


@kernel
def store_wrenches(poses, closing, impulse, wrenches):
    for j in range(wrenches.shape[0]):
        store6(wrenches, j, loops.wrench_at_point(poses, closing, impulse, j))


@optional("closing", Closing)
def close_momentum(tree, state, scratch, closing):
    """Change the momentum of the chord so that the velocities keep the loops closed."""
    ahead = closing.ahead
    copy_poses(scratch.next, ahead.poses)
    turn_inertias(tree, ahead.poses, ahead.inertia)
    rates_from_momentum(tree, state.momentum, ahead)
    close_rates(tree, ahead, closing, state.momentum)
    loops.hand_down(tree, closing, closing.change, scratch.wrench, 1.0)


@kernel
def place_rate_rows(tree, poses, closing):
    """Set the rows of velocities, which have no gaps."""
    loops.set_loop_rows(poses, closing)
    loops.set_loop_gradient(tree, poses, closing)
    closing.gap[:] = 0.0


@kernel
def close_rates(tree, ahead, closing, momentum):
    """Add to a momentum and its rates the impulses that keep the loops closed; needs M factored there."""
    place_rate_rows(tree, ahead.poses, closing)
    loops.close_loops(tree, ahead.poses.motion, ahead.poses.motion, closing, ahead.factors, ahead.rates)
    loops.add_loop_impulses(closing, closing.change, momentum)
    store_wrenches(ahead.poses, closing, closing.change, closing.end)
