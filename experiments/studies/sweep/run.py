"""Run a sweep from Python: a table comes out."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.studies.execution.executors import Executor
from experiments.studies.execution.runner import Progress, run_trials
from experiments.studies.store.config import Config
from experiments.studies.store.folder import Study
from experiments.studies.sweep.plan import Plan, plan_from

if TYPE_CHECKING:
    import pandas as pd

    from biped.simulation.simulate import Announce

KIND = "sweep"


def sweep(
    experiment: str,
    vary: Mapping[str, Any],
    changes: Mapping[str, Any] | None = None,
    *,
    replicas: int = 1,
    seed: int = 0,
    metrics: list[str] | None = None,
    out: str | Path | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> "pd.DataFrame":
    """Run an experiment at all combinations of some parameters' values.

    Args:
        experiment: its name.
        vary: by parameter a list of values or a range such as ``{"from": 1, "to": 2, "count": 5}``; under
            ``together``, parameters whose lists are gone through side by side; under ``sample``, ranges to draw from.
        changes: what differs from the experiment's defaults in all trials.
        replicas: of each combination, from scattered starts where there is more than one.
        seed: of samples and replicas.
        metrics: names or patterns such as ``peak_torque_*``; all, if not given.
        out: the study's folder; what is finished there is not run again. Without it nothing is kept.
        executor: where trials run; threads on all cores, if not given.
        progress: called with the number of trials that are done.

    Returns:
        One row for each trial, in the order of their numbers: ``verdict``, the varied parameters, the metrics.

    Raises:
        InputError: a name or a value is wrong, or the folder holds another study.
        OSError: the folder cannot be written.
    """
    data: dict[str, Any] = {
        "experiment": experiment, "seed": seed, "replicas": replicas, "set": dict(changes or {}), "vary": dict(vary)
    }  # fmt: skip
    if metrics is not None:
        data["metrics"] = metrics
    plan = plan_from(Config(data))
    if out is not None:
        with open_study(plan, out) as study:
            return run_plan(plan, study, executor, progress)
    with tempfile.TemporaryDirectory(prefix="biped-sweep-") as folder, open_study(plan, folder) as study:
        return run_plan(plan, study, executor, progress)


def open_study(plan: Plan, folder: str | Path) -> Study:
    """Begin the study of a plan, or go on with it; raises what ``Study.create`` raises."""
    return Study.create(
        folder,
        KIND,
        plan.experiment.name,
        plan.configuration,
        varied=plan.varied,
        metrics=plan.metrics,
        seed=plan.seed,
    )


def run_plan(
    plan: Plan,
    study: Study,
    executor: Executor | None = None,
    progress: Progress | None = None,
    announce: "Announce | None" = None,
) -> "pd.DataFrame":
    """Run the trials of a plan that its study has not; all of them as a table. Raises what ``run_trials`` raises."""
    run_trials(study, plan.trials(), executor, progress, announce)
    return study.frame()
