"""The forward and the backward pass of a trial.

In the forward pass the machine code of the closed loop takes the steps; a step in parts is repeated part by part
(``biped.derivatives.linearization.kernels.steps``). The start of each is recorded, so that nothing has to be simulated
again. In the backward pass each step is differentiated at its recorded state, and the law by its tape.
"""

from typing import NamedTuple

import numpy as np

from biped.derivatives.gradients.kernels import equations
from biped.derivatives.gradients.kernels.step import Adjoint, new_adjoint, pull_back
from biped.derivatives.linearization.kernels import steps as linearized
from biped.derivatives.linearization.kernels.steps import SUBSTEPS as STEP_NUMBER
from biped.derivatives.tape.kernels import Tape, differentiate_tape, evaluate_tape
from biped.kernels.loop.closed_loop import ADVANCE, APPLY, MEASURE, NOT_ASKED, NOT_SHOWN, SHOWN, Loop, World
from biped.kernels.state.pushes import set_push_impulses
from biped.kernels.state.simulation_state import STEP_LENGTH
from biped.kernels.state.status import OK
from biped.kernels.step.step import prepare, time_of
from biped.kernels.variational.equations import reference_point
from biped.kernels.variational.joints import JOINT_SWITCHES
from biped.kernels.variational.newton import place_push
from contact.arrays import Floats, Integers
from contact.ground import begin_ground
from contact.modes import NONE
from contact.regimes import SWITCHES
from contact.vectors import copy1
from kernelcache import Entry, Packed, addresses, call, kernel, part

#: Return value of ``take_ticks`` when the record is full.
FULL = -102
#: Return value of ``go_back_through``: the law took another branch at this tick, or the torques are not the law's.
OTHER_BRANCH = -103

# Indices of ``Record.taken``.
SUBSTEPS, TICKS, AT_KINKS, CHANGED = range(4)
LEFT_AT = 4  # the tick at which the backward pass was interrupted, before its law
TAKEN = 5

# Distance from a switch relative to its scale below which a point is at a kink.
AT_KINK = 1e-6
# Allowed difference of a tape's torques from the recorded demand, relative to the greatest torque.
SAME = 1e-9

# Indices of the addresses of parts.
KEEP, KEEP_TICK, PLACE, PULL, ADD, PARTS = range(6)


class Addresses(NamedTuple):
    """Addresses of parts that another part calls."""

    of: Integers


class Nearest(NamedTuple):
    """The smallest distances of points or joints from their kinks."""

    switch: Floats  # (places, switches) quantity that vanishes at the kink
    at: Integers  # (places, switches) step
    scale: Floats  # (places, switches) scale of the quantity


def new_nearest(places: int, switches: int) -> Nearest:
    """Return infinite distances."""
    shape = places, switches
    return Nearest(np.full(shape, np.inf), np.zeros(shape, np.int64), np.ones(shape))


class Record(NamedTuple):
    """The record of a trial: start of each step, torques of each tick, and weights of the backward pass."""

    # By step, or part of one; states have a further row for the end:
    q: Floats  # (steps + 1, nq)
    momentum: Floats  # (steps + 1, nv)
    mode: Integers  # (steps + 1, nc)
    anchor: Floats  # (steps + 1, nc, 2)
    down: Integers  # (steps + 1, nc) 1 where a point is in contact, or carried load in the step before
    span: Floats  # (steps, 2) [s] start and length
    # By tick; ``first`` and ``time`` have a further row for the end:
    first: Integers  # (ticks + 1,) first step of the tick
    time: Floats  # (ticks + 1,)
    asked: Floats  # (ticks, nv) torques demanded by the law
    held: Floats  # (ticks, nv) torques of the actuators
    taken: Integers  # (TAKEN,)
    # Backward pass:
    weight: Adjoint
    of_q: Floats  # (ticks + 1, nv) weights of the states at ticks
    of_momentum: Floats  # (ticks + 1, nv)
    of_torque: Floats  # (ticks, nv) weights of the torques held from tick to tick
    passes: Floats  # (ticks, nv) 1, or 0 where an actuator was at its limit
    share: Floats  # (3,) share of the last torques that a lag keeps, sensor delay in ticks, 1 if there is a law
    numbers: Floats  # (numbers,) weights of the law's numbers
    multipliers: equations.Multipliers  # multipliers of the steps' equations, for other worlds
    impedance: Floats  # (3, nv) weights of the joints' stiffness, damping and rest angles
    asking: Floats  # (nv,) buffer
    nearest: Nearest  # distances of contact points
    nearest_joint: Nearest  # distances of degrees of freedom
    parts: Integers  # (PARTS,) addresses


