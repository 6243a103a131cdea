"""Continuous dynamics of a mechanism: (28), (29) and (36) of Johnson & Murphey 2009, each evaluation in O(n).

With V_i the bodies' velocities, h_i their momenta and F_i the wrenches on them, about one point O in world axes, (28)
is s_j · Σ (I_i V̇_i + V_i ×* h_i − F_i) = f_j over all bodies at and beyond joint j. Prescribed coordinates have given
accelerations. With constraints, M q̈ = … + Dhᵀ λ and Dh q̈ + d(Dh)/dt q̇ = 0: a border of the mass matrix.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from biped.kernels.midpoint.elimination import wrench_cross
from biped.kernels.midpoint.equations import momentum_of, point_velocity
from biped.kernels.solve.causes import NOT_FINITE
from biped.kernels.tree.dynamics import project_wrenches
from biped.kernels.tree.kinematics import motion_cross
from contact.arrays import Floats, Integers, unset
from contact.vectors import add, add6, add_scaled6, cross, dot, load3, load6, store6, sub
from formulations.mechanism.kernels import constraints as constraint
from formulations.mechanism.kernels import custom
from formulations.mechanism.kernels.border import solve_border
from formulations.mechanism.kernels.forces import force_work
from formulations.mechanism.kernels.loop import ENERGY, KINETIC, NEWTON, NUMBERS, POTENTIAL, WORK
from formulations.mechanism.kernels.node import factor_node, load_momenta, place_node, set_energies
from formulations.mechanism.kernels.points import turned
from formulations.mechanism.kernels.step import load_impulses
from formulations.mechanism.kernels.system import Buffers, Mechanics
from kernelcache import call, kernel, part

# Step of differences by strains [m or rad].
DIFFERENCE = 1e-3

NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
AT_REST = (0.0, 0.0, 0.0)

# Indices in a row of ``given``: position, rate and acceleration.
PLACE, RATE, ACCELERATION = range(3)


# Indices of ``Flow.parts``.
SLOPE, RECORD, TAKE_STEPS, PARTS = range(4)


class Rates(NamedTuple):
    """Buffers for the time derivative of a state."""

    bodies: Floats  # (n, 6) rates of change of the bodies' twists at O
    balance: Floats  # (n,) remaining force for the acceleration of free coordinates
    bend: Floats  # (m,) constraint accelerations at zero coordinate accelerations
    acceleration: Floats  # (n,) q̈
    multiplier: Floats  # (m,) λ of (36a)
    stage: Floats  # (2 n + 1,) q, v and work
    slope: Floats  # (4, 2 n + 1) time derivatives at the stages of a step
    steps: Integers  # (1,) number of steps taken


def new_rates(n: int, m: int) -> Rates:
    """Return buffers filled with NaN."""
    shapes: tuple[tuple[int, ...], ...] = (n, 6), (n,), (m,), (n,), (m,), (2 * n + 1,), (4, 2 * n + 1)
    return Rates._make([*(unset(*shape) for shape in shapes), np.zeros(1, dtype=np.int64)])


class Flow(NamedTuple):
    """Data of an integration, in one argument."""

    mechanics: Mechanics
    buffers: Buffers
    rates: Rates
    state: Floats  # (2 n + 1,) q, v, and the work of forces without a potential
    step: float  # [s]
    inputs: Floats  # (., 1 + inputs) time and functions of time
    given: Floats  # (., 3, n) positions, rates and accelerations of prescribed coordinates, at the times of ``inputs``
    rows: Floats  # (., columns) recorded rows
    parts: Integers  # (PARTS,) addresses of separately compiled parts


@kernel
def accelerate_bodies_of(tree, node, acceleration, bodies):
    """Set the rates of change of the bodies' twists at O for accelerations of the coordinates."""
    for i in range(tree.parent.shape[0]):
        s, parent = load6(node.poses.motion, i), tree.parent[i]
        a = NOTHING
        if parent >= 0:
            bracket = motion_cross(load6(node.velocity, parent), s)
            a = add_scaled6(load6(bodies, parent), node.rates[i], bracket)
        store6(bodies, i, add_scaled6(a, acceleration[i], s))


