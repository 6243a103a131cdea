"""What a run leaves behind: rows of numbers and events, written into arrays that the caller drains."""

from typing import Any, NamedTuple

import numpy as np

from biped.kernels.loop.measurement import demanded_torque
from biped.kernels.state.simulation_state import (
    ACTUATORS,
    CONTACT,
    DISSIPATED,
    IMPACTS,
    JOINTS,
    JOINTS_DISSIPATED,
    LAST_STEP_LENGTH,
    PLATFORM,
    PUSHES,
    RECENT_ITERATIONS,
    TOTAL_STEPS,
)
from biped.kernels.state.simulation_state import START as AT_START
from biped.kernels.tree.closing import GAPS, Closing
from biped.kernels.tree.dynamics import (
    centre_of_mass,
    kinetic_energy,
    momentum_about_reference,
    potential_energy,
    rates_from_momentum,
)
from biped.kernels.tree.kinematics import move_bodies
from biped.kernels.variational.equations import reference_point
from biped.kernels.variational.joints import stop_energy, within_effort
from contact.arrays import Floats, Integers
from contact.ground import START, begin_ground, law_at, to_floor
from contact.modes import NONE
from contact.point_law import stored_energy
from contact.vectors import add, copy1, cross, load3, sub
from kernelcache import Nothing, generic, kernel

# Kinds of events.
TOUCH = 1  # a contact point came down: subject is the point
LIFT = 2  # a contact point left the floor
IMPACT = 3  # a projectile hit: subject is the body that was hit
EVENT_WIDTH = 12  # time, kind, subject, impulse (3), place (3), relative velocity before (3)

# Places in ``Log.cursor``.
ROWS = 0
EVENTS = 1
STRIDE = 2
OBSERVED = 3  # the step for which the rates are known
CURSORS = 4


#: The place of a section that a run does not have.
ABSENT = -1


class RowLayout(NamedTuple):
    """The sections of a row in their order, and where each begins.

    ``biped.runs.row_layout`` lists their columns, and computes the places from that list.
    """

    time: int
    configuration: int
    velocity: int
    torque: int
    contacts: int  # a ``ContactColumns`` for each point
    ledger: int  # ``LedgerColumns``
    momentum: int  # ``MomentumColumns``, angular about the centre of mass
    com: int
    defect: int  # ``MomentumColumns``
    iterations: int
    controller: int  # what the controller records
    integrator: int  # what the integrator records
    platform: int  # ``PoseColumns``; ABSENT of a floor at rest
    projectile: int  # ``PoseColumns``; ABSENT where none is thrown
    joints: int  # ``JointColumns``; ABSENT of a model whose joints have neither limits nor bearings


class ContactColumns(NamedTuple):
    """The state found at the end of the last step, the floor's mean force in it, and where the point is."""

    mode: float
    fx: float
    fy: float
    fz: float
    x: float
    y: float
    z: float


class LedgerColumns(NamedTuple):
    """[J] Energies now, works since the start, and what is left over: the integrator's own energy error."""

    kinetic: float
    potential: float
    contact_stored: float
    actuators: float
    contacts: float
    dissipated: float
    pushes: float
    impacts: float
    platform: float  # a part of ``contacts``
    residual: float


class JointColumns(NamedTuple):
    """[J] What stops store now, and since the start the work of stops and bearings, and what they lost of it."""

    stops_stored: float
    joints: float
    joints_dissipated: float


class MomentumColumns(NamedTuple):
    """Linear [N·s] and angular [N·m·s] momentum."""

    px: float
    py: float
    pz: float
    lx: float
    ly: float
    lz: float


class PoseColumns(NamedTuple):
    """A place [m] and a unit quaternion."""

    x: float
    y: float
    z: float
    qw: float
    qx: float
    qy: float
    qz: float


class Log(NamedTuple):
    """Rows and events; ``cursor`` says how much of the arrays is used."""

    rows: Floats  # (capacity, width)
    events: Floats  # (capacity, EVENT_WIDTH)
    layout: RowLayout
    cursor: Integers  # (CURSORS,)
    down: Integers  # (nc,) which contact points were on the floor
    extra: Floats  # (k,) numbers that the controller wants recorded
    more: Any  # what else is recorded: chooses ``record_more``