def new_record(nq: int, nv: int, nc: int, steps: int, ticks: int, numbers: int, kept: int) -> Record:
    """Return a record for numbers of steps (parts included) and ticks, with the multipliers of ``kept`` steps."""
    z = np.zeros
    integer = np.int64
    return Record(
        q=z((steps + 1, nq)), momentum=z((steps + 1, nv)), mode=z((steps + 1, nc), integer),
        anchor=z((steps + 1, nc, 2)), down=z((steps + 1, nc), integer), span=z((steps, 2)), first=z(ticks + 1, integer),
        time=z(ticks + 1), asking=z(nv), asked=z((ticks, nv)), held=z((ticks, nv)), taken=z(TAKEN, integer),
        weight=new_adjoint(nv, nc),
        of_q=z((ticks + 1, nv)), of_momentum=z((ticks + 1, nv)), of_torque=z((ticks, nv)), passes=np.ones((ticks, nv)),
        share=z(3), numbers=z(numbers), multipliers=equations.new_multipliers(nv, nc, kept), impedance=z((3, nv)),
        nearest=new_nearest(nc, SWITCHES), nearest_joint=new_nearest(nv, JOINT_SWITCHES), parts=z(PARTS, integer),
    )  # fmt: skip


# --- forwards ---


@kernel
def note_state(R, state, row):
    copy1(state.q, R.q[row])
    copy1(state.momentum, R.momentum[row])
    copy1(state.mode, R.mode[row])
    for c in range(state.mode.shape[0]):
        copy1(state.anchor[c], R.anchor[row, c])
        R.down[row, c] = 1 if state.mode[c] != NONE or state.force[c, 2] > 0.0 else 0


@part
def keep_part(R, L, begin, h):
    """Record the last step: its span, and the state at its end."""
    row = R.taken[SUBSTEPS]
    if row < R.span.shape[0]:
        R.span[row, 0], R.span[row, 1] = begin, h
        R.taken[SUBSTEPS] = row + 1
        note_state(R, L.state, row + 1)
        return OK
    return FULL


@part
def keep_tick_part(R, L, world, begin):
    """Record the torques held from this tick on."""
    tick = R.taken[TICKS]
    R.first[tick], R.time[tick] = R.taken[SUBSTEPS], begin
    if R.taken[SUBSTEPS] == 0:
        note_state(R, L.state, 0)
    if tick < R.asked.shape[0]:
        copy1(world.torque, R.asked[tick])
        copy1(L.state.torque, R.held[tick])
    return OK


@kernel
def count_tick(R):
    R.taken[TICKS] += 1
    R.first[R.taken[TICKS]] = R.taken[SUBSTEPS]


