"""Simulated time kept to the time on the wall, and how well that goes."""

from collections import deque
from dataclasses import dataclass

#: [s] Simulated time that may be made up for at once; what is late by more is dropped.
MOST_LATE = 0.25


class RealTimeClock:
    """How many control ticks are due.

    Time that cannot be made up for is dropped and counted, so that a slow simulation runs slower than real time and
    does not fall behind farther and farther.
    """

    def __init__(self, tick: float, speed: float = 1.0) -> None:
        self.tick, self.speed = tick, speed  # [s] of simulated time; simulated seconds in one on the wall
        self.dropped = 0.0  # [s] of simulated time that were due and are not going to be simulated
        self._from: float | None = None
        self._taken = 0

    def pause(self) -> None:
        """Nothing is due until ``due`` is asked again, and from then on."""
        self._from = None

    def due(self, wall: float) -> int:
        """Ticks that are due at this time [s] on the wall; what is late by too much is dropped."""
        if self._from is None:
            self._from, self._taken = wall, 0
        due = int((wall - self._from) * self.speed / self.tick + 1e-9) - self._taken
        most = max(1, round(MOST_LATE / self.tick))
        if due > most:
            self.drop(due - most)
            due = most
        return max(0, due)

    def took(self, ticks: int) -> None:
        self._taken += ticks

    def drop(self, ticks: int) -> None:
        self._taken += ticks
        self.dropped += ticks * self.tick


@dataclass(frozen=True)
class Reading:
    """What a ``Meter`` shows."""

    factor: float  # simulated seconds in one on the wall
    idle: float  # share of the time in which there was nothing to do, 0 … 1


class Meter:
    """The real-time factor and the idle share over the last moments."""

    def __init__(self, span: float = 1.0) -> None:
        self._span = span  # [s] on the wall that is looked back at
        self._slept = 0.0
        self._marks: deque[tuple[float, float, float]] = deque()  # wall, simulated, slept

    def slept(self, seconds: float) -> None:
        self._slept += seconds

    def mark(self, wall: float, simulated: float) -> None:
        marks = self._marks
        marks.append((wall, simulated, self._slept))
        while len(marks) > 2 and marks[1][0] <= wall - self._span:
            marks.popleft()

    def clear(self) -> None:
        """Forget: what comes is not to be compared with what was."""
        self._marks.clear()

    @property
    def reading(self) -> Reading | None:
        """What it shows; None as long as there is nothing to tell."""
        if len(self._marks) < 2 or self._marks[-1][0] <= self._marks[0][0]:
            return None
        (begin, before, idle), (end, after, idle_then) = self._marks[0], self._marks[-1]
        wall = end - begin
        return Reading((after - before) / wall, (idle_then - idle) / wall)
