"""Kernels of balance recovery by stepping: the whole-body program with phases of unloading, swing and landing.

Until the first step a tick equals that of ``whole_body``, bit for bit.
"""

import math
from collections import namedtuple
from typing import NamedTuple

from biped.kernels.loop.closed_loop import control
from biped.kernels.tree.whole_body import bias_at, point_jacobian, velocity_at
from contact.arrays import Floats, Integers
from contact.point_law import touches
from contact.vectors import load3, load4, load9, mat_vec, quat_difference, sub
from controllers.kernels import step_plan, whole_body
from controllers.kernels.contact_qp import ITERATIONS
from controllers.kernels.legs_apart import STRAIGHT, LegCapsules, keep_legs_apart, keep_legs_bent
from controllers.kernels.step_plan import COM_AT, FLOOR_AT, FLOOR_MOVES, HIGH_AT, OMEGA, XI, Legs, Seen, Step, StepRules
from kernelcache import kernel

# Phases.
STANDS = 0
UNLOADS = 1
SWINGS = 2
LOADS = 3
SHIFTS = 4  # the weight shifts onto one foot, so that the other foot can be brought next to it

# Indices in ``SteppingLaw.phase``.
PHASE = 0
SWING = 1  # foot that steps, or that stepped last
TAKEN = 2  # number of steps taken
WAY = 3  # path past the other leg (see ``step_plan.WAYS``), or BESIDE
DIRECTION = 4  # direction of travel at the first step: FORWARD, LATERAL or BACKWARD
PHASES = 5

FORWARD = 0  # also slow backward travel
LATERAL = 1
BACKWARD = 2

# Indices in ``SteppingLaw.memory``.
SINCE = 0  # [s] start of the phase
LANDS = 1  # [s] planned landing time
TARGET = 2  # (2,) [m] planned landing position, from the other foot
COMMANDED = 4  # (3,) [m/s²] commanded acceleration of the swing foot relative to the stance foot, last tick
LEFT = 7  # [s] lift-off time
MEMORY = 8

#: [s] Shortest remaining swing time used by the swing path: its gains grow as the time shrinks.
LAST = 0.04
#: [m] Height below which a foot counts as standing, even if it bears no load.
NEAR = 0.015
#: [s] Time constant of the approach to the landing speed.
PROMPT = 0.02
#: [m/s] Least landing speed.
GENTLE = 0.2
#: [m/s] Greatest landing speed.
HARD = 1.0
#: Value of ``WAY`` for a foot that is brought next to the other foot, with a fixed target.
CLOSING_STEP = -1
#: [m] Tolerance for bringing the feet together, and for ξ over its goal.
CLOSE = 0.02
#: [s] Time limit for shifting the weight onto one foot; then the feet stay where they are.
PATIENCE = 3.0
#: Share of the swing time before which a contact does not count as landing.
EARLY = 0.5


#: Parameters of steps in one direction: fields of ``controllers.stepping.Stepping``, and ``most``: allowed steps.
StepParameters = namedtuple(
    "StepParameters",
    "most trigger repeat_trigger lean_gain same_foot_cost unload_time load_time max_foot_load clearance "
    "crossing_clearance passing_share landing_speed_ratio cop_inset weight_swing swing_yaw_ratio kp_swing kd_swing "
    "com_drop max_leg_extension posture_rate closing_delay period",
)


class StepTasks(NamedTuple):
    """Gains and weights of the tasks during and after steps."""

    tasks: whole_body.Tasks
    weight_yaw: float  # weight of the trunk's turn about the vertical


class SteppingLaw(NamedTuple):
    """The compiled controller."""

    body: whole_body.WholeBodyLaw
    single_support: tuple[StepTasks, StepTasks, StepTasks]  # by direction of travel
    double_support: StepTasks  # after a step
    rules: tuple[StepRules, StepRules, StepRules]
    parameters: tuple[StepParameters, StepParameters, StepParameters]
    bearing: float  # [1] cosine of the angle of travel from the AP axis above which a step is lateral
    min_capture_offset: float  # [m] distance of ξ from the centre of mass above which backward travel is BACKWARD
    legs: Legs
    capsules: LegCapsules
    inward: Floats  # (m, 3) [m] foot's axes: from each contact point to the middle of its sole
    seen: Seen
    phase: Integers  # (PHASES,)
    memory: Floats  # (MEMORY,)


