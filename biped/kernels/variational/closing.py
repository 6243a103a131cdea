"""Joints that close loops, in a variational step and for the velocity at its end.

The step has impulses λ of the closing joints where it begins, so that the loops are closed where it ends (Wendlandt
1997, equations 5.11, of which the tree's joints are eliminated). The momentum there is that of its chord. Impulses of
the closing joints at the end make of it one whose velocities keep the loops closed too: what controllers measure and
the ledger counts. They are the first part of the next step's λ, so that no position depends on them, as in RATTLE.
"""

import math

from biped.kernels.solve.rounding import EPSILON
from biped.kernels.tree import loops
from biped.kernels.tree.closing import POSITION, ROTATION, Closing
from biped.kernels.tree.dynamics import rates_from_momentum, turn_inertias
from biped.kernels.tree.kinematics import copy_poses
from contact.vectors import dot, load3, store6
from kernelcache import kernel, optional

# What may be left of the rows, besides rounding [m, rad]; and of those that others imply.
GAP = 1e-13
ROUNDINGS = 32.0
IMPLIED_GAP = 1e-9


@optional("closing", Closing)
def begin_closing(tree, scratch, closing):
    """The rows where the step begins; no impulses yet."""
    loops.set_loop_rows(scratch.motion.poses, closing)
    loops.set_loop_gradient(tree, scratch.motion.poses, closing)
    closing.impulse[:] = 0.0


@optional("closing", Closing, lambda squared, *_: squared)
def add_closing_impulses(squared, scratch, closing):
    """The rows at the candidate, and their impulses in the residual; the square of its norm, which was ``squared``."""
    loops.set_loop_rows(scratch.next, closing)
    return loops.add_loop_impulses(closing, closing.impulse, scratch.residual)


@optional("closing", Closing, 0.0)
def square_of_gaps(tree, closing, h):
    """[N²·s²] of the momentum that closes the gaps in a step, by a mean body."""
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
    """Whether nothing is left of the rows but rounding; places are rounded where they are."""
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
    """Where a line search begins."""
    for r in range(closing.impulse.shape[0]):
        closing.base_impulse[r] = closing.impulse[r]


@optional("closing", Closing)
def change_impulses(closing, factor):
    """The impulses at ``factor`` of Newton's step from there."""
    for r in range(closing.impulse.shape[0]):
        closing.impulse[r] = closing.base_impulse[r] + factor * closing.change[r]


@optional("closing", Closing)
def end_closing(scratch, closing):
    """Note what was found: the worst gaps, and the joints' impulses where the step begins."""
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
    """To the momentum of the chord that of velocities which keep the loops closed."""
    ahead = closing.ahead
    copy_poses(scratch.next, ahead.poses)
    turn_inertias(tree, ahead.poses, ahead.inertia)
    rates_from_momentum(tree, state.momentum, ahead)
    close_rates(tree, ahead, closing, state.momentum)
    loops.hand_down(tree, closing, closing.change, scratch.wrench, 1.0)


@kernel
def place_rate_rows(tree, poses, closing):
    """The rows of velocities, which have no gaps."""
    loops.set_loop_rows(poses, closing)
    loops.set_loop_gradient(tree, poses, closing)
    closing.gap[:] = 0.0


@kernel
def close_rates(tree, ahead, closing, momentum):
    """Add the impulses to a momentum that keep the loops closed, and to its rates; needs M factored there."""
    place_rate_rows(tree, ahead.poses, closing)
    loops.close_loops(tree, ahead.poses.motion, ahead.poses.motion, closing, ahead.factors, ahead.rates)
    loops.add_loop_impulses(closing, closing.change, momentum)
    store_wrenches(ahead.poses, closing, closing.change, closing.end)
