"""One trial of a study: an experiment with changed parameters, and its result.

The same experiment and changes give the same result, bit for bit, on the same machine with the same versions: all
seeds of random numbers are among the changes.
"""

import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from biped.errors import IntegrationError
from biped.inputs.modules import digest_of, files_in_same_folder
from biped.integrators import Integrator
from biped.metrics.measurement import Measurement, measured
from biped.metrics.runs import measurement_of
from biped.runs.verdict import INTERRUPTED
from biped.simulation.driver import Announce
from biped.simulation.scene import Scene
from biped.simulation.session import Session
from contact.errors import BipedError
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.engines.engine_integrator import EngineIntegrator
from experiments.lookup.foreign_kernels import kernel_errors
from experiments.studies.failures import TRACEBACK, OutOfTimeError, Result, failed, failed_by, time_limit
from experiments.studies.slopes import Slopes, slopes_of

__all__ = ["OUTCOME", "STORED", "Label", "Result", "Trial"]
__all__ += ["run_trial", "waits_for_python"]

#: Label of a trial: text or a number.
Label = str | float | int

#: Entries of every result.
OUTCOME = ("verdict", "reason", "failure", "message")
#: Entries that are stored with any choice of metrics.
STORED = (*OUTCOME, TRACEBACK)
#: Entry for the study's header: digests of the files that the controller has read, by path, as JSON.
FILES = "files"


@dataclass(frozen=True)
class Trial:
    """One trial of a study.

    Attributes:
        number: number of the trial in its study.
        changes: all changes of the experiment's defaults; nothing else affects the result.
        labels: labels such as scenario, replica, direction; they do not affect the result.
        slopes: derivatives that the result also has: of which metrics, with respect to which variables; None: none.
        reads: function that returns further entries of the result from the run, by name; None: no further entries.
    """

    number: int
    changes: Mapping[str, Value]
    labels: Mapping[str, Label] = field(default_factory=dict)
    slopes: Slopes | None = None
    reads: Callable[[Measurement], Result] | None = None


def run_trial(
    experiment: Experiment, trial: Trial, announce: Announce | None = None, limit: float | None = None
) -> Result:
    """Simulate a trial, and return its result: verdict and metrics, without time series.

    If a time step has no solution or a value is invalid, the result has the verdict ``failed``, the class of the error
    in ``failure``, and its text in ``message``. Any other error in code of the user or this project also adds a
    ``traceback``: a defect in one trial must not end the study. Errors of the machine, such as too little memory, are
    raised. ``limit`` [s]: longest time of the simulation, without loading kernels; only in a program's main thread.
    """
    scene = None
    try:
        scene = experiment.build(trial.changes)
        with kernel_errors(scene.controller, scene.floor):
            result = _measured(scene, announce, limit, trial.reads)
            if trial.slopes is not None:
                result |= slopes_of(experiment, trial.changes, trial.slopes, scene)
        laws = [] if scene.controller is None else scene.controller.files
        named = [Path(file).absolute() for file in (*laws, *getattr(scene.integrator, "files", ()))]
        files = [*named, *files_in_same_folder(type(scene.controller).__module__)]
        return result | ({FILES: json.dumps({str(file): digest_of(file) for file in files})} if files else {})
    except BipedError as error:
        trace = "" if error.__cause__ is None else "".join(traceback.format_exception(error.__cause__)).rstrip()
        return failed(type(error).__name__, str(error), trace)
    except (Exception, OutOfTimeError, SystemExit) as error:
        failure = failed_by(error, experiment, None if scene is None else scene.controller)
        if failure is None:
            raise
        return failure


def waits_for_python(experiment: Experiment, changes: Mapping[str, Value]) -> bool:
    """Return True if the controller or the integrator runs in Python; raises the errors of ``Experiment.build``."""
    scene = experiment.build(changes)
    if isinstance(scene.integrator, Integrator) and scene.integrator.steps_from_python:
        return True
    controller = scene.controller
    return controller is not None and (controller.acts or controller.law(scene.model) is None)


def _measured(
    scene: Scene, announce: Announce | None, limit: float | None, reads: Callable[[Measurement], Result] | None
) -> Result:
    session, integrator = Session(scene, log_holds_run=True, announce=announce), scene.integrator
    if announce is not None or limit is not None:
        session.warm_up(announce)
    with time_limit(limit):
        recording = session.run()
    if recording.ending.verdict == INTERRUPTED:
        raise KeyboardInterrupt
    if recording.ending.error is not None:
        error = recording.ending.error
        message = integrator.explained(error) if isinstance(integrator, EngineIntegrator) else error
        return failed(IntegrationError.__name__, message)
    run = measurement_of(recording)
    metrics = measured(run)
    if reads is not None:
        metrics |= reads(run)
    return {name: metrics.pop(name) for name in ("verdict", "reason")} | {"failure": "", "message": ""} | metrics
