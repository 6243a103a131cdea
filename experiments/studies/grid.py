"""Values along a range: interpolation on a linear or logarithmic scale, and the grid of a threshold search."""

import math
from dataclasses import dataclass, field

from biped.errors import InputError

LINEAR, LOG = SCALES = ("linear", "log")
#: Default distance of the limit from ``start``, as a multiple of ``stop − start``.
GROWTH = 16.0
#: Default number of halvings of a bracket between two values.
HALVINGS = 4
#: Smallest tolerance, as a fraction of the largest value: far above rounding errors.
FINEST = 1e-9


def neat(value: float) -> float:
    """Return a number without the round-off of its arithmetic, for tables and commands."""
    return float(f"{value:.12g}")


def interpolate(low: float, high: float, part: float, scale: str = LINEAR) -> float:
    """Return the value at a fraction, 0 … 1, of a range."""
    return low * (high / low) ** part if scale == LOG else low + part * (high - low)


@dataclass(frozen=True)
class Grid:
    """Evenly spaced values of a parameter, at which a threshold search tries each replica (random repetition).

    A replica that recovers at all values is tried at larger ones, in steps of twice the size, four times the size, ….
    The values for a replica do not depend on the outcomes of other replicas.

    Attributes:
        start: smallest value, in the parameter's unit.
        stop: largest value at which every replica is tried.
        by: step between two values.
        tolerance: the interval with the threshold is halved until it is at most this wide; 0: ``by / 16``.
        limit: largest value at which a replica may be tried; 0: ``start + 16 (stop − start)``.

    Raises:
        InputError: a number is not finite, ``start`` is not below ``stop``, or another number is out of range.
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
                f"from = {self.start:g}, to = {self.stop:g}, by = {self.by:g}: "
                "'from' must be below 'to', and 'by' above zero and at most 'to' − 'from'"
            )
        if self.tolerance == 0.0:
            object.__setattr__(self, "tolerance", neat(self.by / 2.0**HALVINGS))
        if self.limit == 0.0:
            object.__setattr__(self, "limit", neat(self.start + GROWTH * (self.stop - self.start)))
        if self.limit < self.stop:
            raise InputError(f"limit = {self.limit:g}: it must be at least 'to' = {self.stop:g}")
        finest = FINEST * max(abs(self.start), abs(self.limit))
        if not finest <= self.tolerance <= self.by:
            raise InputError(f"tolerance = {self.tolerance:g}: it must be from {finest:g} to by = {self.by:g}")

    @property
    def values(self) -> tuple[float, ...]:
        """Values at which every replica is tried; the last one is ``stop``."""
        return (self.start, *_steps(self.start, self.stop, self.by))

    def above(self, top: float) -> tuple[float, ...]:
        """Return the next values for a replica that recovered at all values up to ``top``; none above ``limit``.

        They reach twice as far from ``start``, in doubled steps.
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