@control.register(SteppingLaw)
def stepping_torques(law, measurement, torque, recorded):
    """Write the torques of one control tick."""
    body = law.body
    whole_body.see(body, measurement)
    observe(law, measurement)
    decide(law, measurement)
    limit_loads(law, measurement)
    if has_begun(law):
        draw_in_points(law)
    whole_body.write_base(body, measurement)
    whole_body.clear_cost(body)
    if has_begun(law):
        step_tasks(law, measurement)
        keep_legs_apart(law.capsules, measurement, body.buffers)
        keep_legs_bent(law.capsules, law.legs, body.stance, measurement, body.buffers)
    else:
        whole_body.balance_task(body, measurement)
        whole_body.momentum_task(body, measurement)
        whole_body.turn_task(body, measurement)
        whole_body.feet_task(body, measurement)
        whole_body.posture_task(body, measurement)
    recorded[0] = whole_body.solve(body, measurement, torque)
    recorded[1] = float(body.qp.counts[ITERATIONS])
    recorded[2] = float(law.phase[TAKEN])
    recorded[3] = float(law.phase[PHASE])
    record_foothold(law, measurement, recorded)


@kernel
def has_begun(law):
    """Return True during and after the first step."""
    return law.phase[PHASE] != STANDS or law.phase[TAKEN] > 0


@kernel
def draw_in_points(law):
    """Draw the program's contact points in towards the middles of the soles: a foot would roll over its edge."""
    for k in range(law.inward.shape[0]):
        for axis in range(3):
            law.body.stance.inset[k, axis] = parameters_of(law).cop_inset * law.inward[k, axis]


@kernel
def record_foothold(law, measurement, recorded):
    """Record the planned landing position (world axes) and time; between steps the foot's own position."""
    swing, time = law.phase[SWING], measurement.time[0]
    x, y = law.seen.foot[swing, 0], law.seen.foot[swing, 1]
    if law.phase[PHASE] == UNLOADS or law.phase[PHASE] == SWINGS:
        x = law.seen.foot[1 - swing, 0] + law.memory[TARGET]
        y = law.seen.foot[1 - swing, 1] + law.memory[TARGET + 1]
        time = law.memory[LANDS]
    recorded[4], recorded[5], recorded[6] = measurement.q[0] + x, measurement.q[1] + y, time


