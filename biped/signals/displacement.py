"""A displacement and a turn as six signals of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biped.errors import InputError
from biped.signals.signal import Signal, compile_signals
from contact.arrays import Floats
from contact.piecewise import Signals


@dataclass(frozen=True)
class Displacement:
    """How something is displaced by (x, y, z) and turned by the rotation vector (roll, pitch, yaw), as signals of time.

    What is not given stays zero. Before its first knot a signal is zero, and from its last one on it stays.

    Attributes:
        x: [m].
        y: [m].
        z: [m].
        roll: [rad] about x.
        pitch: [rad] about y.
        yaw: [rad] about z.

    Raises:
        InputError: one is no ``Signal``.
    """

    x: Signal | None = None
    y: Signal | None = None
    z: Signal | None = None
    roll: Signal | None = None
    pitch: Signal | None = None
    yaw: Signal | None = None

    AXES: ClassVar[tuple[str, ...]] = ("x", "y", "z", "roll", "pitch", "yaw")
    #: What messages call it.
    WHAT: ClassVar[str] = "displacement"

    def __post_init__(self) -> None:
        for axis, signal in self.signals.items():
            if not isinstance(signal, Signal):
                raise InputError(f"{self.WHAT}.{axis} = {signal!r}: it must be a Signal, such as Signal.step(0.1, 1.0)")

    @property
    def signals(self) -> dict[str, Signal]:
        """The signals of the axes along which it moves, by axis."""
        return {axis: getattr(self, axis) for axis in self.AXES if getattr(self, axis) is not None}

    @property
    def begins(self) -> float:
        """[s] when the first signal does; zero without any."""
        return min((signal.begins for signal in self.signals.values()), default=0.0)

    @property
    def ends(self) -> float:
        """[s] from when on nothing moves any more."""
        return max((signal.ends for signal in self.signals.values()), default=0.0)

    def at(self, time: float) -> Floats:
        """(6,) x, y, z [m], roll, pitch, yaw [rad] at a time [s]."""
        given = self.signals
        return np.array([float(given[axis](time)) if axis in given else 0.0 for axis in self.AXES])

    def compiled(self) -> Signals:
        """The kernels' six signals, or none where nothing moves."""
        still = Signal(np.zeros(1), np.zeros((1, 1)))
        return compile_signals([getattr(self, axis) or still for axis in self.AXES] if self.signals else [])
