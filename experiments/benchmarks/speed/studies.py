"""How many trials a second a study runs: with everything, from the values of parameters to the kept result."""

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from biped.metrics import measure_recording
from biped.simulation.session import Session
from experiments.benchmarks.sections import Column, Section
from experiments.benchmarks.timing import Spread, cores, interleaved, ratios, seconds
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


class Parts(NamedTuple):
    """Where the time of trials goes that run one after the other, without a study: [s] of all of them."""

    loop: float  # the closed loop
    metrics: float  # compiled kernels over the rows, but for some 0.2 ms a trial
    set_up: float  # from values of parameters to the first step, in Python


def _trials(count: int, step: float) -> list[Trial]:
    changes = [
        dict(PUSHED) | {"run.step": step, "push.impulse": 2.0 + 4.0 * k / count, "initial.seed": k}
        for k in range(count)
    ]
    return [Trial(number, change) for number, change in enumerate(changes)]


def study_of(count: int, step: float, workers: int, controller: str | None = None) -> Callable[[], float]:
    """[s] of a study of so many trials in so many threads, on as many cores, with its folder."""

    def run(folder: str) -> None:
        with Study.create(Path(folder) / "study", "sweep", EXPERIMENT, {}, controller=controller) as study:
            run_trials(study, _trials(count, step), executor_named("threads", workers))

    def work() -> float:
        with tempfile.TemporaryDirectory() as folder, cores(workers):
            return seconds(lambda: run(folder))

    return work


def parts_of(count: int, step: float) -> Parts:
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
    return Parts(*taken.tolist())


def studies_section(count: int, repeats: int) -> Section:
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
        walls = interleaved({workers: study_of(count, step, workers) for workers in (1, most)}, repeats)
        split = interleaved({"parts": partial(parts_of, count, step)}, repeats)["parts"]
        scaling = Spread.of(ratios(walls[1], walls[most]))
        whole = median(walls[1])
        parts = [median(part) for part in zip(*split, strict=True)]
        section.rows[f"steps of {1e3 * step:g} ms"] = (
            *(count / median(walls[workers]) for workers in (1, most)),
            *(scaling.median, scaling.least),
            *(100.0 * part / whole for part in (*parts, whole - sum(parts))),
        )
    return section