@part
def take_ticks(R, L, world, loop, asked, law, ticks, period):
    """Run and record ``ticks`` control ticks of ``period`` steps; return OK or a reason to stop.

    Args:
        R: the trial's ``Record``.
        L: the ``Linearized``.
        world: address of the loop's world.
        loop: addresses of the loop's parts.
        asked: address of ``ask`` or NOT_ASKED, as in ``biped.kernels.loop.closed_loop.run_ticks``.
        law: address of the law.
        ticks: number of ticks.
        period: steps of each tick.
    """
    for _ in range(ticks):
        reason = call(loop.of[MEASURE], world, 0, NOT_SHOWN if asked == NOT_ASKED else SHOWN)
        if reason != OK:
            return reason
        if asked != NOT_ASKED:
            call(asked, law, world)
            call(loop.of[APPLY], world)
        call(R.parts[KEEP_TICK], R, L, world, time_of(L.state))
        for _ in range(period):
            begin, h = time_of(L.state), L.state.clock[STEP_LENGTH]
            reason = call(L.parts[linearized.TAKE_STEP], L, world, R.parts[KEEP], R, begin, h)
            if reason != OK:
                return reason
        count_tick(R)
    call(R.parts[KEEP_TICK], R, L, world, time_of(L.state))
    return OK


# --- backwards ---


@kernel
def put_step(R, L, row):
    """Set the start and the end of a recorded step, as its equations need them."""
    before = L.before
    copy1(R.q[row], before.q)
    copy1(R.momentum[row], before.momentum)
    copy1(R.mode[row], before.mode)
    for c in range(before.mode.shape[0]):
        copy1(R.anchor[row, c], before.anchor[c])
    copy1(L.state.stiffness, before.stiffness)
    copy1(L.state.damping, before.damping)
    copy1(L.state.setpoint, before.setpoint)
    copy1(R.q[row + 1], L.state.q)
    copy1(R.momentum[row + 1], L.state.momentum)


@part
def place_part(R, L, row, tick):
    """Set the world to a recorded step, with its forces and its end."""
    put_step(R, L, row)
    copy1(R.held[tick], L.before.torque)
    L.taken[STEP_NUMBER] = row  # the end of a step is the start of the next: it counts as a kink once
    begin, h = R.span[row, 0], R.span[row, 1]
    prepare(L.tree, L.before, L.scratch)
    if L.pushes.body.shape[0] > 0:
        set_push_impulses(L.pushes, begin, begin + h)
        for j in range(L.pushes.body.shape[0]):
            place_push(L.scratch.motion.poses, L.pushes, j, L.pushes.left)
    begin_ground(L.ground, reference_point(L.tree, L.before.q), L.scratch.motion.poses.contact, begin, begin + h)
    return OK


@part
def pull_part(R, L, row, h):
    """Set the weights of the state before the step, and record its distances from kinks."""
    for dof in range(R.asking.shape[0]):
        R.asking[dof] = R.weight.torque[dof]
    equations.keep_weights(R.multipliers, R.weight, L.derivative.points, row)
    pull_back(L.tree, L.scratch, L.derivative, R.weight, h)
    equations.keep_multipliers(R.multipliers, R.weight, row)
    pull_impedance(L.tree, L.before, L.state.q, R, h)
    note_changes(R, row)
    note_kinks(R, R.nearest, L.derivative.points.switch, row)
    if L.tree.passive.shape[0] > 0:
        note_kinks(R, R.nearest_joint, L.derivative.joints.switch, row)
    return OK


@kernel
def pull_impedance(tree, before, end_q, R, h):
    """Add the weights of the impedance, which acts on a joint like its torque, in the middle of the step."""
    for i in range(tree.parent.shape[0]):
        if tree.dofs[i] == 1:
            dof, a = tree.first_v[i], tree.first_q[i]
            weight = R.weight.torque[dof] - R.asking[dof]  # that of the torque in this step
            change = end_q[a] - before.q[a]
            R.impedance[0, dof] -= weight * (before.q[a] + 0.5 * change - before.setpoint[dof])
            R.impedance[1, dof] -= weight * change / h
            R.impedance[2, dof] += weight * before.stiffness[dof]


@kernel
def note_changes(R, row):
    """Count the changes of contact modes after a step."""
    if row < R.taken[SUBSTEPS] - 1:
        for c in range(R.mode.shape[1]):
            if R.mode[row, c] != R.mode[row + 1, c]:
                R.taken[CHANGED] += 1


