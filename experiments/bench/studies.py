"""How many trials a second a study runs: with everything, from the values of parameters to the kept result."""

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from biped.session import Session
from experiments.bench.sections import Column, Section
from experiments.bench.timing import Spread, cores, interleaved
from experiments.parameters.parameter import Value
from experiments.registry import experiment_named
from experiments.study.engine import run_trials
from experiments.study.executors import executor_named
from experiments.study.folder import Study
from experiments.trial import Trial

EXPERIMENT = "balance"
STEPS = (2e-3, 5e-4)
#: A trial of 3 s: a push that does not throw the human, of another size in each, from a scattered posture.
PUSHED: Mapping[str, Value] = {"run.duration": 3.0, "push.azimuth": 0.7, "initial.jitter": 0.005}


@dataclass(frozen=True)
class Rate:
    """A study that was timed.

    Attributes:
        trials: how many.
        wall: [s] of all, with the study's folder.
        looped: [s] of their closed loops, run one after the other.
    """

    trials: int
    wall: float
    looped: float | None = None

    @property
    def rate(self) -> float:
        """[1/s]."""
        return self.trials / self.wall


def _trials(count: int, step: float) -> list[Trial]:
    changes = [
        dict(PUSHED) | {"run.step": step, "push.impulse": 2.0 + 4.0 * k / count, "initial.seed": k}
        for k in range(count)
    ]
    return [Trial(number, change) for number, change in enumerate(changes)]


def study_of(count: int, step: float, workers: int) -> Callable[[], Rate]:
    """A study of so many trials in so many threads, on as many cores."""

    def work() -> Rate:
        trials = _trials(count, step)
        with tempfile.TemporaryDirectory() as folder, cores(workers):
            begin = time.perf_counter()
            with Study.create(Path(folder) / "study", "sweep", EXPERIMENT, {}) as study:
                run_trials(study, trials, executor_named("threads", workers))
            return Rate(count, time.perf_counter() - begin)

    return work


def loops_of(count: int, step: float) -> Callable[[], Rate]:
    """The closed loops of the same trials, and nothing else."""

    def work() -> Rate:
        experiment, looped = experiment_named(EXPERIMENT), 0.0
        with cores(1):
            begin = time.perf_counter()
            for trial in _trials(count, step):
                looped += Session(experiment.build(trial.changes).prepare()).run().counters.wall_time
            return Rate(count, time.perf_counter() - begin, looped)

    return work


def studies_section(count: int, repeats: int) -> Section:
    """Trials a second on one core and on more, and what share of the time is not the closed loops'."""
    most = min(2, os.cpu_count() or 1)
    section = Section(
        "studies",
        f"Studies of {count} trials of 3 s in stance under a push, 500 Hz rows, all metrics, kept in a folder",
        (
            Column("one core", "1/s", ".1f"),
            Column(f"{most} cores", "1/s", ".1f"),
            Column("scaling"),
            Column("least"),
            Column("outside", "%", ".1f"),
        ),
        notes=[
            "medians of runs taken in turn; scaling: the median of pairs, and the least",
            "outside: the part of a trial's time on one core that is not its closed loop: set-up, metrics, files",
        ],
    )
    for step in STEPS:
        cases = {
            "one": study_of(count, step, 1),
            "more": study_of(count, step, most),
            "loops": loops_of(count, step),
        }
        found = interleaved(cases, repeats)
        scaling = Spread.of([b.rate / a.rate for a, b in zip(found["one"], found["more"], strict=True)])
        outside = [1.0 - (b.looped or 0.0) / a.wall for a, b in zip(found["one"], found["loops"], strict=True)]
        section.rows[f"steps of {1e3 * step:g} ms"] = (
            Spread.of([rate.rate for rate in found["one"]]).median,
            Spread.of([rate.rate for rate in found["more"]]).median,
            scaling.median,
            scaling.least,
            100.0 * Spread.of(outside).median,
        )
    return section
