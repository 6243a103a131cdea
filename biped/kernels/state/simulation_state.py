"""The arrays of a running simulation: everything that is needed to continue it, bit for bit."""

from typing import NamedTuple

import numpy as np

from contact.arrays import Floats, Integers

# Places in ``SimulationState.clock`` [s].
TIME_ORIGIN = 0  # time at the count of zero steps
STEP_LENGTH = 1
LAST_STEP_LENGTH = 2  # of the last one taken, which may be a part
CLOCK = 3

# Places in ``SimulationState.counts``.
STEPS = 0  # steps since ``clock[TIME_ORIGIN]``
ITERATIONS = 1  # Newton iterations of all steps
MOST_ITERATIONS = 2  # of any one solve so far
RECENT_ITERATIONS = 3  # of any one solve since the last recorded row
RETRIED = 4  # steps that were halved
TOTAL_STEPS = 5  # steps since the start of the run
PATIENCE = 6  # steps until the kept factorization is tried again, after it did not do
INTO_TICK = 7  # steps since the last control tick, where a run ended between two
TICKS = 8  # control ticks at which torques were set
SENSED = 9  # those at which the plant was measured by imperfect sensors, as long as these last
GIVEN = 10  # control ticks at which actuators gave what impedances exert, those of a run-in too, as long as they do
COUNTS = 11

# Places in ``Ledger.works`` [J], each summed since the start of the run.
ACTUATORS = 0
CONTACT = 1
DISSIPATED = 2
PUSHES = 3
IMPACTS = 4
PLATFORM = 5  # what a moving floor did to the body, a part of CONTACT
START = 6  # kinetic and potential energy at the start
JOINTS = 7  # what bearings and stops of joints did to the bodies
JOINTS_DISSIPATED = 8  # what they lost of it
WORKS = 9


class SolverCache(NamedTuple):
    """What the next step's first guess and its first iteration go by; it changes how fast a step is solved."""

    rate: Floats  # (nv,) displacement of the last step over its length
    rate_change: Floats  # (nv,) its change per second
    rate_curve: Floats  # (nv,) the change of that since the step before: with them, the next step's first guess
    kept_u: Floats  # (nv, 6) the last factorization of Newton's matrix, for the next step to try first
    kept_w: Floats  # (nv, 6)
    kept_d: Floats  # (nv,)
    kept_for: Floats  # (1 + nc,) the step length [s] and the contacts it was made for


class Ledger(NamedTuple):
    """Energy and momentum accounting since the start of the run; no step depends on it."""

    works: Floats  # (WORKS,) [J]
    defect: Floats  # (6,) linear [N·s] and angular [N·m·s] momentum that no impulse accounts for
    impulse: Floats  # (6,) external impulses since the start, angular about the inertial origin
    slip: Floats  # (nc,) [m] path of each point while it slides or yields
    saturated: Floats  # (nv,) [s] for which more than an actuator's limit was asked for


class SimulationState(NamedTuple):
    """The tree, its contact points, and what is held on its joints; the solver's cache and the ledger apart."""

    clock: Floats  # (CLOCK,)
    q: Floats  # (nq,)
    momentum: Floats  # (nv,) generalized momentum p
    mode: Integers  # (nc,) the lasting contact mode of the coming step
    found: Integers  # (nc,) the contact state found at the end of the last step
    anchor: Floats  # (nc, 2) [m] where a sticking point is held
    force: Floats  # (nc, 3) [N] contact force of the last step
    torque: Floats  # (nv,) what the controller holds on the joints
    past: Floats  # what the senses have yet to show, and remember (``Sensors.room``)
    stiffness: Floats  # (nv,) joint impedance, evaluated within the step
    damping: Floats  # (nv,)
    setpoint: Floats  # (nv,)
    effort: Floats  # (2, nv) the least and the greatest torque that the actuators could give at the last tick
    counts: Integers  # (COUNTS,)
    cache: SolverCache
    ledger: Ledger


def unbounded(nv: int) -> Floats:
    """(2, nv) the range of actuators that could give whatever is asked."""
    return np.array([np.full(nv, -np.inf), np.full(nv, np.inf)])


def new_simulation_state(nq: int, nv: int, nc: int) -> SimulationState:
    """A state at time zero, at the zero of all its numbers."""
    z = np.zeros
    cache = SolverCache(
        rate=z(nv), rate_change=z(nv), rate_curve=z(nv),
        kept_u=z((nv, 6)), kept_w=z((nv, 6)), kept_d=z(nv), kept_for=z(1 + nc),
    )  # fmt: skip
    ledger = Ledger(works=z(WORKS), defect=z(6), impulse=z(6), slip=z(nc), saturated=z(nv))
    return SimulationState(
        clock=z(CLOCK), q=z(nq), momentum=z(nv), mode=np.ones(nc, dtype=np.int64), found=np.ones(nc, dtype=np.int64),
        anchor=z((nc, 2)), force=z((nc, 3)), torque=z(nv), past=z((1, nq + nv)),
        stiffness=z(nv), damping=z(nv), setpoint=z(nv), effort=unbounded(nv),
        counts=z(COUNTS, dtype=np.int64), cache=cache, ledger=ledger,
    )  # fmt: skip
