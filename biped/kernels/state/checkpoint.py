"""Where a step began, to be taken back to: it is done as a whole, or not at all."""

from typing import NamedTuple

import numpy as np

from biped.kernels.state.simulation_state import LAST_STEP_LENGTH, WORKS
from contact.arrays import Floats, Integers
from contact.jit import kernel
from contact.vectors import copy1


class Checkpoint(NamedTuple):
    """What a step changes of a ``SimulationState``, but for its counts and the rates of the next first guess."""

    q: Floats
    momentum: Floats
    ledger: Floats
    defect: Floats
    impulse: Floats
    slip: Floats
    mode: Integers
    found: Integers
    anchor: Floats
    force: Floats
    last: Floats  # (1,) [s] length of the last step


def new_checkpoint(nq: int, nv: int, nc: int) -> Checkpoint:
    """Room for where a step begins."""
    q, momentum, ledger, defect, impulse, slip = (np.zeros(size) for size in (nq, nv, WORKS, 6, 6, nc))
    mode, found = (np.zeros(nc, dtype=np.int64) for _ in range(2))
    points = np.zeros((nc, 2)), np.zeros((nc, 3))
    return Checkpoint(q, momentum, ledger, defect, impulse, slip, mode, found, *points, np.zeros(1))


@kernel
def save_checkpoint(state, before):
    """Note where the plant is."""
    copy1(state.q, before.q)
    copy1(state.momentum, before.momentum)
    copy1(state.ledger.works, before.ledger)
    copy1(state.ledger.defect, before.defect)
    copy1(state.ledger.impulse, before.impulse)
    copy1(state.ledger.slip, before.slip)
    copy1(state.mode, before.mode)
    copy1(state.found, before.found)
    for c in range(state.mode.shape[0]):
        copy1(state.anchor[c], before.anchor[c])
        copy1(state.force[c], before.force[c])
    before.last[0] = state.clock[LAST_STEP_LENGTH]


@kernel
def roll_back(state, before):
    """Back to the checkpoint, but for the poses (``prepare``); the kept factorization is not of there."""
    copy1(before.q, state.q)
    copy1(before.momentum, state.momentum)
    copy1(before.ledger, state.ledger.works)
    copy1(before.defect, state.ledger.defect)
    copy1(before.impulse, state.ledger.impulse)
    copy1(before.slip, state.ledger.slip)
    copy1(before.mode, state.mode)
    copy1(before.found, state.found)
    for c in range(state.mode.shape[0]):
        copy1(before.anchor[c], state.anchor[c])
        copy1(before.force[c], state.force[c])
    state.clock[LAST_STEP_LENGTH] = before.last[0]
    state.cache.kept_for[0] = 0.0
