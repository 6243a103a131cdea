"""A translation and rotation over time, as six signals."""

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
    """Translation (x, y, z) and rotation vector (roll, pitch, yaw) from an initial pose over time, world axes.

    Each is a `Signal`, a curve through knots: zero before its first knot and constant from its last knot on.

    Attributes:
        x, y, z: [m] displacement along each axis; None: zero.
        roll, pitch, yaw: [rad] components of the rotation vector about x, y and z; None: zero.

    Raises:
        InputError: a value is neither a ``Signal`` nor None.
    """

    x: Signal | None = None
    y: Signal | None = None
    z: Signal | None = None
    roll: Signal | None = None
    pitch: Signal | None = None
    yaw: Signal | None = None

    AXES: ClassVar[tuple[str, ...]] = ("x", "y", "z", "roll", "pitch", "yaw")
    #: Name of the displacement in messages.
    WHAT: ClassVar[str] = "displacement"

    def __post_init__(self) -> None:
        for axis, signal in self.signals.items():
            if not isinstance(signal, Signal):
                raise InputError(f"{self.WHAT}.{axis} = {signal!r}: it must be a Signal, such as Signal.step(0.1, 1.0)")

    @property
    def signals(self) -> dict[str, Signal]:
        """Signals by axis, without axes that do not move."""
        return {axis: getattr(self, axis) for axis in self.AXES if getattr(self, axis) is not None}

    @property
    def begins(self) -> float:
        """Time [s] at which the first signal begins; 0 without signals."""
        return min((signal.begins for signal in self.signals.values()), default=0.0)

    @property
    def ends(self) -> float:
        """Time [s] from which on all signals are constant; 0 without signals."""
        return max((signal.ends for signal in self.signals.values()), default=0.0)

    def at(self, time: float) -> Floats:
        """Return an array (6,) of x, y, z [m], roll, pitch, yaw [rad] at a time [s]."""
        given = self.signals
        return np.array([float(given[axis](time)) if axis in given else 0.0 for axis in self.AXES])

    def compiled(self) -> Signals:
        """Return the six signals packed for the kernels; an empty set if there are none."""
        still = Signal(np.zeros(1), np.zeros((1, 1)))
        return compile_signals([getattr(self, axis) or still for axis in self.AXES] if self.signals else [])
