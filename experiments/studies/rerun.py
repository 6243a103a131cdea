"""One trial again: the full run, and whether it is what the study has."""

from dataclasses import dataclass

from biped.errors import IntegrationError
from biped.runs.run import Run
from biped.simulation.simulate import Announce, Progress
from contact.errors import BipedError
from experiments.studies.store.folder import Study
from experiments.studies.store.header import stamp
from experiments.studies.trial import Result, Trial, run_trial

#: What of a stamp says on what a result was computed, in the order of what may matter most.
MATTERS = {
    "kernels": "kernels",
    "biped-balance": "biped-balance",
    "commit": "commit",
    "numba": "numba",
    "numpy": "numpy",
    "python": "python",
    "target": "processor's instructions",
    "processor": "processor",
    "system": "system",
}


@dataclass(frozen=True)
class Again:
    """A trial that was run again.

    Attributes:
        trial: which.
        run: with all rows; of a trial that could not be computed, up to where it got; None where it could not begin.
        stored: the study's result.
        found: the result now.
    """

    trial: Trial
    run: Run | None
    stored: Result
    found: Result

    @property
    def differences(self) -> list[str]:
        """The names of what is not the same, bit for bit."""
        return [name for name, value in self.stored.items() if not _same(value, self.found.get(name))]

    @property
    def same(self) -> bool:
        """Whether verdict and all metrics that the study has are the same, bit for bit."""
        return not self.differences


def _same(stored: float | int | str | None, found: float | int | str | None) -> bool:
    """Equal, and zeros of the same sign; a whole number in a column of floats is one."""
    if isinstance(stored, float) and isinstance(found, (int, float)):
        return stored.hex() == float(found).hex()
    return stored == found


def rerun(study: Study, number: int, progress: Progress | None = None, announce: Announce | None = None) -> Again:
    """Run a trial again, from the study's folder alone.

    Args:
        study: open to be read.
        number: of the trial.
        progress: called with the time simulated so far [s].
        announce: called with a sentence before kernels are compiled.

    Raises:
        InputError: the study has no such trial.
        RunInterrupted: the user stopped it; ``error.run`` is what was computed.
    """
    trial = study.trial(number)
    stored = study.results([number])[number]
    found = run_trial(study.experiment, trial, announce)
    run: Run | None = None
    try:
        run = study.experiment.run(trial.changes, progress=progress, announce=announce)
        found |= _unlike(run, found)
    except IntegrationError as error:
        run = error.run
    except BipedError:  # what was wrong with it is in ``found``
        pass
    return Again(trial, run, stored, found)


def _unlike(run: Run, found: Result) -> Result:
    """What the recorded run measures otherwise than the trial without tables: nothing, or it shows as a difference."""
    metrics: Result = run.summary["metrics"]
    return {name: metrics[name] for name, value in found.items() if name in metrics and not _same(value, metrics[name])}


def changed_since(study: Study) -> list[str]:
    """What of machine and versions is not as in the study's sessions, in words."""
    now = stamp()
    found = []
    for key, name in MATTERS.items():
        before = list(dict.fromkeys(str(session.get(key)) for session in study.header.sessions))
        if before != [str(now.get(key))]:
            found.append(f"{name}: {' and '.join(before)} then, {now.get(key)} now")
    return found
