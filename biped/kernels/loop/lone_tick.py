"""One tick of a law by itself, for a caller in Python: no plant, no loop."""

from typing import Any, NamedTuple

import numpy as np

from biped.kernels.loop.closed_loop import control
from biped.kernels.loop.measurement import Measurement, new_measurement, place_measured
from biped.kernels.state.status import OK
from biped.kernels.tree.tree import Tree
from contact.arrays import Floats
from kernelcache import Entry, Packed, part


class LoneTick(NamedTuple):
    """What a law reads and writes."""

    measurement: Measurement  # time, q, rates, touch: from the caller
    torque: Floats  # (nv,)
    recorded: Floats


@part
def answer(law, tick):
    """``control`` for what was measured."""
    place_measured(tick.measurement)
    tick.torque[:] = 0.0
    control(law, tick.measurement, tick.torque, tick.recorded)
    return OK


class Room:
    """A tick for the laws of one model that record so many numbers, and where parts find it: one thread's own."""

    def __init__(self, tree: Tree, nq: int, nv: int, recorded: int) -> None:
        self.tick = LoneTick(new_measurement(tree, nq, nv), np.zeros(nv), np.full(recorded, np.nan))
        self.packed = Packed(self.tick)


class AskedLaw:
    """A law in a room, ready to be asked: compiled, or loaded, once it is made."""

    def __init__(self, law: Any, room: Room) -> None:
        self.room = room
        self._answer = Entry(answer, Packed(law), room.packed)

    def torques(self) -> Floats:
        """(nv,) [N·m] for what the room's measurement says; the next tick writes over it."""
        self._answer()
        return self.room.tick.torque
