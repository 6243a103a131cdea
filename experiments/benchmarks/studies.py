"""Trials a second."""

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from biped.metrics import measure_recording
from biped.simulation.session import Session
from contact.arrays import Floats
from experiments.benchmarks import section as table
from experiments.benchmarks.section import Budget, Section
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.registry import experiment_named
from experiments.studies.execution.executors import executor_named
from experiments.studies.execution.runner import run_trials
from experiments.studies.store.folder import Study
from experiments.studies.trial import Trial
from experiments.timing import cores, interleaved, seconds

EXPERIMENT = "balance"
STEPS = (2e-3, 5e-4)
#: A trial of 3 s: a push that does not throw the human, of another size in each, from a scattered posture.
PUSHED: Mapping[str, Value] = {"run.duration": 3.0, "push.azimuth": 0.7, "initial.jitter": 0.005}


def _trials(count: int, step: float) -> list[Trial]:
    return [
        Trial(k, dict(PUSHED) | {"run.step": step, "push.impulse": 2.0 + 4.0 * k / count, "initial.seed": k})
        for k in range(count)
    ]


def study_of(count: int, step: float, workers: int) -> Callable[[], float]:
    """Return a work that times a study [s]: so many trials in so many threads, on as many cores, with its folder."""

    def run(folder: str) -> None:
        with Study.create(Path(folder) / "study", "sweep", EXPERIMENT, {}) as study:
            run_trials(study, _trials(count, step), executor_named("threads", workers))

    def work() -> float:
        with tempfile.TemporaryDirectory() as folder, cores(workers):
            return seconds(lambda: run(folder))

    return work


def parts_of(count: int, step: float) -> Floats:
    """Return the times [s] of the loops, the metrics and the set-ups of trials that run one after the other."""
    experiment, taken = experiment_named(EXPERIMENT), np.zeros(3)
    with cores(1):
        for trial in _trials(count, step):
            begin = time.perf_counter()
            session = Session(experiment.build(trial.changes), in_one_go=True)
            ready = time.perf_counter()
            recording = session.run()
            done = time.perf_counter()
            measure_recording(recording)
            taken += (done - ready, time.perf_counter() - done, ready - begin)
    return taken


def studies_section(work: Budget) -> Section:
    count, most = 20 if work.quick else 480, min(2, os.cpu_count() or 1)
    section = Section(
        "studies",
        f"Studies of {count} trials of 3 s in stance under a push, rows at 500 Hz, all metrics, kept in a folder",
        (
            *(*table.columns("one core", f"{most} cores", unit="1/s", form=".1f"), *table.columns("scaling", "least")),
            *table.columns("closed loop", "metrics", "set-up", "files", unit="%", form=".1f"),
        ),
        notes=[
            "medians of runs taken in turn; scaling: the median of pairs, and the least",
            "on one core, of a trial's time: its closed loop (compiled), its metrics (compiled, but for 0.2 ms), its",
            "set-up from values of parameters (Python), and the study's folder (the rest)",
        ],
    )
    for step in STEPS:
        walls = interleaved({workers: study_of(count, step, workers) for workers in (1, most)}, work.few)
        split = interleaved({"parts": partial(parts_of, count, step)}, work.few)["parts"]
        whole, parts = median(walls[1]), np.median(split, axis=0).tolist()
        section.rows[f"steps of {table.milliseconds(step)}"] = (
            *(count / median(walls[workers]) for workers in (1, most)),
            *table.compared(walls[1], walls[most])[:2],
            *(100.0 * part / whole for part in (*parts, whole - sum(parts))),
        )
    return section