@kernel
def observe(law, measurement):
    """Compute ξ, soles, hips and the reach of the legs, all horizontal."""
    body, seen, legs = law.body, law.seen, law.legs
    stance, buffers, numbers = body.stance, body.buffers, law.seen.numbers
    poses, rates = measurement.motion.poses, measurement.motion.rates
    if has_begun(law):
        estimate_height(law, measurement)
    gravity = -measurement.tree.gravity[2]
    omega = math.sqrt(gravity / max(buffers.state[whole_body.HIGH], 0.1 * stance.com[2]))
    numbers[OMEGA] = omega
    numbers[HIGH_AT] = buffers.state[whole_body.HIGH]
    estimate_floor_motion(law, measurement)
    for axis in range(2):
        moving = -numbers[FLOOR_MOVES + axis]
        for dof in range(rates.shape[0]):
            moving += buffers.mass[axis, dof] * rates[dof] / buffers.mass[0, 0]
        numbers[COM_AT + axis] = buffers.state[whole_body.COM + axis]
        numbers[XI + axis] = buffers.state[whole_body.COM + axis] + moving / omega
    points, count = legs.sole.shape[1], stance.point.shape[0]
    root, parameters = load9(poses.rotation, 0), parameters_of(law)
    numbers[FLOOR_AT] = (
        buffers.state[whole_body.COM + 2] - buffers.state[whole_body.HIGH] + 0.5 * (legs.high[0] + legs.high[1])
    )
    for k in range(2):
        i = stance.foot[k]
        seen.foot[k, 0], seen.foot[k, 1] = poses.com[i, 0], poses.com[i, 1]
        hip = sub(mat_vec(root, load3(legs.hip, k)), load3(legs.ankle, k))
        high = hip[2] - numbers[FLOOR_AT]
        seen.hip[k, 0], seen.hip[k, 1] = hip[0], hip[1]
        length, low = parameters.max_leg_extension * legs.length[k], high - parameters.com_drop
        seen.hip[k, 2] = math.sqrt(max(length * length - low * low, 0.01))
        seen.hip[k, 3] = high
        x, y, corner = 0.0, 0.0, 0
        for c in range(count):
            if stance.point_foot[c] == k:
                seen.sole[k, corner, 0] = poses.contact[stance.point[c], 0]
                seen.sole[k, corner, 1] = poses.contact[stance.point[c], 1]
                x, y = x + seen.sole[k, corner, 0] / points, y + seen.sole[k, corner, 1] / points
                corner += 1
        for c in range(points):
            seen.inner[k, c, 0] = seen.sole[k, c, 0] + parameters.cop_inset * (x - seen.sole[k, c, 0])
            seen.inner[k, c, 1] = seen.sole[k, c, 1] + parameters.cop_inset * (y - seen.sole[k, c, 1])


@kernel
def estimate_height(law, measurement):
    """Compute the CoM height from the highest touching point: the middle of a foot rises as the foot rolls over."""
    stance, state, floor = law.body.stance, law.body.buffers.state, -math.inf
    for k in range(stance.point.shape[0]):
        if touches(measurement.contact_state[stance.point[k]]):
            floor = max(floor, measurement.motion.poses.contact[stance.point[k], 2])
    if floor > -math.inf:
        state[whole_body.HIGH] = state[whole_body.COM + 2] - floor


@kernel
def estimate_floor_motion(law, measurement):
    """Estimate the floor's velocity: that of the slowest touching point; feet may slide or roll over an edge."""
    numbers, motion, stance, least = law.seen.numbers, measurement.motion, law.body.stance, math.inf
    numbers[FLOOR_MOVES], numbers[FLOOR_MOVES + 1] = 0.0, 0.0
    for k in range(stance.point.shape[0]):
        point = stance.point[k]
        if touches(measurement.contact_state[point]):
            moving = velocity_at(motion, measurement.tree.contact_body[point], load3(motion.poses.contact, point))
            speed = math.hypot(moving[0], moving[1])
            if speed < least:
                least = speed
                numbers[FLOOR_MOVES], numbers[FLOOR_MOVES + 1] = moving[0], moving[1]


@kernel
def is_down(law, measurement, foot):
    return whole_body.lowest_touch(law.body.stance, measurement, foot) < math.inf


@kernel
def is_near_floor(law, measurement, foot):
    """Return True if a foot is low enough to be loaded immediately."""
    return measurement.motion.poses.com[law.body.stance.foot[foot], 2] < law.seen.numbers[FLOOR_AT] + NEAR


@kernel
def bearing_hull(law, measurement, soles):
    """Write the corners of all soles that can bear load into ``seen.corner``; return their number."""
    points, count = law.legs.sole.shape[1], 0
    for k in range(2):
        swings = law.phase[PHASE] == SWINGS and law.phase[SWING] == k
        if not swings and is_near_floor(law, measurement, k):
            for c in range(points):
                law.seen.corner[count, 0], law.seen.corner[count, 1] = soles[k, c, 0], soles[k, c, 1]
                count += 1
    return count


@kernel
def enter(law, phase, time):
    law.phase[PHASE] = phase
    law.memory[SINCE] = time


