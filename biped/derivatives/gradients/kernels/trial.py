"""A trial forwards, noted step by step, and backwards: from the weights of its states to those of what it came from.

Forwards, the closed loop's own machine code takes the steps; a step that was taken in parts is gone through part by
part (``biped.derivatives.linearization.kernels.steps``). Where each began is noted, so that nothing has to be simulated
again. Backwards, each step is differentiated where it was, and the law by its tape.
"""

from typing import NamedTuple

import numpy as np

from biped.derivatives.gradients.kernels import equations
from biped.derivatives.gradients.kernels.step import Adjoint, new_adjoint, pull_back
from biped.derivatives.linearization.kernels import steps as linearized
from biped.derivatives.linearization.kernels.steps import SUBSTEPS as STEP_NUMBER
from biped.derivatives.tape.kernels import Tape, differentiate_tape, evaluate_tape
from biped.kernels.loop.closed_loop import ADVANCE, APPLY, MEASURE, NOBODY, NOT_SHOWN, SHOWN, Loop, World
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

#: What ``take_ticks`` gives back where there is no more room.
NO_ROOM = -102
#: What ``go_back_through`` gives back: another branch of the law was taken there; or torques that are not the law's.
OTHER_BRANCH = -103

# Places in ``Record.taken``.
SUBSTEPS, TICKS, AT_KINKS, CHANGED = range(4)
LEFT_AT = 4  # the tick whose law is to be gone back through, on the way back
TAKEN = 5

# How near to a switch, of its scale, a point counts as at a kink.
AT_KINK = 1e-6
# [N·m] as a part of the greatest by which a tape's torques may differ from those that were asked for.
SAME = 1e-9

# Places of the addresses of parts.
KEEP, KEEP_TICK, PLACE, PULL, ADD, PARTS = range(6)


class Addresses(NamedTuple):
    """Of parts that another one calls."""

    of: Integers


class Nearest(NamedTuple):
    """The nearest that each of some places came to each kink that it has."""

    switch: Floats  # (places, switches) what vanishes there
    at: Integers  # (places, switches) in which step
    scale: Floats  # (places, switches) by which it is near


def new_nearest(places: int, switches: int) -> Nearest:
    """None near yet."""
    shape = places, switches
    return Nearest(np.full(shape, np.inf), np.zeros(shape, np.int64), np.ones(shape))


class Record(NamedTuple):
    """A trial, noted: where each step began, what was held at each tick; and weights on the way back."""

    # Of each step, or part of one; q has a row more, of the end:
    q: Floats  # (steps + 1, nq)
    momentum: Floats  # (steps + 1, nv)
    mode: Integers  # (steps + 1, nc)
    anchor: Floats  # (steps + 1, nc, 2)
    down: Integers  # (steps + 1, nc) 1 where a point is in contact, or carried load in the step before
    span: Floats  # (steps, 2) [s] when it began, and how long it was
    # Of each tick; ``first`` has a row more, of the end:
    first: Integers  # (ticks + 1,) its first step
    time: Floats  # (ticks + 1,)
    asked: Floats  # (ticks, nv) what the law asked for
    held: Floats  # (ticks, nv) what the actuators gave
    taken: Integers  # (TAKEN,)
    # Backwards:
    weight: Adjoint
    of_q: Floats  # (ticks + 1, nv) weights of the states at ticks
    of_momentum: Floats  # (ticks + 1, nv)
    of_torque: Floats  # (ticks, nv) of what is held from tick to tick
    passes: Floats  # (ticks, nv) 1, or 0 where an actuator was at its limit
    share: Floats  # (3,) what a lag keeps of the last torques; ticks by which sensors are late; whether a law is asked
    numbers: Floats  # (numbers,) weights of what the law depends on
    multipliers: equations.Multipliers  # of the steps' equations, for those of other worlds
    impedance: Floats  # (3, nv) of the joints' stiffness, damping and rest
    asking: Floats  # (nv,) room
    nearest: Nearest  # of contact points
    nearest_joint: Nearest  # of degrees of freedom
    parts: Integers  # (PARTS,) addresses