class Both(NamedTuple):
    """One thing is recorded, and another after it."""

    first: Any
    second: Any


@generic("more")
def record_more(tree, state, scratch, more, row, place):
    """Write what else there is of the present state and the step before it, from ``place`` on; the place after it."""


@record_more.register(Nothing)
def record_nothing(tree, state, scratch, more, row, place):
    return place


@record_more.register(Both)
def record_both(tree, state, scratch, more, row, place):
    place = record_more(tree, state, scratch, more.first, row, place)
    return record_more(tree, state, scratch, more.second, row, place)


@record_more.register(Closing)
def record_closing(tree, state, scratch, more, row, place):
    """The closing joints' wrenches of the step just taken, and the worst gaps since the last row.

    A wrench is the mean over the step of the impulses at both ends. Zeros where this run has taken no step yet.
    """
    rate = 1.0 / state.clock[LAST_STEP_LENGTH]
    for j in range(more.start.shape[0]):
        for k in range(6):
            row[place + k] = rate * (more.start[j, k] + more.end[j, k])
        place += 6
    for kind in range(GAPS):
        row[place + kind] = more.worst[kind]
        more.worst[kind] = 0.0
    return place + GAPS


def new_log(
    rows: int,
    width: int,
    layout: RowLayout,
    events: int,
    nc: int,
    extra: int,
    stride: int,
    more: Any,
    poison: bool = True,
) -> Log:
    """An empty log that takes a row every ``stride`` steps; filled with NaN, so that what is not written shows.

    Without ``poison`` it is as the memory was: a large one is faster to get.
    """
    cursor = np.zeros(CURSORS, dtype=np.int64)
    cursor[STRIDE] = stride
    cursor[OBSERVED] = -1
    return Log(
        np.full((rows, width), np.nan) if poison else np.empty((rows, width)),
        np.full((events, EVENT_WIDTH), np.nan) if poison else np.empty((events, EVENT_WIDTH)),
        layout,
        cursor,
        np.zeros(nc, dtype=np.int64),
        np.full(extra, np.nan),
        more,
    )


@kernel
def observe(tree, state, motion, log):
    """Velocities from momenta, once for a state; ``motion`` shares its poses with the workspace of the step."""
    if log.cursor[OBSERVED] != state.counts[TOTAL_STEPS]:
        rates_from_momentum(tree, state.momentum, motion)
        log.cursor[OBSERVED] = state.counts[TOTAL_STEPS]


@kernel
def is_full(log, steps):
    """Whether the log may run over within so many steps."""
    rows = log.cursor[ROWS] + steps // log.cursor[STRIDE] + 2
    events = log.cursor[EVENTS] + steps * (log.down.shape[0] + 2)
    return rows > log.rows.shape[0] or events > log.events.shape[0]


@kernel
def put(row, place, values):
    """Write a tuple into a row, from ``place`` on."""
    for value in values:
        row[place] = value
        place += 1


@kernel
def record_row(tree, ground, state, motion, log, time):
    """Append a row with all but what ``record_more`` and a moving floor or projectile have to add."""
    begin_ground(ground, reference_point(tree, state.q), motion.poses.contact, time, time)
    row, layout = log.rows[log.cursor[ROWS]], log.layout
    row[layout.time] = time
    copy1(state.q, row[layout.configuration :])
    copy1(motion.rates, row[layout.velocity :])
    record_torques(tree, state, motion, row, layout.torque)
    record_contacts(tree, state, motion, row, layout.contacts)
    move_bodies(tree, motion.poses, motion.rates, motion.velocity, motion.bias)
    record_ledger(tree, ground, state, motion, row, layout.ledger)
    record_momenta(tree, state, motion, row, layout)
    copy1(state.ledger.defect, row[layout.defect :])
    row[layout.iterations] = state.counts[RECENT_ITERATIONS]
    state.counts[RECENT_ITERATIONS] = 0
    copy1(log.extra, row[layout.controller :])
    if layout.joints != ABSENT:
        record_joints(tree, state, row, layout.joints)
    log.cursor[ROWS] += 1