@kernel
def decide(law, measurement):
    """Advance the phase machine: start of a step, choice of foot and target, landing, loading."""
    phase, memory, parameters = law.phase, law.memory, parameters_of(law)
    time = measurement.time[0]
    since = time - memory[SINCE]
    if phase[PHASE] == LOADS and since >= parameters.load_time:
        enter(law, STANDS, time)
    if phase[PHASE] == STANDS or phase[PHASE] == SHIFTS:
        if needs_step(law, measurement):
            begin_step(law, measurement, time)
        elif phase[TAKEN] > 0 and phase[WAY] != CLOSING_STEP and parameters.closing_delay > 0.0:
            close_feet(law, measurement, time)
    elif phase[PHASE] == UNLOADS and since >= parameters.unload_time:
        enter(law, SWINGS, time)
    if phase[PHASE] == SWINGS:
        if has_landed(law, measurement, time):
            land(law, time)
        else:
            update_plan(law, measurement, time)


@kernel
def needs_step(law, measurement):
    """Return True if ξ is outside the support by more than the trigger."""
    if law.phase[TAKEN] >= parameters_of(law).most:
        return False
    count = bearing_hull(law, measurement, law.seen.sole)
    if count == 0:
        return False
    numbers, rates, q = law.seen.numbers, measurement.motion.rates, measurement.q
    home, first = law.body.stance.posture, law.phase[TAKEN] == 0
    lean = parameters_of(law).lean_gain if first else 0.0
    _, x, y, _ = quat_difference((q[3], q[4], q[5], q[6]), (home[3], home[4], home[5], home[6]))
    to_x = numbers[XI] + lean * (rates[4] + numbers[OMEGA] * 2.0 * y)
    to_y = numbers[XI + 1] - lean * (rates[3] + numbers[OMEGA] * 2.0 * x)
    calm = first or law.phase[PHASE] == SHIFTS or law.phase[WAY] == CLOSING_STEP
    least = parameters_of(law).trigger if calm else parameters_of(law).repeat_trigger
    return step_plan.distance_outside(law.seen, count, to_x, to_y) > least


@kernel
def rules_of(law):
    """Return the ``StepRules`` of the current direction."""
    return law.rules[law.phase[DIRECTION]]


@kernel
def parameters_of(law):
    """Return the ``StepParameters`` of the current direction."""
    return law.parameters[law.phase[DIRECTION]]


@kernel
def direction_of(law):
    """Return the direction of travel: FORWARD, LATERAL or (if fast) BACKWARD."""
    numbers, ahead = law.seen.numbers, law.legs.ahead
    x, y = numbers[XI] - numbers[COM_AT], numbers[XI + 1] - numbers[COM_AT + 1]
    along, speed = x * ahead[0] + y * ahead[1], math.hypot(x, y)
    if abs(along) < law.bearing * speed:
        return LATERAL
    return BACKWARD if along < 0.0 and speed > law.min_capture_offset else FORWARD


@kernel
def begin_step(law, measurement, time):
    """Start the step of least cost of either foot, once the other foot touches the floor.

    A foot near the floor counts as able to stand: just after landing it may have no contact in this tick.
    """
    if law.phase[TAKEN] == 0:
        law.phase[DIRECTION] = direction_of(law)
    rules, parameters = rules_of(law), parameters_of(law)
    best, swing, wait = Step(math.inf, 0, 0.0, 0.0, 0.0), 0, parameters.unload_time
    for k in range(2):
        if is_near_floor(law, measurement, 1 - k):
            step = step_plan.plan_step(rules, law.legs, law.seen, k, -1, rules.shortest + wait, rules.longest + wait)
            cost = step.cost + (parameters.same_foot_cost if law.phase[TAKEN] > 0 and k == law.phase[SWING] else 0.0)
            if cost < best.cost:
                best, swing = Step(cost, step.way, step.time, step.x, step.y), k
    if best.cost < math.inf and is_down(law, measurement, 1 - swing):
        law.phase[SWING] = swing
        aim(law, best, time)
        leave(law, time)


