"""Saved runs with their experiments, changed parameters and versions."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biped.errors import InputError
from biped.inputs.modules import saved_names
from biped.runs.run import MODEL, STATE, SUMMARY, TABLE, Run, missing_files, read_summary
from biped.runs.world import WORLD
from contact.errors import BipedError
from experiments.catalogue.experiment import SOURCES, Experiment
from experiments.catalogue.parameters.controllers import NAME as CONTROLLER
from experiments.catalogue.parameters.parameter import Value, from_json, shown
from experiments.catalogue.parameters.robots import HUMAN, stand_in
from experiments.catalogue.parameters.robots import NAME as ROBOT
from experiments.catalogue.registry import experiment_named
from experiments.lookup.open_registry import digest_at

WITHOUT = "the run was saved without it"


@dataclass(frozen=True)
class RunSource:
    """Saved run with its experiment and versions."""

    folder: Path  # folder of the run
    run: Run
    #: experiment; None if the run was saved by other means, by a version whose experiment had other parameters, or
    #: by code that the user has not named (``saved_names``)
    experiment: Experiment | None
    values: Mapping[str, Any]  # value of each parameter of the experiment; saved parameters if it is unknown
    changes: Mapping[str, Value]  # values that differ from the experiment's defaults
    versions: Mapping[str, str]  # versions of the software
    unknown: str = WITHOUT  # reason why the experiment is unknown


def saved_option(value: Any) -> str:
    """Return a parameter's value from JSON, which has no tuples, as ``--set`` shows it."""
    return shown(tuple(value) if isinstance(value, list) else value)


def is_run(folder: Path) -> bool:
    return not missing_files(folder)


def load_run(folder: str | Path) -> Run:
    """Return the run that is saved in a folder, whatever its experiment.

    Raises:
        InputError: the folder holds no run, or its files are damaged, or its model is unknown.
        OSError: a file cannot be read.
    """
    return run_source(folder).run


@saved_names()
def run_source(folder: str | Path) -> RunSource:
    """Return the run in a folder with its experiment; code is imported only if the user has named it."""
    folder = Path(folder)
    if not is_run(folder):
        files = f"{TABLE}, {SUMMARY}, and either {WORLD} or both {STATE} and {MODEL}"
        raise InputError(f"{folder}: no run in it; a run has the files {files}")
    try:
        summary = read_summary(folder)
        saved, versions = dict(summary["parameters"]), dict(summary["versions"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder / SUMMARY}: damaged, or not the summary of a run ({error!r})") from error
    name = saved.pop("experiment", None)
    sources = saved.pop(SOURCES, {})
    if ROBOT in saved:
        stand_in(saved[ROBOT], folder / MODEL)
    experiment, values, unknown = _experiment_of(name, saved)
    known = {} if experiment is None else experiment.sources
    versions |= {file: _version_of(digest, known.get(file) or digest_at(file)) for file, digest in sources.items()}
    changes = {} if experiment is None else changes_of(experiment, values)
    run = Run.load(folder)
    return RunSource(folder, run, experiment, values, changes, versions, unknown)


def _version_of(digest: str, now: str) -> str:
    """Return the saved version of a user's file, and whether the file has changed since."""
    if not now:
        return f"{digest}; the file is missing now"
    return digest if now == digest else f"{digest}; the file has been edited since"


def _experiment_of(name: str | None, saved: Mapping[str, Any]) -> tuple[Experiment | None, Mapping[str, Any], str]:
    """Return the experiment with its controller, the saved values, and the reason if the experiment is None."""
    if name is None:
        return None, saved, WITHOUT
    try:
        robot = saved.get(ROBOT)
        experiment = experiment_named(name, saved.get(CONTROLLER), (), None if robot == HUMAN else robot)
        return experiment, {key: from_json(experiment.parameter(key), value) for key, value in saved.items()}, ""
    except BipedError as error:
        return None, saved, str(error)


def changes_of(experiment: Experiment, values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the changes that give all of ``values``; defaults and values that follow from others are left out."""
    changes = {p.name: values[p.name] for p in experiment.parameters if values.get(p.name, p.default) != p.default}
    for name in list(changes):  # defaults of the integrator and of the seed depend on other values
        rest = {key: value for key, value in changes.items() if key != name}
        if experiment.values(rest)[name] == changes[name]:
            changes = rest
    implied = experiment.values(changes)
    return changes | {name: value for name, value in values.items() if implied[name] != value}