@kernel
def set_balance(tree, node, acceleration, rates):
    """Set ``rates.balance``: forces (``node.impulse``, ``node.load``) minus inertial forces, along coordinates."""
    accelerate_bodies_of(tree, node, acceleration, rates.bodies)
    for i in range(tree.parent.shape[0]):
        inertial = momentum_of(tree, node, i, load6(rates.bodies, i))
        turning = wrench_cross(load6(node.velocity, i), load6(node.momentum, i))
        store6(node.factors.wrench, i, add_scaled6(load6(node.impulse, i), -1.0, add6(inertial, turning)))
    project_wrenches(tree, node, rates.balance)
    for i in range(tree.parent.shape[0]):
        rates.balance[i] = node.load[i] + rates.balance[i] - tree.armature[i] * acceleration[i]


@kernel
def body_turn(node, bodies, body):
    """Return angular velocity and acceleration of a body, or of the ground."""
    if body < 0:
        return AT_REST, AT_REST
    return load6(node.velocity, body)[3:], load6(bodies, body)[3:]


@kernel
def point_motion(points, node, bodies, arms, k):
    """Return velocity and acceleration of a point."""
    body = points.body[k]
    if body < 0:
        return AT_REST, AT_REST
    arm, spin, rate = load3(arms, k), load6(node.velocity, body)[3:], load6(bodies, body)
    velocity = point_velocity(node, body, arm)
    return velocity, add(add(rate[:3], cross(rate[3:], arm)), cross(spin, velocity))


@kernel
def set_bends(mechanics, buffers, acceleration, rates):
    """Set d²h/dt² for accelerations of the coordinates and of the bodies, ``rates.bodies``."""
    constraints, points, node, arms = mechanics.constraints, mechanics.points, buffers.node, buffers.node_arms
    for c in range(constraints.kind.shape[0]):
        kind, first, second = constraints.kind[c], constraints.first[c], constraints.second[c]
        if kind == constraint.LINEAR:
            rates.bend[c] = (
                constraints.number[c, constraint.FIRST_FACTOR] * acceleration[first]
                + constraints.number[c, constraint.SECOND_FACTOR] * acceleration[second]
            )
        elif kind == constraint.CAM:
            _, slope, bend, _ = constraint.cam_lift(constraints.number, c, buffers.node_q[first])
            rate = buffers.node_rates[first]
            rates.bend[c] = slope * acceleration[first] + bend * rate * rate - acceleration[second]
        elif kind == constraint.ALONG or kind == constraint.DISTANCE or kind == constraint.STRING:
            v1, a1 = point_motion(points, node, rates.bodies, arms, first)
            v2, a2 = point_motion(points, node, rates.bodies, arms, second)
            apart, v, a = sub(load3(arms, first), load3(arms, second)), sub(v1, v2), sub(a1, a2)
            if kind != constraint.ALONG:
                rates.bend[c] = (dot(v, v) + dot(apart, a)) / constraint.length_of(constraints, c, buffers.node_q)
                if kind == constraint.STRING:
                    rates.bend[c] += length_bend(
                        constraints, c, buffers, acceleration, dot(apart, apart), dot(apart, v)
                    )
            else:
                carrier = constraints.carrier[c]
                n = turned(node.poses, carrier, load3(constraints.direction, c))
                spin, turn = body_turn(node, rates.bodies, carrier)
                n_rate = cross(spin, n)
                n_bend = add(cross(turn, n), cross(spin, n_rate))
                rates.bend[c] = dot(n_bend, apart) + 2.0 * dot(n_rate, v) + dot(n, a)


@kernel
def length_bend(constraints, c, buffers, acceleration, square, approach):
    """Return the term of a coordinate length L: −2 (d·v) L̇/L² + d² L̇²/L³ − ½ (d²/L² + 1) L̈, d² = ``square``."""
    j = constraints.carrier[c]
    length, rate = buffers.node_q[j], buffers.node_rates[j]
    change = (square * rate / length - 2.0 * approach) * rate / (length * length)
    return change - 0.5 * (square / (length * length) + 1.0) * acceleration[j]