@kernel
def close_feet(law, measurement, time):
    """Shift the weight onto the foot that stepped last, then bring the other foot next to it (``closing_delay``)."""
    phase, seen, legs = law.phase, law.seen, law.legs
    since, stance = time - law.memory[SINCE], phase[SWING]
    swing = 1 - stance
    x, y = (1 - 2 * swing) * legs.separation[0], (1 - 2 * swing) * legs.separation[1]
    away = math.hypot(seen.foot[swing, 0] - seen.foot[stance, 0] - x, seen.foot[swing, 1] - seen.foot[stance, 1] - y)
    goal_x, goal_y = standing_goal(law)
    numbers = seen.numbers
    lag = math.hypot(numbers[XI] - goal_x, numbers[XI + 1] - goal_y)
    lag = max(lag, math.hypot(numbers[COM_AT] - goal_x, numbers[COM_AT + 1] - goal_y))
    if phase[PHASE] == STANDS:
        if since >= parameters_of(law).closing_delay and away > CLOSE and lag < CLOSE:
            phase[DIRECTION] = FORWARD  # parameters of slow steps
            enter(law, SHIFTS, time)
    elif lag < CLOSE:
        phase[SWING] = swing
        aim(
            law,
            Step(0.0, CLOSING_STEP, rules_of(law).longest, seen.foot[stance, 0] + x, seen.foot[stance, 1] + y),
            time,
        )
        leave(law, time)
    elif since > PATIENCE:
        enter(law, STANDS, time)


@kernel
def standing_goal(law):
    """Return the goal of ξ: over the middle between the feet, or (SHIFTS) over the foot that stays.

    Over that foot the goal is on the side where the other foot lands, so that the landing foot can catch the body.
    """
    state, com, seen, k = law.body.buffers.state, law.body.stance.com, law.seen, law.phase[SWING]
    x, y = state[whole_body.BETWEEN] + com[0], state[whole_body.BETWEEN + 1] + com[1]
    if law.phase[PHASE] == SHIFTS:
        near_x, near_y = step_plan.nearest_in_hull(seen.inner[k], law.legs.sole.shape[1], x, y)
        x = 0.5 * (near_x + seen.foot[k, 0] + law.legs.middle[k, 0])
        y = 0.5 * (near_y + seen.foot[k, 1] + law.legs.middle[k, 1])
    return x, y


@kernel
def leave(law, time):
    """Start to unload the swing foot."""
    law.memory[LEFT] = time + parameters_of(law).unload_time
    for axis in range(3):
        law.memory[COMMANDED + axis] = 0.0
    enter(law, UNLOADS, time)


@kernel
def aim(law, step, time):
    """Store a planned step; its target is relative to the stance foot."""
    stance = 1 - law.phase[SWING]
    law.phase[WAY] = step.way
    law.memory[LANDS] = time + step.time
    law.memory[TARGET] = step.x - law.seen.foot[stance, 0]
    law.memory[TARGET + 1] = step.y - law.seen.foot[stance, 1]


@kernel
def update_plan(law, measurement, time):
    """Plan the landing again from the current state, unless the foot is about to land."""
    gone = time - law.memory[LEFT]
    if law.phase[WAY] != CLOSING_STEP and law.memory[LANDS] - time > 2.0 * LAST:
        rules = rules_of(law)
        shortest = max(rules.shortest - gone, 1.5 * LAST)
        longest = max(rules.longest - gone, shortest + LAST)
        aim(
            law,
            step_plan.plan_step(rules, law.legs, law.seen, law.phase[SWING], law.phase[WAY], shortest, longest),
            time,
        )


@kernel
def has_landed(law, measurement, time):
    gone, duration = time - law.memory[LEFT], law.memory[LANDS] - law.memory[LEFT]
    return gone > EARLY * duration and is_down(law, measurement, law.phase[SWING])


