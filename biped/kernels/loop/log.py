"""What a run leaves behind: rows of numbers and events, written into arrays that the caller drains."""

from typing import Any, NamedTuple

import numpy as np

from biped.kernels.state.simulation_state import (
    ACTUATORS,
    CONTACT,
    IMPACTS,
    PUSHES,
    RECENT_ITERATIONS,
    TOTAL_STEPS,
    WORKS,
)
from biped.kernels.state.simulation_state import START as AT_START
from biped.kernels.tree.dynamics import (
    centre_of_mass,
    kinetic_energy,
    momentum_about_reference,
    potential_energy,
    rates_from_momentum,
)
from biped.kernels.tree.kinematics import move_bodies
from biped.kernels.variational.equations import reference_point
from contact.arrays import Floats, Integers
from contact.ground import START, begin_ground, law_at, to_floor
from contact.jit import generic, kernel
from contact.modes import NONE
from contact.point_law import stored_energy
from contact.vectors import add, cross, load3, sub

# Kinds of events.
TOUCH = 1  # a contact point came down: subject is the point
LIFT = 2  # a contact point left the floor
IMPACT = 3  # a thrown body hit: subject is the body that was hit
EVENT_WIDTH = 12  # time, kind, subject, impulse (3), place (3), relative velocity before (3)

# Places in ``Log.cursor``.
ROWS = 0
EVENTS = 1
STRIDE = 2
OBSERVED = 3  # the step for which the rates are known
CURSORS = 4


class Log(NamedTuple):
    """Room for rows and events; ``cursor`` says how much of it is used."""

    rows: Floats  # (capacity, width)
    events: Floats  # (capacity, EVENT_WIDTH)
    cursor: Integers  # (CURSORS,)
    down: Integers  # (nc,) which contact points were on the floor
    extra: Floats  # (k,) numbers that the controller wants recorded
    more: Any  # what else is recorded: chooses ``record_more``


class Nothing(NamedTuple):
    """Nothing else is recorded."""


@generic("more")
def record_more(tree, state, scratch, more, row, place):
    """Write what else there is of the present state and the step before it; the place after it."""


@record_more.register(Nothing)
def record_nothing(tree, state, scratch, more, row, place):
    return place


def new_log(
    rows: int, width: int, events: int, nc: int, extra: int, stride: int, more: Any, poison: bool = True
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
    """Write a tuple of three into a row; the place after it."""
    row[place], row[place + 1], row[place + 2] = values
    return place + 3


@kernel
def record_row(tree, ground, state, motion, log, time):
    """Append a row: time, q, rates, torques, contacts, ledger, momenta, iterations, the controller's numbers.

    Returns the place after them, where ``record_more`` and a thrown box's pose go on.

    ``biped.runs.row_layout`` names the columns in this order.
    """
    begin_ground(ground, reference_point(tree, state.q), motion.poses.contact, time, time)
    row = log.rows[log.cursor[ROWS]]
    row[0] = time
    place = 1
    for k in range(state.q.shape[0]):
        row[place + k] = state.q[k]
    place += state.q.shape[0]
    for k in range(motion.rates.shape[0]):
        row[place + k] = motion.rates[k]
    place += motion.rates.shape[0]
    place = record_torques(tree, state, motion, row, place)
    place = record_contacts(tree, state, motion, row, place)
    move_bodies(tree, motion.poses, motion.rates, motion.velocity, motion.bias)
    place = record_ledger(tree, ground, state, motion, row, place)
    place = record_momenta(tree, state, motion, row, place)
    row[place] = state.counts[RECENT_ITERATIONS]
    state.counts[RECENT_ITERATIONS] = 0
    place += 1
    for k in range(log.extra.shape[0]):
        row[place + k] = log.extra[k]
    log.cursor[ROWS] += 1
    return place + log.extra.shape[0]


@kernel
def record_torques(tree, state, motion, row, place):
    """What the joints exert now: the held torque, and the impedance at the present angle and rate."""
    for i in range(tree.parent.shape[0]):
        for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
            torque = state.torque[dof]
            if tree.dofs[i] == 1:
                torque -= state.stiffness[dof] * (state.q[tree.first_q[i]] - state.setpoint[dof])
                torque -= state.damping[dof] * motion.rates[dof]
            row[place + dof] = torque
    return place + state.torque.shape[0]


@kernel
def record_contacts(tree, state, motion, row, place):
    origin = reference_point(tree, state.q)
    for c in range(state.found.shape[0]):
        row[place] = state.found[c]
        place = put(row, place + 1, load3(state.force, c))
        place = put(row, place, add(origin, load3(motion.poses.contact, c)))
    return place


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
    """Energies now, works since the start, and what is left over: the integrator's own energy error."""
    kinetic, potential, stored = energies(tree, ground, state, motion)
    place = put(row, place, (kinetic, potential, stored))
    for k in range(WORKS - 1):
        row[place + k] = state.ledger.works[k]
    # Contact work is what its springs store and what it dissipates: it enters once.
    works = (
        state.ledger.works[ACTUATORS]
        + state.ledger.works[CONTACT]
        + state.ledger.works[PUSHES]
        + state.ledger.works[IMPACTS]
    )
    row[place + WORKS - 1] = kinetic + potential - state.ledger.works[AT_START] - works
    return place + WORKS


@kernel
def record_momenta(tree, state, motion, row, place):
    """Linear momentum, angular momentum about the whole tree's centre of mass, the centre itself, the defects."""
    linear, angular = momentum_about_reference(tree, motion)
    com = centre_of_mass(tree, motion.poses)
    place = put(row, place, linear)
    place = put(row, place, sub(angular, cross(com, linear)))
    place = put(row, place, add(com, reference_point(tree, state.q)))
    for k in range(6):
        row[place + k] = state.ledger.defect[k]
    return place + 6


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
