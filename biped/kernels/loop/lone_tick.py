"""A single tick of a law without plant and loop, for callers in Python."""

from typing import Any, NamedTuple

import numpy as np

from biped.kernels.loop.closed_loop import control
from biped.kernels.loop.measurement import Measurement, new_measurement, place_measured
from biped.kernels.state.status import OK
from biped.kernels.tree.tree import Tree
from contact.arrays import Floats
from kernelcache import Entry, Packed, part


class LoneTick(NamedTuple):
    """The input and output of a law."""

    measurement: Measurement  # time, q, rates, touch: from the caller
    torque: Floats  # (nv,)
    recorded: Floats


@part
def answer(law, tick):
    """Call ``control`` for a measurement."""
    place_measured(tick.measurement)
    tick.torque[:] = 0.0
    control(law, tick.measurement, tick.torque, tick.recorded)
    return OK


class Buffers:
    """The buffers of a tick, packed for compiled parts, for control laws of one model; use them in one thread only."""

    def __init__(self, tree: Tree, nq: int, nv: int, recorded: int) -> None:
        self.tick = LoneTick(new_measurement(tree, nq, nv), np.zeros(nv), np.full(recorded, np.nan))
        self.packed = Packed(self.tick)


class AskedLaw:
    """A control law with the buffers of a tick, ready to be called; the constructor compiles or loads the law."""

    def __init__(self, law: Any, buffers: Buffers) -> None:
        self.buffers = buffers
        self._answer = Entry(answer, Packed(law), buffers.packed)

    def torques(self) -> Floats:
        """Return the torques (nv,) [N·m] for the measurement of the tick; the next call overwrites them."""
        self._answer()
        return self.buffers.tick.torque