@kernel
def land(law, time):
    """End the swing: the feet's current positions become the reference of the set point and of the foot tasks."""
    stance, seen, buffers = law.body.stance, law.seen, law.body.buffers
    for k in range(2):
        for axis in range(2):
            stance.foot_place[k, axis] = seen.foot[k, axis] - buffers.state[whole_body.BETWEEN + axis]
    law.phase[TAKEN] += 1
    enter(law, LOADS, time)


@kernel
def limit_loads(law, measurement):
    """Set the load limit of each foot by phase: zero in swing, increasing after landing."""
    phase, body = law.phase, law.body
    stance, most, swing = body.stance, body.buffers.most, phase[SWING]
    since = measurement.time[0] - law.memory[SINCE]
    weight = -body.buffers.mass[0, 0] * measurement.tree.gravity[2]
    most[0] = most[1] = parameters_of(law).max_foot_load * weight if has_begun(law) else math.inf
    if phase[PHASE] == UNLOADS:
        most[swing] = weight * max(0.5 * (1.0 - since / max(parameters_of(law).unload_time, 1e-6)), 0.0)
    elif phase[PHASE] == LOADS:
        most[swing] = weight * min(
            0.2 + 1.3 * since / max(parameters_of(law).load_time, 1e-6), parameters_of(law).max_foot_load
        )
    elif phase[PHASE] == SWINGS:
        for k in range(stance.point.shape[0]):
            if stance.point_foot[k] == swing:
                body.qp.carries[k] = 0
        whole_body.share_weight(body, measurement)


@kernel
def step_tasks(law, measurement):
    """Add the tasks of a body during or after a step."""
    if law.phase[PHASE] == UNLOADS or law.phase[PHASE] == SWINGS:
        do_tasks(law, law.single_support[law.phase[DIRECTION]], measurement)
    else:
        do_tasks(law, law.double_support, measurement)


@kernel
def do_tasks(law, chosen, measurement):
    """Add all tasks with the gains and weights ``chosen``."""
    body = law.body
    stepping = whole_body.WholeBodyLaw(chosen.tasks, body.stance, body.limits, body.qp, body.buffers)
    body.qp.friction[0] = chosen.tasks.friction
    carry_task(law, chosen.tasks, measurement)
    whole_body.momentum_task(stepping, measurement)
    upright_task(stepping, chosen.weight_yaw, measurement)
    for axis in range(2):
        body.buffers.state[whole_body.BEARING + axis] = law.seen.numbers[FLOOR_MOVES + axis]
    for k in range(2):
        if law.phase[PHASE] == SWINGS and law.phase[SWING] == k:
            swing_task(law, measurement)
        else:
            if law.phase[PHASE] == SWINGS:
                keep_place(law, k)
            if is_down(law, measurement, k):
                whole_body.foot_task(stepping, measurement, k, False)
            else:
                put_down(law, measurement, k)
    drift_posture(law, measurement)
    whole_body.posture_task(stepping, measurement)


@kernel
def upright_task(law, weight_yaw, measurement):
    """Add the trunk orientation task with a separate yaw weight."""
    whole_body.turn_task(law, measurement)
    # ``turn_task`` has added yaw with its own weight: add the difference of the weights.
    home, q = law.stance.posture, measurement.q
    stiffness, damping = law.tasks.trunk
    _, _, _, z = quat_difference((q[3], q[4], q[5], q[6]), (home[3], home[4], home[5], home[6]))
    desired = -stiffness * 2.0 * z - damping * measurement.motion.rates[whole_body.YAW]
    whole_body.add_entry(law.qp, whole_body.YAW, weight_yaw - law.tasks.weight_trunk, desired)


@kernel
def keep_place(law, k):
    """Set the reference position of the stance foot to its current one."""
    for axis in range(2):
        law.body.stance.foot_place[k, axis] = law.seen.foot[k, axis] - law.body.buffers.state[whole_body.BETWEEN + axis]


@kernel
def drift_posture(law, measurement):
    """Move the reference posture towards the current one: after steps there is no posture to return to."""
    share = parameters_of(law).posture_rate * parameters_of(law).period
    posture = law.body.stance.posture
    for i in range(7, posture.shape[0]):
        posture[i] += share * (measurement.q[i] - posture[i])


