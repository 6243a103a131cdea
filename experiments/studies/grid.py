"""Values along a range: evenly spaced, on a scale, and as a search for a threshold tries them first."""

import math
from dataclasses import dataclass, field

from biped.errors import InputError

LINEAR, LOG = SCALES = ("linear", "log")
#: Default limit of a grid's growth, in multiples of its first height.
GROWTH = 16.0
#: Default number of halvings of a bracket between two values.
HALVINGS = 4
#: The least tolerance, as a part of the greatest value: far above the round-off of a value.
FINEST = 1e-9


def neat(value: float) -> float:
    """Return a number without the round-off of its arithmetic, for tables and commands."""
    return float(f"{value:.12g}")


def interpolate(low: float, high: float, part: float, scale: str = LINEAR) -> float:
    """Return the value at a fraction, 0 … 1, of a range."""
    return low * (high / low) ** part if scale == LOG else low + part * (high - low)


@dataclass(frozen=True)
class Grid:
    """Evenly spaced values, least first; a replica that recovers at all of them continues in doubled steps.

    The grid is fixed in advance and equal for all replicas: the outcome of one replica cannot change the values that
    another is tried at.

    Attributes:
        start: least value, in the parameter's unit.
        stop: greatest of the first values.
        by: step between two values.
        tolerance: width at which a bracket is not halved any more; 0: ``by / 16``.
        limit: largest value to try; 0: 16 times as far from ``start`` as ``stop``.

    Raises:
        InputError: for values out of order.
    """

    start: float = field(metadata={"key": "from"})
    stop: float = field(metadata={"key": "to"})
    by: float
    tolerance: float = 0.0
    limit: float = 0.0

    def __post_init__(self) -> None:
        for name in ("start", "stop", "by", "tolerance", "limit"):
            if not math.isfinite(getattr(self, name)):
                raise InputError(f"{name} = {getattr(self, name):g}: it must be a finite number")
            object.__setattr__(self, name, neat(getattr(self, name)))
        if not (self.start < self.stop and 0.0 < self.by <= (self.stop - self.start) * (1.0 + FINEST)):
            raise InputError(
                f"values from {self.start:g} to {self.stop:g} by {self.by:g}: "
                "it must be from < to, and by above zero and at most to − from"
            )
        if self.tolerance == 0.0:
            object.__setattr__(self, "tolerance", neat(self.by / 2.0**HALVINGS))
        if self.limit == 0.0:
            object.__setattr__(self, "limit", neat(self.start + GROWTH * (self.stop - self.start)))
        if self.limit < self.stop:
            raise InputError(f"limit = {self.limit:g}: it must be at least to = {self.stop:g}")
        finest = FINEST * max(abs(self.start), abs(self.limit))
        if not finest <= self.tolerance <= self.by:
            raise InputError(f"tolerance = {self.tolerance:g}: it must be from {finest:g} to by = {self.by:g}")

    @property
    def values(self) -> tuple[float, ...]:
        """Values that are tried first; the last is ``stop``."""
        return (self.start, *_steps(self.start, self.stop, self.by))

    def above(self, top: float) -> tuple[float, ...]:
        """Return the values to try if all up to ``top`` recovered: they double the height, in doubled steps.

        There are none beyond the limit.
        """
        height = top - self.start
        spacing = self.by * 2.0 * height / (self.stop - self.start)
        return _steps(top, min(top + height, self.limit), spacing) if top < self.limit else ()

    @property
    def most_trials(self) -> int:
        count, top = len(self.values), self.stop
        while above := self.above(top):
            count, top = count + len(above), above[-1]
        widest = 2.0 * self.by * (self.limit - self.start) / (self.stop - self.start)
        return count + max(0, math.ceil(math.log2(max(widest, self.by) / self.tolerance))) + 1


def _steps(begin: float, end: float, by: float) -> tuple[float, ...]:
    """Return values above ``begin``, the last of them ``end``; the last step may be shorter, but is never tiny."""
    count = max(1, math.ceil((end - begin) / by - 1e-6))
    return (*(neat(begin + k * by) for k in range(1, count)), neat(end))
