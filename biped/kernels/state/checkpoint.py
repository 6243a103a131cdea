"""Where a step began, to be taken back to: it is done as a whole, or not at all."""

from typing import NamedTuple

import numpy as np

from biped.kernels.state.simulation_state import LEDGERS
from contact.arrays import Floats, Integers
from contact.jit import kernel
from contact.vectors import copy1


class Before(NamedTuple):
    """What a step changes of ``Plant``, but for its counts and the rates that the next first guess goes by."""

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


def new_before(nq: int, nv: int, nc: int) -> Before:
    """Room for where a step begins."""
    q, momentum, ledger, defect, impulse, slip = (np.zeros(size) for size in (nq, nv, LEDGERS, 6, 6, nc))
    mode, found = (np.zeros(nc, dtype=np.int64) for _ in range(2))
    points = np.zeros((nc, 2)), np.zeros((nc, 3))
    return Before(q, momentum, ledger, defect, impulse, slip, mode, found, *points, np.zeros(1))


@kernel
def keep(plant, before):
    """Note where the plant is."""
    copy1(plant.q, before.q)
    copy1(plant.momentum, before.momentum)
    copy1(plant.ledger, before.ledger)
    copy1(plant.defect, before.defect)
    copy1(plant.impulse, before.impulse)
    copy1(plant.slip, before.slip)
    copy1(plant.mode, before.mode)
    copy1(plant.found, before.found)
    for c in range(plant.mode.shape[0]):
        copy1(plant.anchor[c], before.anchor[c])
        copy1(plant.force[c], before.force[c])
    before.last[0] = plant.clock[2]


@kernel
def take_back(plant, before):
    """Back to where ``keep`` was, but for the poses (``prepare``); the kept factorization is not of there."""
    copy1(before.q, plant.q)
    copy1(before.momentum, plant.momentum)
    copy1(before.ledger, plant.ledger)
    copy1(before.defect, plant.defect)
    copy1(before.impulse, plant.impulse)
    copy1(before.slip, plant.slip)
    copy1(before.mode, plant.mode)
    copy1(before.found, plant.found)
    for c in range(plant.mode.shape[0]):
        copy1(before.anchor[c], plant.anchor[c])
        copy1(before.force[c], plant.force[c])
    plant.clock[2] = before.last[0]
    plant.kept_for[0] = 0.0
