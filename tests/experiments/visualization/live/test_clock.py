"""Simulated time follows a clock that the tests control."""

import itertools

import pytest

from experiments.catalogue.registry import experiment_named
from experiments.visualization.live.loop import Loop
from experiments.visualization.live.runner import MOST_LATE, Meter, RealTimeClock, Runner


class Clock:
    """Wall clock that advances during sleep, and by ``cost`` at each reading."""

    def __init__(self, cost=0.0):
        self.now, self.cost = 100.0, cost

    def __call__(self):
        self.now += self.cost
        return self.now

    def sleep(self, seconds):
        self.now += seconds


def test_ticks_are_due_as_time_passes():
    clock = RealTimeClock(0.002)
    assert clock.due(50.0) == 0
    assert clock.due(50.0039) == 1
    clock.took(1)
    assert clock.due(50.0041) == 1
    clock.took(1)
    assert clock.due(50.0041) == 0
    assert clock.dropped == 0.0


def test_what_is_late_by_too_much_is_dropped_and_counted():
    clock = RealTimeClock(0.002)
    clock.due(0.0)
    assert clock.due(3600.0) == round(MOST_LATE / 0.002)
    assert clock.dropped == pytest.approx(3600.0 - MOST_LATE)


def test_a_pause_is_not_made_up_for():
    clock = RealTimeClock(0.002)
    clock.due(0.0)
    clock.pause()
    assert clock.due(10.0) == 0
    assert clock.due(10.002) == 1
    assert clock.dropped == 0.0


def test_the_meter_tells_factor_and_idle_share():
    meter = Meter(span=1.0)
    assert meter.reading is None
    for k in range(100):
        meter.mark(5.0 + 0.1 * k, 0.05 * k)
        meter.slept(0.08)
    reading = meter.reading
    assert reading.factor == pytest.approx(0.5)
    assert reading.idle == pytest.approx(0.8)
    meter.clear()
    assert meter.reading is None


@pytest.fixture
def loop():
    return Loop(experiment_named("balance").build())


def test_it_runs_in_real_time(loop):
    clock, seen = Clock(), []
    runner = Runner(loop, lambda _: seen.append(runner.meter.reading), frame_rate=40.0, clock=clock, sleep=clock.sleep)
    runner.run(2.0)
    assert loop.time == pytest.approx(2.0 - 1.0 / 40.0, abs=2 * loop.tick)
    assert len(seen) == pytest.approx(80, abs=1)
    assert seen[-1].factor == pytest.approx(1.0, abs=1e-6)
    assert seen[-1].idle == pytest.approx(1.0)
    assert runner.real_time.dropped == 0.0


def test_a_slow_machine_says_so_and_does_not_fall_behind_farther_and_farther(loop):
    clock = Clock(cost=0.05)  # each reading takes two pictures' time, with 10 ms simulated in between
    walls = []
    runner = Runner(loop, lambda _: walls.append(clock.now), frame_rate=40.0, clock=clock, sleep=clock.sleep)
    began = clock.now
    runner.run(10.0)
    wall = clock.now - began
    assert loop.time < 0.5 * wall
    assert runner.meter.reading.factor == pytest.approx(loop.time / wall, rel=0.2)
    assert runner.real_time.dropped == pytest.approx(wall - loop.time, abs=0.3)
    gaps = [b - a for a, b in itertools.pairwise(walls)]
    assert max(gaps[5:]) <= max(gaps[:5]) + 1e-9  # pictures go on


def test_pause_stands_still_and_goes_on(loop):
    clock = Clock()
    runner = Runner(loop, lambda _: None, clock=clock, sleep=clock.sleep)
    runner.run(0.5)
    runner.pause(True)
    before = loop.time
    runner.run(5.0)
    assert loop.time == before
    assert runner.paused
    assert runner.meter.reading is None
    runner.pause(False)
    runner.run(0.5)
    assert before + 0.4 < loop.time <= before + 0.5
    assert runner.real_time.dropped == 0.0


def test_it_gets_up_again_by_itself_if_told(loop):
    clock, seen = Clock(), []

    def show(it):
        seen.append((clock.now, it.fell_at, it.time))

    runner = Runner(loop, show, auto_restart=True, clock=clock, sleep=clock.sleep)
    runner.ask(lambda it: it.push((1.0, 0.0, 0.0), 80.0))
    runner.run(5.0)
    down = [wall for wall, fell_at, _ in seen if fell_at is not None]
    assert down[-1] - down[0] == pytest.approx(Runner.LIES, abs=0.06)
    assert seen[-1][1] is None
    assert seen[-1][2] == pytest.approx(seen[-1][0] - down[-1], abs=0.1)


def test_a_defect_in_a_change_or_a_picture_ends_it_for_nobody(loop):
    """Errors in requests and pictures do not end the simulation; a failing picture is reported once."""
    clock, told, shown = Clock(), [], []

    def show(it):
        shown.append(it.time)
        if 0.1 < it.time < 0.2:
            raise KeyError("x" * 1_000_000)

    runner = Runner(loop, show, told.append, clock=clock, sleep=clock.sleep)
    runner.ask(lambda _: {}["no such plot"])
    runner.run(0.4)
    assert told[0] == "KeyError: 'no such plot'"
    assert len(told) == 2
    assert told[1].startswith("KeyError: 'xxx")
    assert len(told[1]) < 500
    assert shown[-1] > 0.3
