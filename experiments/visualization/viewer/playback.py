"""Playback state: play or pause, speed, range, repeat."""

import math
import threading
from collections.abc import Callable


class Playback:
    """Time [s] of the run that is shown; safe to use from several threads."""

    def __init__(self, begins: float, ends: float, speed: float = 1.0, *, playing: bool = True) -> None:
        self.begins, self.ends, self.loop = begins, ends, True
        self.on_change: Callable[[], None] = lambda: None  # called after each change, to show it immediately
        self._time, self._playing, self._lock = begins, playing, threading.RLock()
        self._seen: float | None = None  # last call of ``advance``
        self.speed = speed  # seconds of the run per second, positive

    @property
    def time(self) -> float:
        return self._time

    @property
    def playing(self) -> bool:
        return self._playing

    def play(self, on: bool = True) -> None:
        """Play or pause; at the end, play from the beginning."""
        with self._lock:
            if on and self._time >= self.ends:
                self._time = self.begins
            self._playing, self._seen = on, None
        self.on_change()

    def toggle(self) -> None:
        with self._lock:
            self.play(not self._playing)

    def seek(self, time: float) -> None:
        """Go to the nearest possible time; NaN is ignored."""
        if math.isnan(time):
            return
        with self._lock:
            self._time, self._seen = min(max(time, self.begins), self.ends), None
        self.on_change()

    def advance(self, now: float) -> float:
        """Return the time to show at ``now`` [s] of a monotonic clock."""
        with self._lock:
            if self._playing and self._seen is not None:
                self._go(self.speed * (now - self._seen))
            self._seen = now if self._playing else None
            return self._time

    def hold(self) -> None:
        with self._lock:
            self._seen = None

    def _go(self, by: float) -> None:
        time, length = self._time + by, self.ends - self.begins
        if time < self.ends:
            self._time = time
        elif self.loop and length > 0.0:
            self._time = self.begins + (time - self.begins) % length
        else:
            self._time, self._playing = self.ends, False
