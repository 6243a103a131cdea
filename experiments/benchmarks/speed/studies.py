"""How many trials a second a study runs: with everything, from the values of parameters to the kept result."""

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from biped.metrics import measure_recording
from biped.simulation.session import Session
from experiments.benchmarks.sections import Column, Section
from experiments.benchmarks.timing import Spread, cores, interleaved
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.registry import experiment_named
from experiments.studies.execution.executors import executor_named
from experiments.studies.execution.runner import run_trials
from experiments.studies.store.folder import Study
from experiments.studies.trial import Trial

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
    """

    trials: int
    wall: float

    @property
    def rate(self) -> float:
        """[1/s]."""
        return self.trials / self.wall


@dataclass
class Parts:
    """Where the time of trials goes that run one after the other, without a study: [s] of all of them.

    Attributes:
        set_up: from values of parameters to the first step, in Python.
        loop: the closed loop.
        metrics: compiled kernels over the rows, but for some 0.2 ms a trial.
    """

    set_up: float = 0.0
    loop: float = 0.0
    metrics: float = 0.0


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


def parts_of(count: int, step: float) -> Callable[[], Parts]:
    def work() -> Parts:
        experiment, parts = experiment_named(EXPERIMENT), Parts()
        with cores(1):
            for trial in _trials(count, step):
                begin = time.perf_counter()
                session = Session(experiment.build(trial.changes).prepare(in_one_go=True))
                ready = time.perf_counter()
                recording = session.run()
                done = time.perf_counter()
                measure_recording(recording)
                parts.metrics += time.perf_counter() - done
                parts.set_up += ready - begin
                parts.loop += done - ready
        return parts

    return work


def studies_section(count: int, repeats: int) -> Section:
    """Trials a second on one core and on more, and where the time goes."""
    most = min(2, os.cpu_count() or 1)
    section = Section(
        "studies",
        f"Studies of {count} trials of 3 s in stance under a push, rows at 500 Hz, all metrics, kept in a folder",
        (
            Column("one core", "1/s", ".1f"),
            Column(f"{most} cores", "1/s", ".1f"),
            *(Column("scaling"), Column("least")),
            *(Column(name, "%", ".1f") for name in ("closed loop", "metrics", "set-up", "files")),
        ),
        notes=[
            "medians of runs taken in turn; scaling: the median of pairs, and the least",
            "on one core, of a trial's time: its closed loop (compiled), its metrics (compiled, but for 0.2 ms), its",
            "set-up from values of parameters (Python), and the study's folder (the rest)",
        ],
    )
    for step in STEPS:
        one, more, parts = (
            study_of(count, step, 1),
            study_of(count, step, most),
            parts_of(count, step),
        )
        rates = interleaved({"one": one, "more": more}, repeats)
        split = interleaved({"parts": parts}, repeats)["parts"]
        scaling = Spread.of([b.rate / a.rate for a, b in zip(rates["one"], rates["more"], strict=True)])
        whole = Spread.of([rate.wall for rate in rates["one"]]).median
        shares = [Spread.of([getattr(part, name) for part in split]).median for name in ("loop", "metrics", "set_up")]
        section.rows[f"steps of {1e3 * step:g} ms"] = (
            Spread.of([rate.rate for rate in rates["one"]]).median,
            Spread.of([rate.rate for rate in rates["more"]]).median,
            *(scaling.median, scaling.least),
            *(100.0 * share / whole for share in (*shares, whole - sum(shares))),
        )
    return section
