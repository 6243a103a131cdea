"""A translation and rotation as six functions of time."""

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
    """A translation (x, y, z) and a rotation vector (roll, pitch, yaw) as signals of time.

    Axes without a signal stay at zero. A signal is zero before its first knot and constant from its last one on.

    Attributes:
        x: [m].
        y: [m].
        z: [m].
        roll: [rad] about x.
        pitch: [rad] about y.
        yaw: [rad] about z.

    Raises:
        InputError: an item is not a ``Signal``.
    """

    x: Signal | None = None
    y: Signal | None = None
    z: Signal | None = None
    roll: Signal | None = None
    pitch: Signal | None = None
    yaw: Signal | None = None

    AXES: ClassVar[tuple[str, ...]] = ("x", "y", "z", "roll", "pitch", "yaw")
    #: Name in messages.
    WHAT: ClassVar[str] = "displacement"

    def __post_init__(self) -> None:
        for axis, signal in self.signals.items():
            if not isinstance(signal, Signal):
                raise InputError(f"{self.WHAT}.{axis} = {signal!r}: it must be a Signal, such as Signal.step(0.1, 1.0)")

    @property
    def signals(self) -> dict[str, Signal]:
        """Signals of the axes that move, by axis."""
        return {axis: getattr(self, axis) for axis in self.AXES if getattr(self, axis) is not None}

    @property
    def begins(self) -> float:
        """Time [s] at which the first signal begins; zero without signals."""
        return min((signal.begins for signal in self.signals.values()), default=0.0)

    @property
    def ends(self) -> float:
        """Time [s] from which on nothing moves."""
        return max((signal.ends for signal in self.signals.values()), default=0.0)

    def at(self, time: float) -> Floats:
        """Return x, y, z [m], roll, pitch, yaw [rad] at a time [s], (6,)."""
        given = self.signals
        return np.array([float(given[axis](time)) if axis in given else 0.0 for axis in self.AXES])

    def compiled(self) -> Signals:
        """Return the six signals for the kernels, or none if nothing moves."""
        still = Signal(np.zeros(1), np.zeros((1, 1)))
        return compile_signals([getattr(self, axis) or still for axis in self.AXES] if self.signals else [])
