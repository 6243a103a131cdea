"""One tick of a law by itself, for a caller in Python: no plant, no loop."""

from typing import Any, NamedTuple

import numpy as np
from numba.core.config import DISABLE_JIT

from biped.kernels.loop.closed_loop import control, enter
from biped.kernels.loop.measurement import Measurement, new_measurement, place_measured
from biped.kernels.state.status import OK
from biped.kernels.tree.tree import Tree
from contact.arrays import Floats
from contact.jit import address_of, pack, part_for_each, unpacked


class LoneTick(NamedTuple):
    """What a law reads and writes."""

    measurement: Measurement  # time, q, rates, touch: from the caller
    torque: Floats  # (nv,)
    recorded: Floats


@part_for_each
def answer(law, place):
    """``control`` for what was measured."""
    tick = unpacked(place)
    place_measured(tick.measurement)
    tick.torque[:] = 0.0
    control(unpacked(law), tick.measurement, tick.torque, tick.recorded)
    return OK


class Room:
    """A tick for the laws of one model that record so many numbers, and where parts find it: one thread's own."""

    def __init__(self, tree: Tree, nq: int, nv: int, recorded: int) -> None:
        self.tick = LoneTick(new_measurement(tree, nq, nv), np.zeros(nv), np.full(recorded, np.nan))
        self.packed = Packed(self.tick)
        self._addresses: dict[Any, int] = {}

    def address_for(self, law: Any) -> int:
        """That of ``answer`` for a law: compiled, or loaded, when the first of its kind comes."""
        kind = _kind_of(law)
        if kind not in self._addresses:
            self._addresses[kind] = address_of(answer.of(type(law)), law, self.tick)
        return self._addresses[kind]


class Packed:
    """A named tuple, and its place for parts; both are there as long as this is."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self._words = None if DISABLE_JIT else pack(value)
        self.place = value if self._words is None else self._words.ctypes.data


class AskedLaw:
    """A law in a room, ready to be asked: compiled, or loaded, once it is made."""

    def __init__(self, law: Any, room: Room) -> None:
        self.room, self._law = room, Packed(law)
        self._address = room.address_for(law)

    def torques(self) -> Floats:
        """(nv,) [N·m] for what the room's measurement says; the next tick writes over it."""
        enter(self._address, (self._law.place, self.room.packed.place))
        return self.room.tick.torque


def _kind_of(value: Any) -> Any:
    """What machine code depends on: as Numba's type of it, and a hundred times as fast to find."""
    if isinstance(value, tuple):
        return type(value), tuple(map(_kind_of, value))
    if isinstance(value, np.ndarray):
        flags = value.flags
        return value.dtype, value.ndim, flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
    return type(value)
