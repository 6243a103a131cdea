"""Times, speed and size of the pictures of a video."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from biped.errors import InputError

#: Most pictures of a video.
MOST_FRAMES = 20_000
#: [pixels] smallest and largest width or height of a picture.
SIZES = (16, 4096)


@dataclass(frozen=True)
class FrameSchedule:
    """Times of the pictures of a video."""

    begins: float  # [s] time of the run in the first picture
    ends: float  # [s] end of the part of the run that is shown
    fps: float  # pictures per second
    speed: float = 1.0  # seconds of the run per second of video

    def __post_init__(self) -> None:
        for name in ("fps", "speed"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise InputError(f"--{name} {value:g}: it must be a number above zero")
        if not self.ends >= self.begins:
            raise InputError(f"--from {self.begins:g} --to {self.ends:g}: the start must not be after the end")
        if not self._filling <= MOST_FRAMES:  # before rounding: it may be infinite
            raise InputError(
                f"{self._filling:.6g} pictures are more than the limit of {MOST_FRAMES}: "
                "lower --fps, raise --speed, or show a shorter part (--from, --to)"
            )

    @property
    def count(self) -> int:
        """Number of pictures, at least one."""
        return max(1, round(self._filling))

    @property
    def _filling(self) -> float:
        return (self.ends - self.begins) * self.fps / self.speed

    @property
    def times(self) -> list[float]:
        """Times [s] in the run; picture k shows exactly ``begins`` + k speed / fps."""
        return [self.begins + k * self.speed / self.fps for k in range(self.count)]

    @property
    def duration(self) -> float:
        return self.count / self.fps


def schedule_of(
    spans: Sequence[tuple[float, float]], begin: float | None, end: float | None, fps: float, speed: float
) -> FrameSchedule:
    """Return the schedule of some runs, by default from the earliest start to the latest end.

    ``spans`` are start and end of each run [s], ``begin`` and ``end`` the values of ``--from`` and ``--to``.
    """
    first, last = min(span[0] for span in spans), max(span[1] for span in spans)
    for name, value in (("--from", begin), ("--to", end)):
        if value is not None and not first <= value <= last:
            raise InputError(f"{name} {value:g}: it must be a time within the runs, from {first:g} to {last:g} s")
    return FrameSchedule(first if begin is None else begin, last if end is None else end, fps, speed)


def parse_size(text: str) -> tuple[int, int]:
    """Return width and height [pixels] of ``WxH``."""
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.strip().isdecimal() for part in parts):
        raise InputError(f"--size {text}: it must be WIDTHxHEIGHT, such as 640x480")
    width, height = (int(part) for part in parts)
    if not all(SIZES[0] <= edge <= SIZES[1] for edge in (width, height)):
        raise InputError(f"--size {text}: width and height must be from {SIZES[0]} to {SIZES[1]} pixels")
    return width, height
