"""The arrays of a running simulation: everything that is needed to continue it, bit for bit."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from contact.arrays import Floats, Integers

# Places in ``Plant.counts``.
STEPS = 0  # steps since ``clock[0]``
ITERATIONS = 1  # Newton iterations of all steps
MOST_ITERATIONS = 2  # of any one solve so far
RECENT_ITERATIONS = 3  # of any one solve since the last recorded row
RETRIED = 4  # steps that were halved
TOTAL_STEPS = 5  # steps since the start of the run
PATIENCE = 6  # steps until the kept factorization is tried again, after it did not do
INTO_TICK = 7  # steps since the last control tick, where a run ended between two
TICKS = 8  # control ticks at which torques were set
SENSED = 9  # those at which the plant was seen through imperfect senses, as long as these last
COUNTS = 10

# Places in ``Plant.ledger`` [J], each summed since the start of the run.
ACTUATORS = 0
CONTACT = 1
DISSIPATED = 2
PUSHES = 3
IMPACTS = 4
PLATFORM = 5  # what a moving floor did to the body, a part of CONTACT
START = 6  # kinetic and potential energy at the start
LEDGERS = 7


class Plant(NamedTuple):
    """The state of the plant: the tree, its contact points, what is held on its joints, its books."""

    clock: Floats  # (3,) [s] time at the count of zero steps; length of a step; of the last one taken
    q: Floats  # (nq,)
    momentum: Floats  # (nv,) generalized momentum p
    rate: Floats  # (nv,) displacement of the last step over its length
    rate_change: Floats  # (nv,) its change per second
    rate_curve: Floats  # (nv,) the change of that since the step before: with them, the next step's first guess
    mode: Integers  # (nc,) the lasting contact mode of the coming step
    history: (
        Floats  # (stages, nv, depth) of a composition (``biped.integrators.composition.kernels``): its first guesses
    )
    history_for: Floats  # (3,) what steps it is of
    kept_u: Floats  # (nv, 6) the last factorization of Newton's matrix, for the next step to try first
    kept_w: Floats  # (nv, 6)
    kept_d: Floats  # (nv,)
    kept_for: Floats  # (1 + nc,) the step length [s] and the contacts it was made for
    found: Integers  # (nc,) the contact state found at the end of the last step
    anchor: Floats  # (nc, 2) [m] where a sticking point is held
    force: Floats  # (nc, 3) [N] contact force of the last step
    torque: Floats  # (nv,) what the controller holds on the joints
    saturated: Floats  # (nv,) [s] for which more than an actuator's limit was asked for
    past: Floats  # (depth, nq + nv) what senses with a delay have yet to show
    stiffness: Floats  # (nv,) joint impedance, evaluated within the step
    damping: Floats  # (nv,)
    setpoint: Floats  # (nv,)
    slip: Floats  # (nc,) [m] path of each point while it slides or yields
    ledger: Floats  # (LEDGERS,) [J]
    defect: Floats  # (6,) linear [N·s] and angular [N·m·s] momentum that no impulse accounts for
    impulse: Floats  # (6,) external impulses since the start, angular about the inertial origin
    counts: Integers  # (COUNTS,)


def new_plant(nq: int, nv: int, nc: int) -> Plant:
    """A plant at time zero, at the zero of all its numbers."""
    floats: dict[str, tuple[int, ...]] = {
        "clock": (3,), "q": (nq,), "momentum": (nv,), "rate": (nv,), "rate_change": (nv,), "rate_curve": (nv,),
        "history": (0, nv, 0), "history_for": (3,),
        "kept_u": (nv, 6), "kept_w": (nv, 6), "kept_d": (nv,), "kept_for": (1 + nc,),
        "anchor": (nc, 2), "force": (nc, 3), "slip": (nc,),
        "torque": (nv,), "saturated": (nv,), "past": (1, nq + nv),
        "stiffness": (nv,), "damping": (nv,), "setpoint": (nv,),
        "ledger": (LEDGERS,), "defect": (6,), "impulse": (6,),
    }  # fmt: skip
    arrays: dict[str, NDArray[np.generic]] = {name: np.zeros(shape) for name, shape in floats.items()}
    arrays["mode"] = np.ones(nc, dtype=np.int64)
    arrays["found"] = np.ones(nc, dtype=np.int64)
    arrays["counts"] = np.zeros(COUNTS, dtype=np.int64)
    return Plant(**arrays)  # type: ignore[arg-type]
