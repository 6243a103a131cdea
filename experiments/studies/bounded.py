"""A number between bounds, on a linear or logarithmic scale."""

import math
from dataclasses import dataclass, field

from biped.errors import InputError
from experiments.studies.grid import LINEAR, LOG, SCALES, interpolate


@dataclass(frozen=True)
class Bounded:
    """A parameter that is varied between two bounds."""

    name: str  # name in tables and figures
    low: float = field(metadata={"key": "from"})  # lower bound
    high: float = field(metadata={"key": "to"})  # upper bound
    scale: str = LINEAR  # ``"linear"`` or ``"log"``

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise InputError(f"parameter {self.name!r}: scale = {self.scale!r}: it must be one of {', '.join(SCALES)}")
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            ends = f"from = {self.low:g}, to = {self.high:g}"
            raise InputError(f"parameter {self.name!r}: {ends}: 'from' must be below 'to', and both finite")
        if self.scale == LOG and self.low <= 0.0:
            raise InputError(f"parameter {self.name!r}: from = {self.low:g}: on a log scale it must be above zero")

    def from_unit(self, part: float) -> float:
        """Return the value at a fraction, 0 … 1, of the range."""
        value = interpolate(self.low, self.high, min(max(part, 0.0), 1.0), self.scale)
        return min(max(value, self.low), self.high)

    def to_unit(self, value: float) -> float:
        """Return the fraction of the range at which a value lies."""
        if self.scale == LOG:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def slope_at(self, part: float) -> float:
        """Return the derivative of the value with respect to the fraction of the range."""
        if self.scale == LOG:
            return self.from_unit(part) * math.log(self.high / self.low)
        return self.high - self.low