@kernel
def record_torques(tree, state, motion, row, place):
    """What the actuators exert now: the held torque, and the impedance at the present angle and rate."""
    for i in range(tree.parent.shape[0]):
        for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
            torque = state.torque[dof]
            if tree.dofs[i] == 1:
                torque = demanded_torque(state, motion.rates, dof, tree.first_q[i])
                if tree.passive.shape[0] > 0:
                    torque = within_effort(tree.passive, i, torque)
            row[place + dof] = torque


@kernel
def record_joints(tree, state, row, place):
    stored = 0.0
    for i in range(tree.passive.shape[0]):
        if tree.dofs[i] == 1:
            stored += stop_energy(tree, i, state.q[tree.first_q[i]])
    put(row, place, JointColumns(stored, state.ledger.works[JOINTS], state.ledger.works[JOINTS_DISSIPATED]))


@kernel
def record_contacts(tree, state, motion, row, place):
    origin = reference_point(tree, state.q)
    for c in range(state.found.shape[0]):
        fx, fy, fz = load3(state.force, c)
        x, y, z = add(origin, load3(motion.poses.contact, c))
        point = ContactColumns(float(state.found[c]), fx, fy, fz, x, y, z)
        put(row, place + c * len(point), point)


@kernel
def energies(tree, ground, state, motion):
    """Kinetic, potential and stored contact energy [J]; needs ``motion.velocity``."""
    stored = 0.0
    origin = reference_point(tree, state.q)
    for c in range(state.mode.shape[0]):
        if state.mode[c] != NONE:
            anchor = (state.anchor[c, 0], state.anchor[c, 1])
            at = to_floor(ground, START, add(origin, load3(motion.poses.contact, c)))
            stored += stored_energy(law_at(ground, c), state.mode[c], at, anchor)
    return kinetic_energy(tree, motion), potential_energy(tree, motion.poses, origin), stored


@kernel
def record_ledger(tree, ground, state, motion, row, place):
    kinetic, potential, stored = energies(tree, ground, state, motion)
    ledger = state.ledger.works
    # Contact work is what its springs store and what it dissipates: it enters once.
    works = ledger[ACTUATORS] + ledger[CONTACT] + ledger[PUSHES] + ledger[IMPACTS] + ledger[JOINTS]
    entries = LedgerColumns(
        kinetic,
        potential,
        stored,
        ledger[ACTUATORS],
        ledger[CONTACT],
        ledger[DISSIPATED],
        ledger[PUSHES],
        ledger[IMPACTS],
        ledger[PLATFORM],
        kinetic + potential - ledger[AT_START] - works,
    )
    put(row, place, entries)


@kernel
def record_momenta(tree, state, motion, row, layout):
    """Linear momentum, angular momentum about the whole tree's centre of mass, and the centre itself."""
    linear, angular = momentum_about_reference(tree, motion)
    com = centre_of_mass(tree, motion.poses)
    put(row, layout.momentum, linear + sub(angular, cross(com, linear)))
    put(row, layout.com, add(com, reference_point(tree, state.q)))


@kernel
def log_contact_changes(state, log, time):
    """An event for every contact point that came down or left the floor in the last step."""
    for c in range(state.mode.shape[0]):
        down = 0 if state.mode[c] == NONE else 1
        if down != log.down[c]:
            log.down[c] = down
            kind = TOUCH if down == 1 else LIFT
            nothing = (0.0, 0.0, 0.0)
            log_event(log, time, kind, c, nothing, nothing, nothing)


@kernel
def log_event(log, time, kind, subject, impulse, place, velocity):
    event = log.events[log.cursor[EVENTS]]
    event[0], event[1], event[2] = time, kind, subject
    put(event, 3, impulse)
    put(event, 6, place)
    put(event, 9, velocity)
    log.cursor[EVENTS] += 1
