"""The arrays of a running simulation, from which it can be continued bit for bit."""

from typing import NamedTuple

import numpy as np

from contact.arrays import Floats, Integers

# Indices of ``SimulationState.clock`` [s].
TIME_ORIGIN = 0  # time at the count of zero steps
STEP_LENGTH = 1
LAST_STEP_LENGTH = 2  # length of the last step, which may be a part of one
CLOCK = 3

# Indices of ``SimulationState.counts``.
STEPS = 0  # steps since ``clock[TIME_ORIGIN]``
ITERATIONS = 1  # Newton iterations of all steps
MOST_ITERATIONS = 2  # greatest number in a single solve so far
RECENT_ITERATIONS = 3  # greatest number in a single solve since the last recorded row
RETRIED = 4  # steps that were halved
TOTAL_STEPS = 5  # steps since the start of the run
PATIENCE = 6  # steps until the kept factorization is tried again after it failed
INTO_TICK = 7  # steps since the last control tick, if a run ended between two
TICKS = 8  # control ticks at which torques were set
SENSED = 9  # control ticks measured by the present imperfect sensors
GIVEN = 10  # control ticks, run-in included, at which the actuators exerted impedances
COUNTS = 11

# Indices of ``Ledger.works`` [J], summed since the start of the run.
ACTUATORS = 0
CONTACT = 1
DISSIPATED = 2
PUSHES = 3
IMPACTS = 4
PLATFORM = 5  # work of a moving floor on the body, a part of CONTACT
START = 6  # kinetic and potential energy at the start
JOINTS = 7  # work of bearings and stops of joints on the bodies
JOINTS_DISSIPATED = 8  # dissipation of bearings and stops of joints
WORKS = 9


class SolverCache(NamedTuple):
    """Data of the next step's initial guess and first iteration; it affects the speed of the solution only."""

    rate: Floats  # (nv,) displacement of the last step over its length
    rate_change: Floats  # (nv,) change of ``rate`` per second
    rate_curve: Floats  # (nv,) change of ``rate_change`` since the step before
    kept_u: Floats  # (nv, 6) the last factorization of Newton's matrix, which the next step tries first
    kept_w: Floats  # (nv, 6)
    kept_d: Floats  # (nv,)
    kept_for: Floats  # (1 + nc,) the step length [s] and the contacts of this factorization


class Ledger(NamedTuple):
    """Energy and momentum balance since the start of the run; no step depends on it."""

    works: Floats  # (WORKS,) [J]
    defect: Floats  # (6,) linear [N·s] and angular [N·m·s] momentum that no impulse accounts for
    impulse: Floats  # (6,) external impulses since the start, angular about the inertial origin
    slip: Floats  # (nc,) [m] path length of each point while it slides or yields
    saturated: Floats  # (nv,) [s] time with a demanded torque greater than the actuator's limit


class SimulationState(NamedTuple):
    """The state of the tree, its contact points and held torques, with the solver's cache and the ledger."""

    clock: Floats  # (CLOCK,)
    q: Floats  # (nq,)
    momentum: Floats  # (nv,) generalized momentum p
    mode: Integers  # (nc,) lasting contact mode of the coming step
    contact_state: Integers  # (nc,) contact state at the end of the last step
    anchor: Floats  # (nc, 2) [m] anchor of the tangential spring, on the floor
    force: Floats  # (nc, 3) [N] contact force of the last step
    torque: Floats  # (nv,) torques held on the joints
    past: Floats  # earlier ticks and memory of the sensors (``Sensors.buffers``)
    stiffness: Floats  # (nv,) joint impedance, evaluated within the step
    damping: Floats  # (nv,)
    setpoint: Floats  # (nv,)
    effort: Floats  # (2, nv) least and greatest torque that the actuators could exert at the last tick
    counts: Integers  # (COUNTS,)
    cache: SolverCache
    ledger: Ledger


def unbounded(nv: int) -> Floats:
    """Return the infinite range (2, nv) of ideal actuators."""
    return np.array([np.full(nv, -np.inf), np.full(nv, np.inf)])


def new_simulation_state(nq: int, nv: int, nc: int) -> SimulationState:
    """Return a state at time zero with all numbers zero and no contacts."""
    z = np.zeros
    cache = SolverCache(
        rate=z(nv), rate_change=z(nv), rate_curve=z(nv),
        kept_u=z((nv, 6)), kept_w=z((nv, 6)), kept_d=z(nv), kept_for=z(1 + nc),
    )  # fmt: skip
    ledger = Ledger(works=z(WORKS), defect=z(6), impulse=z(6), slip=z(nc), saturated=z(nv))
    return SimulationState(
        clock=z(CLOCK), q=z(nq), momentum=z(nv), mode=np.ones(nc, dtype=np.int64),
        contact_state=np.ones(nc, dtype=np.int64),
        anchor=z((nc, 2)), force=z((nc, 3)), torque=z(nv), past=z((1, nq + nv)),
        stiffness=z(nv), damping=z(nv), setpoint=z(nv), effort=unbounded(nv),
        counts=z(COUNTS, dtype=np.int64), cache=cache, ledger=ledger,
    )  # fmt: skip