@kernel
def set_custom_bends(mechanics, buffers, acceleration, rates):
    """Set Σ ∂h/∂z z̈ + d(∂h/∂z)/dt ż of user-defined constraints; the second term by differences of order four."""
    customs = buffers.customs
    if customs.kind.shape[0] == 0:
        return
    custom.set_strain_rates(customs, mechanics.points, buffers.node_arms, buffers.node)
    custom.set_strains(customs, buffers.node_arms, buffers.node_q)
    for k in range(customs.kind.shape[0]):
        if customs.kind[k] == custom.CONSTRAINT:
            custom.ask_custom(customs, k, 0.0, custom.JACOBIAN)
            for c in range(customs.rows[k]):
                bend = 0.0
                for i in range(customs.first[k], customs.first[k + 1]):
                    change = strain_acceleration(customs, mechanics.points, buffers, acceleration, rates.bodies, i)
                    bend += slope_of(customs, k, c, i) * change
                rates.bend[customs.row[k] + c] = bend
            dt = DIFFERENCE / largest_rate(customs, k)
            add_slope_change(customs, k, dt, 8.0 / (12.0 * dt), rates.bend)
            add_slope_change(customs, k, -2.0 * dt, -8.0 / (12.0 * dt), rates.bend)
            add_slope_change(customs, k, 3.0 * dt, -1.0 / (12.0 * dt), rates.bend)
            add_slope_change(customs, k, -4.0 * dt, 1.0 / (12.0 * dt), rates.bend)


@kernel
def slope_of(customs, k, c, i):
    """Return ∂h_c/∂z_i."""
    begin, end = customs.first[k], customs.first[k + 1]
    return customs.jacobian[customs.slopes[k] + c * (end - begin) + i - begin]


@kernel
def strain_acceleration(customs, points, buffers, acceleration, bodies, i):
    """Return z̈_i."""
    p = customs.point[i]
    if p < 0:
        return acceleration[customs.coordinate[i]]
    _, a = point_motion(points, buffers.node, bodies, buffers.node_arms, p)
    return (a[0], a[1], a[2])[customs.axis[i]]


@kernel
def largest_rate(customs, k):
    """Return the largest rate [1/s] of a component's strains, at least one."""
    largest = 1.0
    for i in range(customs.first[k], customs.first[k + 1]):
        largest = max(largest, abs(customs.rate[i]))
    return largest


@kernel
def add_slope_change(customs, k, moved, weight, bend):
    """Move the strains by ``moved`` [s] times their rates, and add ``weight`` times (∂h/∂z) ż there to ``bend``."""
    for i in range(customs.first[k], customs.first[k + 1]):
        customs.z[i] += moved * customs.rate[i]
    custom.ask_custom(customs, k, 0.0, custom.JACOBIAN)
    for c in range(customs.rows[k]):
        for i in range(customs.first[k], customs.first[k + 1]):
            bend[customs.row[k] + c] += weight * slope_of(customs, k, c, i) * customs.rate[i]


@kernel
def load_now(mechanics, inputs, k, buffers):
    """Place the tree at ``node_q``, ``node_rates``; set all forces (bodies: ``impulse``; coordinates: ``load``)."""
    node = buffers.node
    place_node(mechanics, buffers.node_rates, buffers)
    for j in range(node.load.shape[0]):
        node.load[j] = 0.0
    load_impulses(mechanics, inputs, k, 1.0, 1.0, buffers.customs, buffers.node_arms, node, node.load)


@kernel
def accelerate(mechanics, given, inputs, k, buffers, rates):
    """Compute q̈ and λ at ``node_q``, ``node_rates``, ``given`` (n,) accelerations; return SINGULAR, DEPENDENT or 0."""
    node, border, tree = buffers.node, buffers.node_border, mechanics.tree
    load_now(mechanics, inputs, k, buffers)
    set_balance(tree, node, given, rates)
    set_bends(mechanics, buffers, given, rates)
    set_custom_bends(mechanics, buffers, given, rates)
    failed = factor_node(mechanics, buffers)
    if failed != 0:
        return failed
    for c in range(rates.bend.shape[0]):
        border.load[c] = -rates.bend[c]
    solve_border(tree, node, 0.0, border, rates.balance, rates.acceleration)
    for j in range(given.shape[0]):
        rates.acceleration[j] += given[j]
    for c in range(rates.multiplier.shape[0]):
        rates.multiplier[c] = -border.unknown[c]
    return 0


@kernel
def ask_stage(prescribed, given, k, rates, buffers):
    """Set ``node_q`` and ``node_rates`` from the stage, with prescribed variables at their prescribed values."""
    n = prescribed.shape[0]
    for j in range(n):
        if prescribed[j] != 0:
            rates.stage[j], rates.stage[n + j] = given[k, PLACE, j], given[k, RATE, j]
        buffers.node_q[j], buffers.node_rates[j] = rates.stage[j], rates.stage[n + j]
        buffers.given_rates[j] = given[k, ACCELERATION, j] if prescribed[j] != 0 else 0.0


