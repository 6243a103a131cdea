"""Thread that keeps a loop at real time and shows it, with its clock and a meter of the real-time factor."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue

from experiments.cli.failures import describe
from experiments.visualization.live.loop import Loop

#: [s] largest delay that is made up for; the rest is dropped.
MOST_LATE = 0.25


class RealTimeClock:
    """Clock that returns the number of due control ticks.

    Time that cannot be made up for is dropped and counted: a slow simulation runs slower than real time instead of
    falling behind more and more.
    """

    def __init__(self, tick: float) -> None:
        self.tick = tick  # [s] of simulated time
        self.dropped = 0.0  # [s] simulated time that is skipped
        self._from: float | None = None
        self._taken = 0

    def pause(self) -> None:
        """Reset the clock: no ticks are due until ``due`` is called again."""
        self._from = None

    def due(self, wall: float) -> int:
        """Return the ticks due at a wall time [s]; too large delays are dropped."""
        if self._from is None:
            self._from, self._taken = wall, 0
        due = int((wall - self._from) / self.tick + 1e-9) - self._taken
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
    """Reading of a ``Meter``."""

    factor: float  # simulated seconds per second of wall time
    idle: float  # share of idle time, 0 … 1


class Meter:
    """Real-time factor and idle share over the last ``span`` [s] of wall time."""

    def __init__(self, span: float = 1.0) -> None:
        self._span = span  # [s] wall time of the average
        self._slept = 0.0
        self._marks: deque[tuple[float, float, float]] = deque()  # wall, simulated and idle time

    def slept(self, seconds: float) -> None:
        self._slept += seconds

    def mark(self, wall: float, simulated: float) -> None:
        marks = self._marks
        marks.append((wall, simulated, self._slept))
        while len(marks) > 2 and marks[1][0] <= wall - self._span:
            marks.popleft()

    def clear(self) -> None:
        """Forget all marks before an interruption."""
        self._marks.clear()

    @property
    def reading(self) -> Reading | None:
        """Present factor and share; None before two marks."""
        if len(self._marks) < 2 or self._marks[-1][0] <= self._marks[0][0]:
            return None
        (begin, before, idle), (end, after, idle_then) = self._marks[0], self._marks[-1]
        wall = end - begin
        return Reading((after - before) / wall, (idle_then - idle) / wall)


#: Pictures per second.
FRAME_RATE = 30.0
#: Share of a picture's time for simulation; the rest is for drawing and other threads.
BUDGET = 0.7
#: [s] simulated time between two readings of the clock.
SLICE = 0.01

#: Most characters of an error message on the page.
LONGEST = 400

Change = Callable[[Loop], None]


class Runner:
    """Advances a loop in real time until it is stopped.

    Only ``run``'s thread uses the loop: ``ask`` submits changes, which are made between two control ticks.
    """

    #: [s] from a fall to an automatic restart.
    LIES = 1.5

    def __init__(
        self,
        loop: Loop,
        show: Callable[[Loop], None],  # called once per picture
        complain: Callable[[str], None] = print,  # called with the reason of a failed change
        *,
        frame_rate: float = FRAME_RATE,  # [1/s] pictures
        auto_restart: bool = False,  # restart after a fall
        clock: Callable[[], float] = time.perf_counter,  # [s] wall time
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.loop, self.auto_restart, self.paused = loop, auto_restart, False
        self.meter = Meter()
        self.real_time = RealTimeClock(loop.tick)
        self._show, self._complain = show, complain
        self._frame = 1.0 / frame_rate
        self._clock, self._sleep = clock, sleep
        self._changes: SimpleQueue[Change] = SimpleQueue()
        self._stop = threading.Event()
        self._ended_at: float | None = None
        self._simulated = 0.0
        self._unseen = ""  # reason why the last picture failed

    def ask(self, change: Change) -> None:
        """Submit a change, which is made between two control ticks; callable from any thread."""
        self._changes.put(change)

    def pause(self, paused: bool) -> None:
        self.paused = paused

    def stop(self) -> None:
        """Let ``run`` return; callable from any thread."""
        self._stop.set()

    def run(self, duration: float = float("inf")) -> None:
        """Advance in real time for a wall time [s], or until ``stop``."""
        self.real_time.pause()  # no earlier time is due
        began = frame = self._clock()
        while not self._stop.is_set() and frame - began < duration:
            self.one_frame(frame)
            frame = self._wait(frame + self._frame)

    def now(self) -> float:
        return self._clock()

    def one_frame(self, wall: float) -> None:
        """Make changes, advance, and show the picture at a wall time [s]."""
        self._make_changes()
        self._restart_after_fall(wall)
        if self.paused or self.loop.has_ended:
            self._rest()
        else:
            self._catch_up(wall)
        wrong = self._attempt(lambda: self._show(self.loop))
        if wrong and wrong != self._unseen:  # reported once, not with each picture
            self._complain(wrong)
        self._unseen = wrong

    def _make_changes(self) -> None:
        while True:
            try:
                change = self._changes.get_nowait()
            except Empty:
                return
            self._make(change)

    def _make(self, change: Change) -> None:
        wrong = self._attempt(partial(change, self.loop))
        if wrong:
            self._complain(wrong)

    def _attempt(self, act: Callable[[], None]) -> str:
        """Call ``act``; return the text of its error, or an empty text, so that the simulation continues."""
        try:
            act()
        except Exception as error:
            return (describe(error) or f"{type(error).__name__}: {error}")[:LONGEST]
        return ""

    def _catch_up(self, wall: float) -> None:
        """Advance by the due ticks for which there is time; the others are dropped."""
        loop, real_time = self.loop, self.real_time
        latest = wall + BUDGET * self._frame
        due, slices = real_time.due(wall), max(1, round(SLICE / loop.tick))
        while due > 0 and not loop.has_ended:
            ticks = loop.advance(min(due, slices))
            real_time.took(ticks)
            self._simulated += ticks * loop.tick
            due -= ticks
            if due > 0 and self._clock() > latest:
                real_time.drop(due)
                break
        self.meter.mark(wall, self._simulated)

    def _rest(self) -> None:
        self.real_time.pause()
        self.meter.clear()

    def _restart_after_fall(self, wall: float) -> None:
        """Restart after a fall and a delay, if automatic restart is on."""
        if self.loop.fell_at is None and not self.loop.has_ended:
            self._ended_at = None
        elif self._ended_at is None:
            self._ended_at = wall
        elif self.auto_restart and wall - self._ended_at >= self.LIES:
            self._ended_at = None
            self._make(Loop.restart)

    def _wait(self, until: float) -> float:
        """Sleep until a time [s], if it is in the future, and return the present time."""
        now = self._clock()
        if now < until:
            self._sleep(until - now)
            after = self._clock()
            self.meter.slept(after - now)
            return after
        return now
