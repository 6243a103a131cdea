"""Kernels of a forward model of commanded accelerations over the sensory delay, around a controller.

The sensed state is d ticks old. The prediction x̂ assumes that the body has moved as commanded since then, within the
constraints of the stance feet. The sensed error e of the x̂ of that time has evolved since, by M ë = −G e − D ė with the
feet held: the body topples, and muscles hold it. At each tick x̂ is corrected by the propagated error.

Over one period the error e becomes F e − m, where m is the correction of x̂ at the period's end. Each tick repeats
this over all periods of the delay. A recursion from the previous tick would be faster, but would multiply rounding
errors by F at every tick without bound, since F has the unstable mode of a falling body. While the body hardly moves,
F is constant for many periods. A block of them then takes one product, F^8 e − s, where s sums the corrections within
the block. So rounding errors persist only over the delay and one block.
"""

from typing import Any, NamedTuple

from biped.kernels.loop.closed_loop import control
from biped.kernels.loop.measurement import place_measured
from biped.kernels.tree.dynamics import compose_mass_matrix
from biped.kernels.tree.whole_body import point_jacobian
from contact.arrays import Floats, Integers
from contact.modes import NONE, STICKING
from contact.vectors import copy1, load3, quat_difference, quat_exp, quat_mul, rotation_vector
from controllers.kernels.contact_qp import ENDED, SOLVED, factor_hessian
from controllers.kernels.predicted import add_product, add_times, make_up_for_muscles
from controllers.kernels.stepping import PHASE, STANDS, SWING, SWINGS, TAKEN, SteppingLaw
from controllers.kernels.whole_body import WholeBodyLaw
from kernelcache import generic, kernel, routine

#: [m] Height above the other foot's points up to which a point counts as landed.
DOWN = 0.002
#: Periods of a block, 2^DOUBLINGS; a block takes one product if F is the same in all of them.
DOUBLINGS = 3
BLOCK = 1 << DOUBLINGS
#: Softness of held feet, so that two stretched legs (a redundant support) have a unique solution.
SOFT = 1e-9


class Muscles(NamedTuple):
    """Joints, and the impedance of their muscles, which acts without delay and is at rest in the posture."""

    coordinate: Integers  # (joints,)
    dof: Integers  # (joints,)
    rest: Floats  # (nq,)
    stiffness: Floats  # (joints,) [N·m/rad] of an impedance in the plant
    damping: Floats  # (joints,) [N·m·s/rad]


class Propagation(NamedTuple):
    """Propagation of an error over a period: ė' = R (e, ė), e' = e + h ė'."""

    span: float  # [s] h
    foot: Integers  # (feet,) bodies
    alike: float  # [rad] rotation of the root or a joint after which M and the feet's Jacobians are evaluated again
    pull: Floats  # (1 + feet, nv, nv) Gᵀ: restoring force of displacements; all feet held, or all but one
    drag: Floats  # (nv,) D + h K of the muscles
    share: float  # share of velocities that the stance feet do not allow which decays in a period (soles may tilt)
    mass: Floats  # (nv, nv) buffer: M + h D + h² K
    factor: Floats  # (nv, nv) buffer: its Cholesky factor L
    inverse: Floats  # (nv, nv) buffer: X = L⁻¹
    hold: Floats  # (nv, 6 feet) buffer: Y = L⁻¹ Jᵀ of the stance feet
    compliance: Floats  # (6 feet, 6 feet) buffer: the factor C of Yᵀ Y
    reaction: Floats  # (6 feet, nv) buffer: Z
    jacobian: Floats  # (6, nv) buffer
    free: Floats  # (nv, nv) buffer: P, accelerations from forces
    allowed: Floats  # (nv, nv) buffer: Nᵀ, projection of velocities that the feet allow
    double: Floats  # (2 nv, 2 nv) buffer