@part
def slope_part(world, i, k):
    """Write d/dt of ``rates.stage`` into slope ``i``, with row k of the inputs; return 0 or a cause of failure."""
    mechanics, buffers, rates = world.mechanics, world.buffers, world.rates
    ask_stage(mechanics.prescribed, world.given, k, rates, buffers)
    failed = accelerate(mechanics, buffers.given_rates, world.inputs, k, buffers, rates)
    n = buffers.node_q.shape[0]
    for j in range(n):
        rates.slope[i, j], rates.slope[i, n + j] = buffers.node_rates[j], rates.acceleration[j]
    work = force_work(mechanics.forces, world.inputs, k, 1.0, buffers.node) + custom.custom_work(buffers.customs, 1.0)
    rates.slope[i, 2 * n] = work
    return failed


@part
def record_part(world, k, row):
    """Record the state whose slope was just evaluated, in the columns of ``loop``."""
    mechanics, buffers, rates = world.mechanics, world.buffers, world.rates
    load_now(mechanics, world.inputs, k, buffers)
    load_momenta(mechanics.tree, buffers.node, buffers.node_momentum)
    set_energies(mechanics, buffers)
    set_balance(mechanics.tree, buffers.node, rates.acceleration, rates)
    fill_row(mechanics.prescribed, buffers, rates, world.state[2 * buffers.node_q.shape[0]], world.rows[row])
    return 0


@kernel
def fill_row(prescribed, buffers, rates, work, row):
    n = prescribed.shape[0]
    for j in range(n):
        row[j], row[n + j], row[2 * n + j] = buffers.node_q[j], buffers.node_rates[j], buffers.node_momentum[j]
    at = 3 * n
    row[at + KINETIC], row[at + POTENTIAL] = buffers.energy[0], buffers.energy[1]
    row[at + ENERGY] = buffers.energy[0] + buffers.energy[1]
    row[at + WORK] = work
    row[at + NEWTON] = 0.0
    at += NUMBERS
    for c in range(rates.multiplier.shape[0]):
        row[at] = rates.multiplier[c]
        at += 1
    for j in range(n):
        if prescribed[j] != 0:  # the driving force is what the acceleration needs in addition
            row[at] = -rates.balance[j]
            for c in range(rates.multiplier.shape[0]):
                row[at] -= buffers.node_border.rows[c, j] * rates.multiplier[c]
            at += 1


@kernel
def set_stage(world, i):
    """Move the state along the slope to stage ``i`` of a step; return whether it is finite."""
    rates, state = world.rates, world.state
    h = 0.0 if i == 0 else (world.step if i == 3 else 0.5 * world.step)
    finite = True
    for j in range(state.shape[0]):
        rates.stage[j] = state[j] + (h * rates.slope[i - 1, j] if i > 0 else 0.0)
        finite = finite and math.isfinite(rates.stage[j])
    return finite


@kernel
def finish_step(world, taken):
    """Add the weighted mean of the four slopes times the step to the state."""
    slope, state = world.rates.slope, world.state
    for j in range(state.shape[0]):
        mean = (slope[0, j] + 2.0 * slope[1, j] + 2.0 * slope[2, j] + slope[3, j]) / 6.0
        state[j] += world.step * mean
    world.rates.steps[0] = taken


@part
def take_steps_part(world, steps, every, row):
    """Take steps of the classical RK4 with a row at every multiple of ``every``; return 0 or a cause of failure.

    Rows 2 k, 2 k + 1 and 2 k + 2 of the inputs belong to the beginning, middle and end of step k.
    """
    for k in range(steps):
        for i in range(4):
            if not set_stage(world, i):
                return NOT_FINITE
            failed = call(world.parts[SLOPE], world, i, 2 * k + (i + 1) // 2)
            if failed != 0:
                return failed
            if i == 0 and k % every == 0:
                call(world.parts[RECORD], world, 2 * k, row + k // every)
        finish_step(world, k + 1)
    return 0


#: Each part with examples of its integer arguments, in the order of ``Flow.parts``.
FUNCTIONS: tuple[tuple[Any, ...], ...] = ((slope_part, 0, 0), (record_part, 0, 0), (take_steps_part, 0, 0, 0))
#: Parts that a part calls.
CALLS = {TAKE_STEPS: (SLOPE, RECORD)}
