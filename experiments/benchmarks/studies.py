"""Trials per second of studies."""

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

from experiments.benchmarks import section as table
from experiments.benchmarks.section import Budget, Section
from experiments.catalogue.parameters.parameter import Value
from experiments.studies.execution.executors import executor_named
from experiments.studies.execution.runner import run_trials
from experiments.studies.store.folder import Study
from experiments.studies.trial import Trial
from experiments.timing import cores, interleaved, seconds

EXPERIMENT = "balance"
STEPS = (2e-3, 5e-4)
#: Trials of 3 s: harmless pushes of different sizes, from random postures.
PUSHED: Mapping[str, Value] = {"run.duration": 3.0, "push.azimuth": 0.7, "initial.jitter": 0.005}


def _trials(count: int, step: float) -> list[Trial]:
    return [
        Trial(k, dict(PUSHED) | {"run.step": step, "push.impulse": 2.0 + 4.0 * k / count, "initial.seed": k})
        for k in range(count)
    ]


def study_of(count: int, step: float, workers: int) -> Callable[[], float]:
    """Return a function that returns the time [s] of a study of ``count`` trials on ``workers`` threads and cores."""

    def run(folder: str) -> None:
        with Study.create(Path(folder) / "study", "sweep", EXPERIMENT, {}) as study:
            run_trials(study, _trials(count, step), executor_named("threads", workers))

    def work() -> float:
        with tempfile.TemporaryDirectory() as folder, cores(workers):
            return seconds(lambda: run(folder))

    return work


def studies_section(work: Budget) -> Section:
    count, most = 20 if work.quick else 480, min(2, os.cpu_count() or 1)
    section = Section(
        "studies",
        f"Studies of {count} trials of 3 s in stance under a push, rows at 500 Hz, all metrics, kept in a folder",
        (*table.columns("one core", f"{most} cores", unit="1/s", form=".1f"), *table.columns("scaling", "least")),
        notes=["medians of successive runs; scaling: median and least ratio of times on one core and on several"],
    )
    for step in STEPS:
        walls = interleaved({workers: study_of(count, step, workers) for workers in (1, most)}, work.few)
        section.rows[f"steps of {table.milliseconds(step)}"] = (
            *(count / median(walls[workers]) for workers in (1, most)),
            *table.compared(walls[1], walls[most])[:2],
        )
    return section
