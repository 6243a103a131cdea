"""Checkpoints of the state, so that a step is taken completely or not at all."""

from typing import NamedTuple

from biped.kernels.state.simulation_state import Ledger, new_simulation_state
from contact.arrays import Floats, Integers
from contact.vectors import copy1
from kernelcache import kernel


class Checkpoint(NamedTuple):
    """The parts of a ``SimulationState`` that a step changes, except counts and rates of the next initial guess."""

    clock: Floats
    q: Floats
    momentum: Floats
    mode: Integers
    contact_state: Integers
    anchor: Floats
    force: Floats
    ledger: Ledger


def new_checkpoint(nq: int, nv: int, nc: int) -> Checkpoint:
    """Return an empty checkpoint."""
    state = new_simulation_state(nq, nv, nc)
    return Checkpoint(*(getattr(state, name) for name in Checkpoint._fields))


@kernel
def save_checkpoint(source, target):
    """Copy the parts in a checkpoint from a state to a checkpoint, or back."""
    copy1(source.clock, target.clock)
    copy1(source.q, target.q)
    copy1(source.momentum, target.momentum)
    copy1(source.mode, target.mode)
    copy1(source.contact_state, target.contact_state)
    for c in range(source.mode.shape[0]):
        copy1(source.anchor[c], target.anchor[c])
        copy1(source.force[c], target.force[c])
    copy1(source.ledger.works, target.ledger.works)
    copy1(source.ledger.defect, target.ledger.defect)
    copy1(source.ledger.impulse, target.ledger.impulse)
    copy1(source.ledger.slip, target.ledger.slip)


@kernel
def roll_back(state, before):
    """Return the state to the checkpoint, except the poses (``prepare``), and drop the kept factorization."""
    save_checkpoint(before, state)
    state.cache.kept_for[0] = 0.0