def new_record(nq: int, nv: int, nc: int, steps: int, ticks: int, numbers: int, kept: int) -> Record:
    """Room for a trial of so many steps, parts included, and ticks, and for the multipliers of ``kept`` steps."""
    z = np.zeros
    whole = np.int64
    return Record(
        q=z((steps + 1, nq)), momentum=z((steps + 1, nv)), mode=z((steps + 1, nc), whole),
        anchor=z((steps + 1, nc, 2)), down=z((steps + 1, nc), whole), span=z((steps, 2)), first=z(ticks + 1, whole),
        time=z(ticks + 1), asking=z(nv), asked=z((ticks, nv)), held=z((ticks, nv)), taken=z(TAKEN, whole),
        weight=new_adjoint(nv, nc),
        of_q=z((ticks + 1, nv)), of_momentum=z((ticks + 1, nv)), of_torque=z((ticks, nv)), passes=np.ones((ticks, nv)),
        share=z(3), numbers=z(numbers), multipliers=equations.new_multipliers(nv, nc, kept), impedance=z((3, nv)),
        nearest=new_nearest(nc, SWITCHES), nearest_joint=new_nearest(nv, JOINT_SWITCHES), parts=z(PARTS, whole),
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
    """Note the step that was taken: when it began, and where it led."""
    row = R.taken[SUBSTEPS]
    if row < R.span.shape[0]:
        R.span[row, 0], R.span[row, 1] = begin, h
        R.taken[SUBSTEPS] = row + 1
        note_state(R, L.state, row + 1)
        return OK
    return NO_ROOM


@part
def keep_tick_part(R, L, world, begin):
    """Note what is held from here on."""
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
    """``ticks`` control ticks of ``period`` steps, all of them noted; OK, or why not.

    Args:
        R: the trial's ``Record``.
        L: the ``Linearized``.
        world: address of the loop's world.
        loop: of the loop's parts.
        asked: as for ``biped.kernels.loop.closed_loop.run_ticks``.
        law: likewise.
        ticks: how many.
        period: steps of each.
    """
    for _ in range(ticks):
        reason = call(loop.of[MEASURE], world, 0, NOT_SHOWN if asked == NOBODY else SHOWN)
        if reason != OK:
            return reason
        if asked != NOBODY:
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
    """What the equations of a step know of where it began, and where it ended."""
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
    """Let the world be in a step that was noted: what acts in it, and where it ends."""
    put_step(R, L, row)
    copy1(R.held[tick], L.before.torque)
    L.taken[STEP_NUMBER] = row  # where a step ends the next begins: that is a kink once
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
    """The weights of the state before the step, and how near it was to kinks."""
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
    """Weights of the impedance, which acts on a joint as its torque does, in the middle of the step."""
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
    """Whether the mode of a point changes behind a step."""
    if row < R.taken[SUBSTEPS] - 1:
        for c in range(R.mode.shape[1]):
            if R.mode[row, c] != R.mode[row + 1, c]:
                R.taken[CHANGED] += 1


@kernel
def note_kinks(R, nearest, switch, row):
    """How near each place is to each kink in a step."""
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
    """From the weights of what was held to those of what was asked for, and of what was held before."""
    weight, kept, last = R.weight, R.share[0], tick == 0
    for dof in range(weight.torque.shape[0]):
        given = R.passes[tick, dof] * (weight.torque[dof] + R.of_torque[tick, dof])
        R.asking[dof] = (1.0 - kept) * given
        weight.torque[dof] = 0.0 if last and kept == 0.0 else kept * given
    return OK


@part
def pull_law(R, tape, tick):
    """Let the weights of the torques be those of the state that the law was shown, by its tape."""
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
    """Whether the tape's torques are others than those that were asked for; also where they are no numbers."""
    most, apart = 0.0, 0.0
    for k in range(asked.shape[0]):
        place = tape.result[k]
        found = tape.value[place] if place >= 0 else 0.0
        if not abs(found) < 1e300:
            return True
        most, apart = max(most, abs(asked[k])), max(apart, abs(found - asked[k]))
    return apart > SAME * (1.0 + most)


@part
def add_state_weights(R, tick):
    """Add the weights that the state at a tick has by itself."""
    for k in range(R.asking.shape[0]):
        R.weight.q[k] += R.of_q[tick, k]
        R.weight.momentum[k] += R.of_momentum[tick, k]
    return OK


@part
def pull_tick(R, L, tick):
    """Back through the steps of a tick."""
    first, end = steps_of(R, tick)
    for row in range(end - 1, first - 1, -1):
        call(R.parts[PLACE], R, L, row, tick)
        call(L.parts[linearized.DIFFERENTIATE], L, R.span[row, 1])
        if not linearized.is_explained(L):
            return linearized.UNKNOWN_STEP
        call(R.parts[PULL], R, L, row, R.span[row, 1])
    return OK


# Places in the ``Addresses`` of ``go_back_through``.
TICK, TORQUES, LAW, STATES = range(4)


@part
def go_back_through(R, L, laws, addresses, tick, is_left):
    """Back from the state behind a tick, which is ``tick``, to the first; OK, or why not.

    Where another branch of the law was taken, it ends there, to be gone on with by another tape: with ``is_left`` 1,
    from the tick that it was left at.

    Args:
        R: the trial's.
        L: where the ``Linearized`` is.
        laws: the law's tape.
        addresses: of ``pull_tick``, ``pull_torques``, ``pull_law`` and ``add_state_weights``.
        tick: where to begin.
        is_left: whether its steps have been gone through.
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
    """The equations of a step that was noted, in the world that ``L`` is of."""
    equations.add_equations(R.multipliers, L, row, h)
    return OK


@part
def add_all(R, L, ticks):
    """Those of all steps of so many ticks."""
    for tick in range(ticks):
        first, end = steps_of(R, tick)
        for row in range(first, end):
            call(R.parts[PLACE], R, L, row, tick)
            call(R.parts[ADD], R, L, row, R.span[row, 1])
    return OK


class Trial:
    """A loop whose trials are noted, and gone back through: everything is compiled, or loaded, once it is made."""

    def __init__(self, loop: Loop, steps: int, ticks: int, tape: Tape, numbers: int, keeps: bool = False) -> None:
        state, parts = loop.world.state, loop.world.parts
        self.loop = loop
        kept = steps if keeps else 0
        self.record = new_record(len(state.q), len(state.momentum), len(state.mode), steps, ticks, numbers, kept)
        self._record, self._room = Packed(self.record), _room_in(loop.world)
        record, room, world = self._record, self._room, loop.packed
        room.value.parts[: linearized.STEP], room.value.parts[linearized.STEP] = (
            addresses(linearized.step_calls(room)),
            parts[ADVANCE],
        )
        self.record.parts[:] = addresses([
            (keep_part, record, room, 0.0, 0.0), (keep_tick_part, record, room, world, 0.0),
            (place_part, record, room, 0, 0), (pull_part, record, room, 0, 0.0), (add_part, record, room, 0, 0.0),
        ])  # fmt: skip
        law = pull_law, record, Packed(tape), 0
        backwards = (pull_tick, record, room, 0), (pull_torques, record, 0), law, (add_state_weights, record, 0)
        self._backwards = Packed(Addresses(addresses(backwards)))
        self._take = Entry(take_ticks, record, room, 0, Packed(Addresses(parts)), 0, 0, 0, 0)
        self._way_back(tape)
        self._equations_in(room)

    def take(self, ticks: int, period: int) -> int:
        """``ticks`` control ticks from where the world is, noted; OK, or why not."""
        self.record.taken[:] = 0
        loop = self.loop
        return self._take(loop.place, loop.asked, loop.law_address, ticks, period)

    def _way_back(self, tape: Tape) -> Entry:
        return Entry(go_back_through, self._record, self._room, Packed(tape), self._backwards, 0, 0)

    def go_back(self, tape: Tape, tick: int, is_left: bool) -> int:
        """Back from the state behind a tick to the first: OK, or why not."""
        return self._way_back(tape)(tick, int(is_left))

    def _equations_in(self, room: Packed) -> Entry:
        return Entry(add_all, self._record, room, 0)

    def equations_in(self, world: World) -> Floats:
        """(2 nv + 2 nc,) the sums of the steps' equations, weighted, in another world of the same kind.

        Needs a trial that ``keeps`` its multipliers, and that has been gone back through.
        """
        total = self.record.multipliers.total
        total[:] = 0.0
        self._equations_in(_room_in(world))(int(self.record.taken[TICKS]))
        return total.copy()


def _room_in(world: World) -> Packed:
    """Room for the steps of a world, whose variations nobody asks for."""
    return Packed(linearized.new_linearized(world, 1, np.zeros(0, dtype=np.int64), 1))
