"""Rerun of one trial: the full run, and a comparison with the stored result."""

import json
from dataclasses import dataclass

from biped.errors import IntegrationError
from biped.inputs.modules import saved_names
from biped.runs.run import Run
from biped.simulation.simulate import Announce, Progress
from contact.errors import BipedError
from experiments.studies.failures import TRACEBACK
from experiments.studies.registry import imported, kinds
from experiments.studies.run import plan_of
from experiments.studies.store.folder import Study
from experiments.studies.store.header import edited, stamp
from experiments.studies.trial import Result, Trial, run_trial

#: Labels of the stamp's entries that may change a result, the most important first.
MATTERS = {
    **{name: name for name in ("kernels", "biped-balance", "commit", "numba", "numpy", "python")},
    "target": "processor's instructions",
    "processor": "processor",
    "system": "system",
}


@dataclass(frozen=True)
class Rerun:
    """A trial that was run again, with the stored and the new result."""

    trial: Trial
    #: the run with all its rows, up to the failure of a failed trial; None if it could not begin
    run: Run | None
    stored: Result  # result in the study
    present: Result  # result of the new run

    @property
    def differences(self) -> list[str]:
        return [name for name, value in self.stored.items() if json.dumps(value) != json.dumps(self.present.get(name))]

    @property
    def same(self) -> bool:
        return not self.differences


@saved_names()
def rerun(study: Study, number: int, progress: Progress | None = None, announce: Announce | None = None) -> Rerun:
    """Run a trial of a stored study again; ``progress`` is called with the simulated time [s]."""
    trial = study.trial(number)
    kind = kinds().get(study.header.kind)
    if kind is not None and imported(kind.study).reads_more:
        trial = plan_of(study).as_planned(trial)
    stored = study.results([number])[number]
    present = run_trial(study.experiment, trial, announce)
    run: Run | None = None
    if TRACEBACK in present:  # code that has failed is not run again
        return Rerun(trial, run, stored, present)
    try:
        run = study.experiment.run(trial.changes, progress=progress, announce=announce)
        # The run with tables must have the same metrics as the trial without them, or a difference is reported.
        present |= {name: value for name, value in run.summary["metrics"].items() if name in present}
    except IntegrationError as error:
        run = error.run
    except BipedError:  # ``present`` has the error
        pass
    return Rerun(trial, run, stored, present)


def changed_since(study: Study) -> list[str]:
    """Return sentences on what changed since the study ran: edited files, versions, machine."""
    now = stamp()
    changes = [f"{name} has been edited" for name in edited(study.header, study.experiment.sources)]
    for key, name in MATTERS.items():
        before = list(dict.fromkeys(str(session.get(key)) for session in study.header.sessions))
        if before != [str(now.get(key))]:
            changes.append(f"{name}: {' and '.join(before)} then, {now.get(key)} now")
    return changes
