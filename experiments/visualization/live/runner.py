"""The thread that keeps a loop to the time on the wall, and shows it; its clock, and a meter of how well that goes."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue

from experiments.cli.failures import describe
from experiments.visualization.live.loop import Loop

#: [s] Simulated time that may be made up for at once; what is late by more is dropped.
MOST_LATE = 0.25


class RealTimeClock:
    """How many control ticks are due.

    Time that cannot be made up for is dropped and counted, so that a slow simulation runs slower than real time and
    does not fall behind farther and farther.
    """

    def __init__(self, tick: float) -> None:
        self.tick = tick  # [s] of simulated time
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
    """The reading of a ``Meter``."""

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
        """The factor and the share now; None before two marks."""
        if len(self._marks) < 2 or self._marks[-1][0] <= self._marks[0][0]:
            return None
        (begin, before, idle), (end, after, idle_then) = self._marks[0], self._marks[-1]
        wall = end - begin
        return Reading((after - before) / wall, (idle_then - idle) / wall)


#: Pictures in a second.
FRAME_RATE = 30.0
#: Share of a picture's time after which no further ticks are begun: the rest is for drawing and for others.
BUDGET = 0.7
#: [s] of simulated time between two looks at the clock.
SLICE = 0.01

#: Characters of what went wrong that are told.
LONGEST = 400

Change = Callable[[Loop], None]


class Runner:
    """Advances a loop in real time until it is stopped.

    All that touches the loop happens in ``run``'s own thread: ``ask`` hands changes over, which are made between two
    control ticks.
    """

    #: [s] from a fall to the restart, if it is restarted by itself.
    LIES = 1.5

    def __init__(
        self,
        loop: Loop,
        show: Callable[[Loop], None],  # called once a picture
        complain: Callable[[str], None] = print,  # called with what was wrong with a change
        *,
        frame_rate: float = FRAME_RATE,  # [1/s] pictures
        auto_restart: bool = False,  # after a fall
        clock: Callable[[], float] = time.perf_counter,  # [s] on the wall
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
        self._unseen = ""  # why the last picture could not be shown

    def ask(self, change: Change) -> None:
        """Make this change between two control ticks, soon; from any thread."""
        self._changes.put(change)

    def pause(self, paused: bool) -> None:
        self.paused = paused

    def stop(self) -> None:
        """Let ``run`` return; from any thread."""
        self._stop.set()

    def run(self, duration: float = float("inf")) -> None:
        """Advance in real time, for so many seconds on the wall or until ``stop``."""
        self.real_time.pause()  # no time is due from before
        began = frame = self._clock()
        while not self._stop.is_set() and frame - began < duration:
            self.one_frame(frame)
            frame = self._wait(frame + self._frame)

    def now(self) -> float:
        return self._clock()

    def one_frame(self, wall: float) -> None:
        """All that is to be done for the picture of this time on the wall."""
        self._make_changes()
        self._get_up(wall)
        if self.paused or self.loop.has_ended:
            self._rest()
        else:
            self._catch_up(wall)
        wrong = self._attempt(lambda: self._show(self.loop))
        if wrong and wrong != self._unseen:  # told once, not with each picture
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
        """Do what a page asks for, or is sent; what went wrong, or nothing: it ends the simulation for nobody."""
        try:
            act()
        except Exception as error:
            return (describe(error) or f"{type(error).__name__}: {error}")[:LONGEST]
        return ""

    def _catch_up(self, wall: float) -> None:
        """Advance by the ticks that are due, as far as there is time for them; those that are left are dropped."""
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

    def _get_up(self, wall: float) -> None:
        """Restart what has been down for long enough, if it is to be restarted by itself."""
        if self.loop.fell_at is None and not self.loop.has_ended:
            self._ended_at = None
        elif self._ended_at is None:
            self._ended_at = wall
        elif self.auto_restart and wall - self._ended_at >= self.LIES:
            self._ended_at = None
            self._make(Loop.restart)

    def _wait(self, until: float) -> float:
        """Sleep up to a time; the time then. If it is past, there is none to sleep, and no frame is made up for."""
        now = self._clock()
        if now < until:
            self._sleep(until - now)
            after = self._clock()
            self.meter.slept(after - now)
            return after
        return now