class ForwardModelLaw(NamedTuple):
    """Controller with its forward model."""

    inner: Any  # controller
    muscles: Muscles
    goes: Propagation
    q: Floats  # (nq,) x̂ of the next tick, before its correction
    rates: Floats  # (nv,)
    past_q: Floats  # (d, nq) x̂ of the last ticks, ring buffer
    past_rates: Floats  # (d, nv)
    onward: Floats  # (d, 2 nv, nv) recent Rᵀ, ring buffer; a row can serve for several ticks
    which: Integers  # (d,) row of Rᵀ for each of these ticks
    newest: Integers  # (1,) row of the newest Rᵀ
    since: Integers  # (1,) number of ticks with the newest Rᵀ
    shape: Floats  # (nq,) posture at the evaluation of R
    leap: Floats  # (·, 2 nv, 2 nv) (F^8)ᵀ, ring buffer; for each F that was constant for a block
    leaps: Integers  # (1,) number of (F^8)ᵀ so far
    leap_of: Integers  # (d,) row of (F^8)ᵀ for each row of Rᵀ
    mended: Floats  # (d, 2 nv) corrections m of x̂, ring buffer
    within: Floats  # (·, 2 nv) sums s of blocks: corrections after a block's first tick, ring buffer
    swings: Integers  # (1,) swing foot of the last tick, or −1
    ticks: Integers  # (1,) number of ticks so far
    asked: Floats  # (nv,) buffer: accelerations
    error: Floats  # (2 nv,) buffer
    buffers: Floats  # (2 nv,) buffer
    rate: Floats  # (nv,) buffer


# --- interface to the controller ---


@generic("law")
def tell_asked(law, asked):
    """Write the accelerations (nv,) commanded by the controller's tick."""


@generic("law")
def swinging_foot(law):
    """Return the index of the swing foot, or −1."""


@generic("law")
def feel_feet(law, measurement):
    """Set touching points and contact forces as predicted by the controller's state and the predicted pose."""


@tell_asked.register(WholeBodyLaw)
def tell_asked_in_place(law, asked):
    for dof in range(asked.shape[0]):  # without a solution torques are held, and accelerations are unknown
        asked[dof] = law.qp.unknown[dof] if law.qp.counts[ENDED] == SOLVED else 0.0


@swinging_foot.register(WholeBodyLaw)
def no_foot_swings(law):
    return -1


@feel_feet.register(WholeBodyLaw)
def feel_as_sensed(law, measurement):
    pass


@tell_asked.register(SteppingLaw)
def tell_asked_stepping(law, asked):
    tell_asked_in_place(law.body, asked)


@swinging_foot.register(SteppingLaw)
def foot_that_swings(law):
    return law.phase[SWING] if law.phase[PHASE] == SWINGS else -1


@feel_feet.register(SteppingLaw)
def feel_feet_stepping(law, measurement):
    """Set the contacts: stance feet touch, the swing foot touches at the other foot's height; forces as commanded."""
    phase, body = law.phase, law.body
    stance, places, nv = body.stance, measurement.motion.poses.contact, law.body.qp.hessian.shape[0]
    if phase[PHASE] == STANDS and phase[TAKEN] == 0:
        return
    swing, level, count = foot_that_swings(law), 0.0, 0
    for k in range(stance.point.shape[0]):
        point = stance.point[k]
        if stance.point_foot[k] != swing:
            measurement.contact_state[point] = STICKING
            level += places[point, 2]
            count += 1
        if body.qp.counts[ENDED] == SOLVED:
            for axis in range(3):
                measurement.force[point, axis] = body.qp.unknown[nv + 3 * k + axis]
    for k in range(stance.point.shape[0]):
        point = stance.point[k]
        if stance.point_foot[k] == swing:
            measurement.contact_state[point] = STICKING if places[point, 2] < level / count + DOWN else NONE


# --- a tick ---


@kernel
def show_now(law, measurement):
    """Replace the sensed state by x̂, corrected by the propagated sensed error."""
    q, rates, error, tick = measurement.q, measurement.motion.rates, law.error, law.ticks[0]
    nv, depth = rates.shape[0], law.past_q.shape[0]
    if tick == 0:
        return
    if tick >= depth:
        difference(law, measurement, tick % depth)
        bring_to_now(law, tick)
    else:  # the sensed state is still that at the start; only the commands since then are known
        error[:] = 0.0
    copy1(error, law.mended[tick % depth])
    copy1(law.q, q)
    copy1(law.rates, rates)
    add_times(rates, 1.0, error[nv:])
    displace(law, error, 1.0, q)


