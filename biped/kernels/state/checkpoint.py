"""Where a step began, to be taken back to: it is done as a whole, or not at all."""

from typing import NamedTuple

from biped.kernels.state.simulation_state import Ledger, new_simulation_state
from contact.arrays import Floats, Integers
from contact.vectors import copy1
from kernelcache import kernel


class Checkpoint(NamedTuple):
    """What a step changes of a ``SimulationState``, but for its counts and the rates of the next first guess."""

    clock: Floats
    q: Floats
    momentum: Floats
    mode: Integers
    found: Integers
    anchor: Floats
    force: Floats
    ledger: Ledger


def new_checkpoint(nq: int, nv: int, nc: int) -> Checkpoint:
    """Room for where a step begins."""
    state = new_simulation_state(nq, nv, nc)
    return Checkpoint(*(getattr(state, name) for name in Checkpoint._fields))


@kernel
def save_checkpoint(source, target):
    """Copy what a checkpoint holds from a state to a checkpoint, or back."""
    copy1(source.clock, target.clock)
    copy1(source.q, target.q)
    copy1(source.momentum, target.momentum)
    copy1(source.mode, target.mode)
    copy1(source.found, target.found)
    for c in range(source.mode.shape[0]):
        copy1(source.anchor[c], target.anchor[c])
        copy1(source.force[c], target.force[c])
    copy1(source.ledger.works, target.ledger.works)
    copy1(source.ledger.defect, target.ledger.defect)
    copy1(source.ledger.impulse, target.ledger.impulse)
    copy1(source.ledger.slip, target.ledger.slip)


@kernel
def roll_back(state, before):
    """Back to the checkpoint, but for the poses (``prepare``); the kept factorization is not of there."""
    save_checkpoint(before, state)
    state.cache.kept_for[0] = 0.0
