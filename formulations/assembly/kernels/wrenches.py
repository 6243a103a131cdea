"""External wrenches (equation 5 of Brüdigam et al. 2024), with their exact impulse at any step size.

A node of the motion lies between two steps. It gets the wrench's impulse from the middle of one step to the middle of
the next one; the first node gets that of half a step. With order 1, each node gets the impulse of the step after it.
Half of a node's impulse does work over each of the two displacements; before the first node, over a step at the initial
velocity. The work is exact for a body that does not turn.
"""

from typing import NamedTuple

from contact import vectors as v
from contact.arrays import Floats, Integers
from contact.piecewise import Signals, signal_at
from formulations.assembly.kernels.system import STEPS
from kernelcache import kernel

# Indices of totals: work [J], impulse [N·s], and its moment about the common centre of mass [N·m·s].
WORK = 0
IMPULSE = 1
MOMENT = 4
LEDGER = 7


class Wrenches(NamedTuple):
    """External wrenches (m), each along fixed world directions."""

    body: Integers  # (m,) body on which each wrench acts
    point: Floats  # (m, 3) [m] point of application of a force, from the centre of mass, in body axes
    force: Floats  # (m, 3) unit direction of a force, zero for a torque
    torque: Floats  # (m, 3) unit direction of a torque, zero for a force
    given: Signals  # (m) [N·s or N·m·s] accumulated impulse of each wrench up to a time
    impulse: Floats  # (m,) [N·s or N·m·s] impulse of each wrench at the node at the start of the step
    node: Floats  # (LEDGER,) total impulses at that node, and the work of half of them over the last displacement
    total: Floats  # (LEDGER,) totals of all nodes before
    table: Floats  # (rows, LEDGER) totals at each recorded row


@kernel
def arm_of(wrenches, poses, j):
    return v.mat_vec(v.load9(poses.rotation, wrenches.body[j]), v.load3(wrenches.point, j))


@kernel
def center_of_mass(bodies, poses):
    total, center = 0.0, (0.0, 0.0, 0.0)
    for i in range(bodies.mass.shape[0]):
        total += bodies.mass[i]
        center = v.add(center, v.scale(bodies.mass[i], v.load3(poses.com, i)))
    return v.scale(1.0 / total, center)


@kernel
def set_wrenches(wrenches, system, motion, rule):
    """Set ``motion.wrench`` of the next step and its node's impulse; return the last work's magnitude [J]."""
    number, middle = motion.counts[STEPS], center_of_mass(system.bodies, motion.poses)
    share, begin = 1.0, rule.h * (number - 1 + rule.first_share)
    if number == 0:
        share, begin = rule.first_share, 0.0
    motion.wrench[:] = 0.0
    wrenches.node[:] = 0.0
    absolute = 0.0
    for j in range(wrenches.body.shape[0]):
        i, end = wrenches.body[j], rule.h * (number + rule.first_share)
        size = signal_at(wrenches.given, j, end) - signal_at(wrenches.given, j, begin)
        force, arm = v.scale(size, v.load3(wrenches.force, j)), arm_of(wrenches, motion.poses, j)
        torque = v.add(v.scale(size, v.load3(wrenches.torque, j)), v.cross(arm, force))
        v.store6(motion.wrench, i, v.add_scaled6(v.load6(motion.wrench, i), 1.0 / (share * rule.h), force + torque))
        moment = v.add(torque, v.cross(v.sub(v.load3(motion.poses.com, i), middle), force))
        for k in range(3):
            wrenches.node[IMPULSE + k] += force[k]
            wrenches.node[MOMENT + k] += moment[k]
        wrenches.impulse[j] = size
        last = motion.last_displacement
        work = (
            0.5
            * size
            / rule.h
            * way_along(wrenches, j, arm, v.load3(last, i), (last[i, 3], last[i, 4], last[i, 5], last[i, 6]))
        )
        wrenches.node[WORK] += work
        absolute += abs(work)
    return absolute


@kernel
def count_wrenches(wrenches, motion, buffers, h, at):
    """Add a solved step's node impulses to the totals and row ``at``; return the magnitude [J] of the work ahead.

    A row has the velocity at the node, after half of the impulse. That half does work over three quarters of the
    displacement before and one quarter of the displacement after.
    """
    is_first = motion.counts[STEPS] == 0
    ahead = absolute = 0.0
    for j in range(wrenches.body.shape[0]):
        i = wrenches.body[j]
        way = way_along(
            wrenches, j, arm_of(wrenches, buffers.next, j), v.load3(buffers.moved, i), v.load4(buffers.turn, i)
        )
        work = 0.5 * wrenches.impulse[j] / h * way
        ahead += work
        absolute += abs(work)
    if at >= 0:
        for k in range(LEDGER):
            half = 0.5 * wrenches.node[k] if k != WORK else 0.75 * wrenches.node[WORK] + 0.25 * ahead
            wrenches.table[at, k] = 0.0 if is_first else wrenches.total[k] + half
    for k in range(LEDGER):
        wrenches.total[k] += wrenches.node[k]
    wrenches.total[WORK] += ahead
    return absolute


@kernel
def way_along(wrenches, j, arm, moved, turn):
    """Return the displacement [m or rad] along a force or torque in a step, for its ``arm`` at the step's end."""
    way = v.add(moved, v.sub(arm, v.mat_t_vec(v.quat_matrix(turn), arm)))
    return v.dot(v.load3(wrenches.force, j), way) + 2.0 * v.dot(v.load3(wrenches.torque, j), turn[1:])