@kernel
def desired_pressure(law, tasks, measurement):
    """Return the desired centre of pressure [m] from O, within the loaded soles and the friction limit."""
    numbers, seen = law.seen.numbers, law.seen
    x, y = numbers[XI], numbers[XI + 1]
    phase, swing = law.phase[PHASE], law.phase[SWING]
    if phase == UNLOADS or phase == SWINGS:
        px, py = step_plan.best_pressure(rules_of(law), law.legs, seen, 1 - swing)
    else:
        goal_x, goal_y = standing_goal(law)
        pace = tasks.capture / numbers[OMEGA]
        x += pace * (x - goal_x)
        y += pace * (y - goal_y)
        count = bearing_hull(law, measurement, seen.inner)
        px, py = x, y
        if count > 0:
            px, py = step_plan.nearest_in_hull(seen.corner, count, x, y)
    return step_plan.within(px, py, numbers[COM_AT], numbers[COM_AT + 1], tasks.friction * numbers[HIGH_AT])


@kernel
def carry_task(law, tasks, measurement):
    """Add the CoM task: a pendulum on the desired centre of pressure, at a height that the legs reach."""
    buffers, qp = law.body.buffers, law.body.qp
    tree, rates, numbers = measurement.tree, measurement.motion.rates, law.seen.numbers
    mass, omega = buffers.mass[0, 0], numbers[OMEGA]
    px, py = desired_pressure(law, tasks, measurement)
    for axis in range(3):
        row = buffers.jacobian[axis]
        moving = -numbers[FLOOR_MOVES + axis] if axis < 2 else -buffers.state[whole_body.BEARING + 2]
        for dof in range(row.shape[0]):
            row[dof] = buffers.mass[axis, dof] / mass
            moving += row[dof] * rates[dof]
        weight = 1.0
        if axis < 2:
            desired = omega * omega * (numbers[COM_AT + axis] - (px if axis == 0 else py))
        else:
            stiffness, damping = tasks.height
            desired = (
                stiffness * (desired_height(law, measurement.time[0]) - buffers.state[whole_body.HIGH])
                - damping * moving
            )
            weight = tasks.weight_height
        whole_body.add_row(qp, row, weight, desired - buffers.bias[axis] / mass - tree.gravity[axis])
    qp.spread[0] = tasks.weight_force / (mass * mass)


@kernel
def desired_height(law, time):
    """Return the desired CoM height [m]: the posture's, or lower if the current or planned feet are far apart."""
    seen, numbers, memory = law.seen, law.seen.numbers, law.memory
    high, swing = law.body.stance.com[2], law.phase[SWING]
    for k in range(2):
        dx, dy = seen.foot[k, 0] - seen.hip[k, 0], seen.foot[k, 1] - seen.hip[k, 1]
        if k == swing and (law.phase[PHASE] == UNLOADS or law.phase[PHASE] == SWINGS):
            left = max(memory[LANDS] - time, 0.0) * numbers[OMEGA]
            dx = seen.foot[1 - k, 0] + memory[TARGET] - seen.hip[k, 0] - left * (numbers[XI] - numbers[COM_AT])
            dy = (
                seen.foot[1 - k, 1]
                + memory[TARGET + 1]
                - seen.hip[k, 1]
                - left * (numbers[XI + 1] - numbers[COM_AT + 1])
            )
        length = STRAIGHT * law.legs.length[k]
        upright = math.sqrt(max(length * length - dx * dx - dy * dy, 0.25 * length * length))
        high = min(high, numbers[HIGH_AT] - seen.hip[k, 3] + upright)
    return high


@kernel
def landing_speed(law):
    """Return the desired landing speed [m/s], proportional to the horizontal CoM speed within limits."""
    numbers = law.seen.numbers
    away = math.hypot(numbers[XI] - numbers[COM_AT], numbers[XI + 1] - numbers[COM_AT + 1])
    return min(max(parameters_of(law).landing_speed_ratio * numbers[OMEGA] * away, GENTLE), HARD)


