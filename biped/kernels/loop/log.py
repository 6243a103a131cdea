"""The log of a run: rows of numbers and events, written into arrays that the caller empties."""

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
from biped.kernels.tree import dynamics
from biped.kernels.tree.closing import GAPS, Closing
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
TOUCH = 1  # a contact point landed; the subject is the point
LIFT = 2  # a contact point left the floor; the subject is the point
IMPACT = 3  # a projectile hit; the subject is the body
EVENT_WIDTH = 12  # time, kind, subject, impulse (3), position (3), relative velocity before (3)

# Indices of ``Log.cursor``.
ROWS = 0
EVENTS = 1
STRIDE = 2
OBSERVED = 3  # the step for which the rates are known
CURSORS = 4


#: The index of a section that a run does not have.
ABSENT = -1


class RowLayout(NamedTuple):
    """The first column of each section of a row, in order.

    ``biped.runs.row_layout`` lists the columns and computes these indices from the list.
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
    controller: int  # numbers of the controller
    integrator: int  # numbers of the integrator
    platform: int  # ``PoseColumns``; ABSENT for a floor at rest
    projectile: int  # ``PoseColumns``; ABSENT without a thrown box
    estimate: int  # configuration, then ``CaptureColumns``; ABSENT without a state estimator
    joints: int  # ``JointColumns``; ABSENT for a model without limits and bearings of joints


class ContactColumns(NamedTuple):
    """State at the end of the last step, mean ground reaction force in it, and position of a contact point."""

    mode: float
    fx: float
    fy: float
    fz: float
    x: float
    y: float
    z: float


class LedgerColumns(NamedTuple):
    """Present energies, works since the start, and the residual of their balance: the integrator's error; all [J]."""

    kinetic: float
    potential: float
    contact_stored: float
    actuators: float
    contacts: float
    dissipated: float
    pushes: float
    impacts: float
    platform: float  # work of a moving floor, a part of ``contacts``
    residual: float


class JointColumns(NamedTuple):
    """Energy stored in stops at present; work and dissipation of stops and bearings since the start; all [J]."""

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
    """Position [m] and unit quaternion."""

    x: float
    y: float
    z: float
    qw: float
    qx: float
    qy: float
    qz: float


class CaptureColumns(NamedTuple):
    """Estimated capture point (extrapolated centre of mass) and the standard deviations of its error [m]."""

    xcom_x: float
    xcom_y: float
    xcom_sd_x: float
    xcom_sd_y: float


class Log(NamedTuple):
    """Rows and events; ``cursor`` holds the used lengths of the arrays."""

    rows: Floats  # (capacity, width)
    events: Floats  # (capacity, EVENT_WIDTH)
    layout: RowLayout
    cursor: Integers  # (CURSORS,)
    down: Integers  # (nc,) 1 for contact points that were on the floor before the last step
    extra: Floats  # (k,) numbers that the controller records
    more: Any  # selects ``record_more``


class Both(NamedTuple):
    """Two parts of a method that are recorded one after the other."""

    first: Any
    second: Any


@generic("more")
def record_more(tree, state, scratch, more, row, place):
    """Write further numbers of the state and the last step to ``row`` from ``place`` on; return the next index."""


@record_more.register(Nothing)
def record_nothing(tree, state, scratch, more, row, place):
    return place


@record_more.register(Both)
def record_both(tree, state, scratch, more, row, place):
    place = record_more(tree, state, scratch, more.first, row, place)
    return record_more(tree, state, scratch, more.second, row, place)


@record_more.register(Closing)
def record_closing(tree, state, scratch, more, row, place):
    """Record the closing joints' wrenches in the last step, and the largest gaps since the last row.

    A wrench is the mean over the step of the impulses at both ends; it is zero before the first step of a run.
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
    """Return an empty log that takes a row every ``stride`` steps, filled with NaN to expose missing numbers.

    Without ``poison`` the arrays are not initialized, which is faster for large ones.
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
    """Compute velocities from momenta, once per state; ``motion`` shares its poses with the scratch of the step."""
    if log.cursor[OBSERVED] != state.counts[TOTAL_STEPS]:
        dynamics.rates_from_momentum(tree, state.momentum, motion)
        log.cursor[OBSERVED] = state.counts[TOTAL_STEPS]


@kernel
def is_full(log, steps):
    """Return True if the log may overflow within ``steps`` steps."""
    rows = log.cursor[ROWS] + steps // log.cursor[STRIDE] + 2
    events = log.cursor[EVENTS] + steps * (log.down.shape[0] + 2)
    return rows > log.rows.shape[0] or events > log.events.shape[0]


@kernel
def put(row, place, values):
    """Write a tuple to a row from ``place`` on."""
    for value in values:
        row[place] = value
        place += 1


@kernel
def record_row(tree, ground, state, motion, log, time):
    """Append a row, without the columns of ``record_more``, a moving floor and a projectile."""
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
    """Write the present torques of the actuators: the held ones, and the impedance at the present angle and rate."""
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
    for c in range(state.contact_state.shape[0]):
        fx, fy, fz = load3(state.force, c)
        x, y, z = add(origin, load3(motion.poses.contact, c))
        point = ContactColumns(float(state.contact_state[c]), fx, fy, fz, x, y, z)
        put(row, place + c * len(point), point)


@kernel
def energies(tree, ground, state, motion):
    """Return kinetic, potential and stored contact energy [J]; needs ``motion.velocity``."""
    stored = 0.0
    origin = reference_point(tree, state.q)
    for c in range(state.mode.shape[0]):
        if state.mode[c] != NONE:
            anchor = (state.anchor[c, 0], state.anchor[c, 1])
            at = to_floor(ground, START, add(origin, load3(motion.poses.contact, c)))
            stored += stored_energy(law_at(ground, c), state.mode[c], at, anchor)
    return dynamics.kinetic_energy(tree, motion), dynamics.potential_energy(tree, motion.poses, origin), stored


@kernel
def record_ledger(tree, ground, state, motion, row, place):
    kinetic, potential, stored = energies(tree, ground, state, motion)
    ledger = state.ledger.works
    # The work of contacts includes the energy in their springs and their dissipation.
    works = ledger[ACTUATORS] + ledger[CONTACT] + ledger[PUSHES] + ledger[IMPACTS] + ledger[JOINTS]
    entries = LedgerColumns(
        kinetic, potential, stored, ledger[ACTUATORS], ledger[CONTACT], ledger[DISSIPATED], ledger[PUSHES],
        ledger[IMPACTS], ledger[PLATFORM], kinetic + potential - ledger[AT_START] - works,
    )  # fmt: skip
    put(row, place, entries)


@kernel
def record_momenta(tree, state, motion, row, layout):
    """Write linear momentum, angular momentum about the whole tree's centre of mass, and that centre."""
    linear, angular = dynamics.momentum_about_reference(tree, motion)
    com = dynamics.centre_of_mass(tree, motion.poses)
    put(row, layout.momentum, linear + sub(angular, cross(com, linear)))
    put(row, layout.com, add(com, reference_point(tree, state.q)))


@kernel
def log_contact_changes(state, log, time):
    """Log an event for every contact point that landed or left the floor in the last step."""
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