@kernel
def note_kinks(R, nearest, switch, row):
    """Update the distances from kinks by those of a step."""
    for c in range(switch.shape[0]):
        for k in range(switch.shape[1]):
            size = abs(switch[c, k])
            if size < nearest.switch[c, k]:
                nearest.switch[c, k], nearest.at[c, k] = size, row
            if size < AT_KINK * nearest.scale[c, k]:
                R.taken[AT_KINKS] += 1


@kernel
def steps_of(R, tick):
    first = R.first
    return first[tick], first[tick + 1]


@part
def pull_torques(R, tick):
    """Change the weights of held torques to those of the demand, and of the torques held before."""
    weight, kept, last = R.weight, R.share[0], tick == 0
    for dof in range(weight.torque.shape[0]):
        given = R.passes[tick, dof] * (weight.torque[dof] + R.of_torque[tick, dof])
        R.asking[dof] = (1.0 - kept) * given
        weight.torque[dof] = 0.0 if last and kept == 0.0 else kept * given
    return OK


@part
def pull_law(R, tape, tick):
    """Add the weights of the torques to those of the law's measured state and numbers, by its tape."""
    shown = max(tick - int(R.share[1]), 0)
    row, nq, nv = R.first[shown], R.q.shape[1], R.asking.shape[0]
    for k in range(nq):
        tape.value[k] = R.q[row, k]
    for k in range(nv):
        tape.value[nq + k] = 0.0
        tape.value[nq + nv + k] = R.momentum[row, k]
    if not evaluate_tape(tape) or differs(tape, R.asked[tick]):
        return OTHER_BRANCH
    differentiate_tape(tape, R.asking)
    for k in range(nv):
        R.of_q[shown, k] += tape.gradient[nq + k]
        R.of_momentum[shown, k] += tape.gradient[nq + nv + k]
    for k in range(R.numbers.shape[0]):
        R.numbers[k] += tape.gradient[nq + 2 * nv + k]
    return OK


@kernel
def differs(tape, asked):
    """Return True if the tape's torques differ from the recorded demand, or are not finite."""
    most, apart = 0.0, 0.0
    for k in range(asked.shape[0]):
        place = tape.result[k]
        torque = tape.value[place] if place >= 0 else 0.0
        if not abs(torque) < 1e300:
            return True
        most, apart = max(most, abs(asked[k])), max(apart, abs(torque - asked[k]))
    return apart > SAME * (1.0 + most)


@part
def add_state_weights(R, tick):
    """Add the direct weights of the state at a tick."""
    for k in range(R.asking.shape[0]):
        R.weight.q[k] += R.of_q[tick, k]
        R.weight.momentum[k] += R.of_momentum[tick, k]
    return OK


@part
def pull_tick(R, L, tick):
    """Go backward through the steps of a tick."""
    first, end = steps_of(R, tick)
    for row in range(end - 1, first - 1, -1):
        call(R.parts[PLACE], R, L, row, tick)
        call(L.parts[linearized.DIFFERENTIATE], L, R.span[row, 1])
        if not linearized.is_explained(L):
            return linearized.UNKNOWN_STEP
        call(R.parts[PULL], R, L, row, R.span[row, 1])
    return OK


# Indices in the ``Addresses`` of ``go_back_through``.
TICK, TORQUES, LAW, STATES = range(4)


@part
def go_back_through(R, L, laws, addresses, tick, is_left):
    """Go backward from the state after ``tick`` to the first tick; return OK or a reason to stop.

    At another branch of the law it stops, and can be continued with another tape from the tick ``LEFT_AT``, with
    ``is_left`` 1.

    Args:
        R: the trial's ``Record``.
        L: address of the ``Linearized``.
        laws: the law's tape.
        addresses: addresses of ``pull_tick``, ``pull_torques``, ``pull_law`` and ``add_state_weights``.
        tick: first tick of the backward pass.
        is_left: 1 if the steps of this tick are done.
    """
    while tick >= 0:
        if not is_left:
            reason = call(addresses.of[TICK], R, L, tick)
            if reason != OK:
                return reason
            call(addresses.of[TORQUES], R, tick)
        if R.share[2] == 1.0:
            reason = call(addresses.of[LAW], R, laws, tick)
            if reason != OK:
                R.taken[LEFT_AT] = tick
                return reason
        call(addresses.of[STATES], R, tick)
        is_left = 0
        tick -= 1
    return OK