@kernel
def bring_to_now(law, tick):
    """Propagate ``error`` from d periods ago to now, and subtract the corrections of x̂ made since."""
    depth = age = law.past_q.shape[0]
    while age > 0:
        row, last = (tick - age) % depth, (tick - age + BLOCK - 1) % depth
        if age >= BLOCK and (tick - age) % BLOCK == 0 and law.which[row] == law.which[last]:
            law.buffers[:] = 0.0
            add_product(law.buffers, law.leap[law.leap_of[law.which[row]]], law.error)
            add_times(law.buffers, -1.0, law.within[(tick - age) // BLOCK % law.within.shape[0]])
            copy1(law.buffers, law.error)
            age -= BLOCK
        else:
            go_a_period(law, law.error, row)
            age -= 1
        if age > 0:
            add_times(law.error, -1.0, law.mended[(tick - age) % depth])


@kernel
def go_a_period(law, error, row):
    """Propagate the error of a row's tick to the next tick."""
    nv, rate = law.rates.shape[0], law.rate
    rate[:] = 0.0
    add_product(rate, law.onward[law.which[row]], error)
    copy1(rate, error[nv:])
    add_times(error[:nv], law.goes.span, rate)


@kernel
def add_to_block(law, row):
    """Add the correction of a row to the sum of its block, and propagate the sum to the next tick."""
    total = law.within[law.ticks[0] // BLOCK % law.within.shape[0]]
    if law.ticks[0] % BLOCK == 0:
        total[:] = 0.0
    else:
        add_times(total, 1.0, law.mended[row])
        go_a_period(law, total, row)


@kernel
def difference(law, measurement, row):
    """Write the sensed state minus x̂ of a row into ``error``."""
    q, rates, error = measurement.q, measurement.motion.rates, law.error
    was, had, muscles, nv = law.past_q[row], law.past_rates[row], law.muscles, law.rates.shape[0]
    for axis in range(3):
        error[axis] = q[axis] - was[axis]
    turned = quat_difference((q[3], q[4], q[5], q[6]), (was[3], was[4], was[5], was[6]))
    error[3], error[4], error[5] = rotation_vector(turned)
    for k in range(muscles.dof.shape[0]):
        error[muscles.dof[k]] = q[muscles.coordinate[k]] - was[muscles.coordinate[k]]
    for dof in range(nv):
        error[nv + dof] = rates[dof] - had[dof]


@kernel
def displace(law, rates, span, q):
    """Integrate q with rates (nv,) over ``span``."""
    for axis in range(3):
        q[axis] += span * rates[axis]
    turn = quat_exp((span * rates[3], span * rates[4], span * rates[5]))
    q[3], q[4], q[5], q[6] = quat_mul(turn, (q[3], q[4], q[5], q[6]))
    for k in range(law.muscles.dof.shape[0]):
        q[law.muscles.coordinate[k]] += span * rates[law.muscles.dof[k]]


@kernel
def go_on(law, measurement):
    """Compute x̂ of the next tick from the commanded accelerations, and the propagation of errors."""
    q, rates, goes, depth = measurement.q, measurement.motion.rates, law.goes, law.past_q.shape[0]
    row, foot, half = law.ticks[0] % depth, swinging_foot(law.inner), 0.5 * law.goes.span
    tell_asked(law.inner, law.asked)
    copy1(q, law.past_q[row])
    copy1(rates, law.past_rates[row])
    share = 1.0 if foot < 0 and law.swings[0] >= 0 else goes.share  # a landing foot stops at once
    if foot != law.swings[0] or law.ticks[0] == 0 or has_changed(law, q):
        law.newest[0], law.since[0] = (law.newest[0] + 1) % depth, 0
        copy1(q, law.shape)
        hold_feet(goes, measurement, foot)
        propagate(goes, goes.pull[1 + foot], law.onward[law.newest[0]])
    law.which[row], law.swings[0] = law.newest[0], foot
    law.since[0] += 1
    if law.since[0] == BLOCK <= depth:
        law.leap_of[law.newest[0]] = law.leaps[0] % law.leap.shape[0]
        law.leaps[0] += 1
        double(goes, law.onward[law.newest[0]], law.leap[law.leap_of[law.newest[0]]])
    add_to_block(law, row)
    for when in range(2):  # the position by the rates at the middle of the period
        copy1(rates if when == 0 else law.rates, law.rate)
        add_times(law.rate, half, law.asked)
        law.rates[:] = 0.0
        add_product(law.rates, goes.allowed, law.rate)
        for i in range(rates.shape[0]):
            law.rates[i] = (1.0 - share) * law.rate[i] + share * law.rates[i]
        if when == 0:
            copy1(q, law.q)
            displace(law, law.rates, goes.span, law.q)
    law.ticks[0] += 1


@kernel
def has_changed(law, q):
    """Return True if the posture has changed since M and the feet's Jacobians were evaluated."""
    shape, muscles = law.shape, law.muscles
    _, x, y, z = quat_difference((q[3], q[4], q[5], q[6]), (shape[3], shape[4], shape[5], shape[6]))
    far = 2.0 * max(abs(x), abs(y), abs(z))
    for k in range(muscles.coordinate.shape[0]):
        far = max(far, abs(q[muscles.coordinate[k]] - shape[muscles.coordinate[k]]))
    return far > law.goes.alike


@routine
def hold_feet(goes, measurement, swings):
    """Compute P and the projector N with the stance feet held (J v = 0).

    With M = L Lᵀ, X = L⁻¹, Y = X Jᵀ and Yᵀ Y = C Cᵀ, Z = C⁻¹ Yᵀ X, P = Xᵀ X − Zᵀ Z and N = P M; M
    includes the muscles' implicit terms, as in the plant's steps. Sums go along rows.
    """
    tree, motion, nv, rows = measurement.tree, measurement.motion, goes.mass.shape[0], goes.compliance.shape[0]
    compose_mass_matrix(tree, motion, goes.mass)
    for i in range(nv):
        goes.mass[i, i] += goes.span * goes.drag[i]
        copy1(goes.mass[i], goes.factor[i])
        for k in range(nv):
            goes.inverse[i, k] = 1.0 if i == k else 0.0
    factor_hessian(goes.factor)
    for k in range(goes.foot.shape[0]):
        if k == swings:
            goes.jacobian[:] = 0.0
        else:
            i = goes.foot[k]
            point_jacobian(tree, motion.poses, i, load3(motion.poses.com, i), goes.jacobian)
        for axis in range(6):
            for i in range(nv):
                goes.hold[i, 6 * k + axis] = goes.jacobian[axis, i]
    solve_lower(goes.factor, goes.inverse)
    solve_lower(goes.factor, goes.hold)
    goes.compliance[:] = 0.0
    goes.reaction[:] = 0.0
    goes.free[:] = 0.0
    for i in range(nv):
        for r in range(rows):
            add_times(goes.compliance[r], goes.hold[i, r], goes.hold[i])
            add_times(goes.reaction[r], goes.hold[i, r], goes.inverse[i])
        for k in range(i + 1):
            add_times(goes.free[k], goes.inverse[i, k], goes.inverse[i])
    for r in range(rows):  # the swing foot is not held
        goes.compliance[r, r] = goes.compliance[r, r] * (1.0 + SOFT) if goes.compliance[r, r] > 0.0 else 1.0
    factor_hessian(goes.compliance)
    solve_lower(goes.compliance, goes.reaction)
    for r in range(rows):
        for k in range(nv):
            add_times(goes.free[k], -goes.reaction[r, k], goes.reaction[r])
    goes.allowed[:] = 0.0
    for k in range(nv):
        add_product(goes.allowed[k], goes.free, goes.mass[k])


@kernel
def solve_lower(factor, columns):
    """Replace the columns X by L⁻¹ X."""
    for i in range(columns.shape[0]):
        for k in range(i):
            add_times(columns[i], -factor[i, k], columns[k])
        for j in range(columns.shape[1]):
            columns[i, j] /= factor[i, i]


@kernel
def propagate(goes, pull, onward):
    """Compute Rᵀ of a period with the feet held and implicit muscles: ė' = P (M ė − h G e)."""
    nv = goes.mass.shape[0]
    onward[:] = 0.0
    for k in range(nv):
        add_product(onward[k], goes.free, pull[k])
        for i in range(nv):
            onward[k, i] *= -goes.span
        copy1(goes.allowed[k], onward[nv + k])
        add_times(onward[nv + k], -goes.span * goes.drag[k], goes.free[k])


@routine
def double(goes, onward, leap):
    """Compute (F^8)ᵀ by squaring F = (1 + h R_e, h R_ė; R_e, R_ė)."""
    nv = goes.mass.shape[0]
    for i in range(2 * nv):
        copy1(onward[i], leap[i, nv:])
        leap[i, :nv] = 0.0
        add_times(leap[i, :nv], goes.span, onward[i])
        if i < nv:
            leap[i, i] += 1.0
    for _ in range(DOUBLINGS):
        for i in range(2 * nv):
            copy1(leap[i], goes.double[i])
        leap[:] = 0.0
        for i in range(2 * nv):
            add_product(leap[i], goes.double, goes.double[i])


@control.register(ForwardModelLaw)
def forward_model_torques(law, measurement, torque, recorded):
    """Write the controller's torques for the predicted state, minus the muscles' passive torques there."""
    show_now(law, measurement)
    place_measured(measurement)
    feel_feet(law.inner, measurement)
    control(law.inner, measurement, torque, recorded)
    go_on(law, measurement)
    make_up_for_muscles(law.muscles, law.muscles.rest, measurement, torque)