@kernel
def put_down(law, measurement, k):
    """Add the task of a stance foot without contact: lower it vertically and flat."""
    body, parameters = law.body, parameters_of(law)
    tree, motion, i = measurement.tree, measurement.motion, body.stance.foot[k]
    arm = load3(motion.poses.com, i)
    point_jacobian(tree, motion.poses, i, arm, body.buffers.jacobian)
    moving, bias = velocity_at(motion, i, arm), bias_at(motion, i, arm)
    _, x, y, z = quat_difference(load4(motion.poses.quaternion, i), load4(body.stance.foot_turn, k))
    error = (0.0, 0.0, 0.0, 2.0 * x, 2.0 * y, 2.0 * z)
    for axis in range(6):
        if axis == 2:
            desired = (-landing_speed(law) - moving[2]) / PROMPT
        elif axis < 2:
            desired = (law.seen.numbers[FLOOR_MOVES + axis] - moving[axis]) / PROMPT
        else:
            desired = -parameters.kp_swing * error[axis] - parameters.kd_swing * moving[axis]
        whole_body.add_row(body.qp, body.buffers.jacobian[axis], parameters.weight_swing, desired - bias[axis])


@kernel
def swing_task(law, measurement):
    """Add the swing foot task: a quintic from the current to the landing position, new at each tick; sole flat.

    With x, v, a now and x_f, v_f, 0 at the end, T from now, the jerk is 60 (x_f − x)/T³ − (36 v + 24 v_f)/T² − 9 a/T.
    """
    body, memory, parameters = law.body, law.memory, parameters_of(law)
    buffers, stance, time = body.buffers, body.stance, measurement.time[0]
    tree, motion = measurement.tree, measurement.motion
    k = law.phase[SWING]
    i, other = stance.foot[k], stance.foot[1 - k]
    arm, hold = load3(motion.poses.com, i), load3(motion.poses.com, other)
    point_jacobian(tree, motion.poses, i, arm, buffers.jacobian)
    moving, bias = velocity_at(motion, i, arm), bias_at(motion, i, arm)
    floor = velocity_at(motion, other, hold)
    begin, lands = memory[LEFT], memory[LANDS]
    top, crosses = begin + 0.45 * (lands - begin), law.phase[WAY] > 0
    clearance = parameters.crossing_clearance if crosses else parameters.clearance
    _, x, y, z = quat_difference(load4(motion.poses.quaternion, i), load4(stance.foot_turn, k))
    error = (0.0, 0.0, 0.0, 2.0 * x, 2.0 * y, 2.0 * z)
    for axis in range(6):
        if axis < 3:
            span, end, target = lands - time, 0.0, hold[axis]
            if axis < 2:
                target += memory[TARGET + axis]
                if crosses and abs(law.legs.ahead[axis]) > 0.7:  # before it passes the other leg
                    span = begin + parameters.passing_share * (lands - begin) - time
            elif time < top - LAST:
                span, target = top - time, law.seen.numbers[FLOOR_AT] + clearance
            else:
                end, target = -landing_speed(law), law.seen.numbers[FLOOR_AT]
            speed = moving[axis] - floor[axis]
            if axis == 2 and span < LAST:
                memory[COMMANDED + axis] = (end - speed) / PROMPT
            else:
                span = max(span, LAST)
                jerk = 60.0 * (target - arm[axis]) / span**3 - (36.0 * speed + 24.0 * end) / span**2
                memory[COMMANDED + axis] += parameters.period * (jerk - 9.0 * memory[COMMANDED + axis] / span)
            desired = memory[COMMANDED + axis]
        else:
            desired = -parameters.kp_swing * error[axis] - parameters.kd_swing * moving[axis]
        weight = parameters.weight_swing * (parameters.swing_yaw_ratio if axis == whole_body.YAW else 1.0)
        whole_body.add_row(body.qp, buffers.jacobian[axis], weight, desired - bias[axis])