# --- in other worlds ---


@part
def add_part(R, L, row, h):
    """Add the equations of a recorded step in the world of ``L``."""
    equations.add_equations(R.multipliers, L, row, h)
    return OK


@part
def add_all(R, L, ticks):
    """Add the equations of all steps of a number of ticks."""
    for tick in range(ticks):
        first, end = steps_of(R, tick)
        for row in range(first, end):
            call(R.parts[PLACE], R, L, row, tick)
            call(R.parts[ADD], R, L, row, R.span[row, 1])
    return OK


class Trial:
    """A loop with recorded trials and backward passes; the constructor compiles or loads all kernels."""

    def __init__(self, loop: Loop, steps: int, ticks: int, tape: Tape, numbers: int, keeps: bool = False) -> None:
        state, parts = loop.world.state, loop.world.parts
        self.loop = loop
        kept = steps if keeps else 0
        self.record = new_record(len(state.q), len(state.momentum), len(state.mode), steps, ticks, numbers, kept)
        self._record, self._buffers = Packed(self.record), _buffers_in(loop.world)
        record, buffers, world = self._record, self._buffers, loop.packed
        buffers.value.parts[: linearized.STEP], buffers.value.parts[linearized.STEP] = (
            addresses(linearized.step_calls(buffers)),
            parts[ADVANCE],
        )
        self.record.parts[:] = addresses([
            (keep_part, record, buffers, 0.0, 0.0), (keep_tick_part, record, buffers, world, 0.0),
            (place_part, record, buffers, 0, 0), (pull_part, record, buffers, 0, 0.0),
            (add_part, record, buffers, 0, 0.0),
        ])  # fmt: skip
        law = pull_law, record, Packed(tape), 0
        backwards = (pull_tick, record, buffers, 0), (pull_torques, record, 0), law, (add_state_weights, record, 0)
        self._backwards = Packed(Addresses(addresses(backwards)))
        self._take = Entry(take_ticks, record, buffers, 0, Packed(Addresses(parts)), 0, 0, 0, 0)
        self._way_back(tape)
        self._equations_in(buffers)

    def take(self, ticks: int, period: int) -> int:
        """Run and record ``ticks`` control ticks from the present state; return OK or a reason to stop."""
        self.record.taken[:] = 0
        loop = self.loop
        return self._take(loop.place, loop.asked, loop.law_address, ticks, period)

    def _way_back(self, tape: Tape) -> Entry:
        return Entry(go_back_through, self._record, self._buffers, Packed(tape), self._backwards, 0, 0)

    def go_back(self, tape: Tape, tick: int, is_left: bool) -> int:
        """Go backward from the state after a tick to the first; return OK or a reason to stop."""
        return self._way_back(tape)(tick, int(is_left))

    def _equations_in(self, buffers: Packed) -> Entry:
        return Entry(add_all, self._record, buffers, 0)

    def equations_in(self, world: World) -> Floats:
        """Return the weighted sums (2 nv + 2 nc,) of the steps' equations in another world of the same kind.

        Needs a trial that ``keeps`` its multipliers, after its backward pass.
        """
        total = self.record.multipliers.total
        total[:] = 0.0
        self._equations_in(_buffers_in(world))(int(self.record.taken[TICKS]))
        return total.copy()


def _buffers_in(world: World) -> Packed:
    """Return buffers for the steps of a world, without variations."""
    return Packed(linearized.new_linearized(world, 1, np.zeros(0, dtype=np.int64), 1))
