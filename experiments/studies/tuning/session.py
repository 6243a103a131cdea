"""A tuning in its study's folder: run, gone on with, or recalled."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biped.errors import InputError
from biped.extras import need
from biped.simulation.simulate import Announce
from experiments.studies.execution.executors import Executor
from experiments.studies.execution.runner import run_trials
from experiments.studies.seeds import seed_of
from experiments.studies.store.config import Config
from experiments.studies.store.folder import Study
from experiments.studies.trial import Result, Trial
from experiments.studies.tuning.config import KIND, Tuning, tuning_from
from experiments.studies.tuning.optimizers import OPTIMIZERS, Optimizer, Start, make_optimizer
from experiments.studies.tuning.plan import TUNING, Candidate
from experiments.studies.tuning.shared import SharedTuner, open_storage, shared_study, worker_of
from experiments.studies.tuning.tuner import Confirmation, Tried, Tuned, Tuner

#: Called with the trials that are done.
Progress = Callable[[float], None]
#: Called after each batch.
Watch = Callable[[Tuned], None]


@dataclass(frozen=True)
class Outcome:
    """What a tuning came to.

    Attributes:
        tuned: all candidates.
        winner: the best that keeps all limits; of a front, the one that the weights choose. None if there is none.
        confirmation: what fresh replicas say of it.
    """

    tuned: Tuned
    winner: Tried | None
    confirmation: Confirmation | None

    @property
    def is_confirmed(self) -> bool:
        """Whether there is a winner, and fresh replicas confirm it."""
        return self.confirmation is not None and self.confirmation.holds


def open_tuning(tuning: Tuning, folder: Path, storage: str | None = None) -> Study:
    """Begin the study of a tuning, or go on with it.

    Raises:
        InputError, OSError: as ``Study.create``.
        MissingExtraError: the optimizer, or what says in the end which parameters mattered, is not installed.
    """
    need("optuna", *OPTIMIZERS[tuning.optimizer].packages)
    return Study.create(
        folder,
        KIND,
        tuning.plan.experiment.name,
        {"name": tuning.name, "tuning": dict(tuning.data), "storage": storage},
        varied=tuning.plan.varied,
        units=tuning.plan.units,
        seed=tuning.plan.seed,
    )


class Runner:
    """Runs trials in a study, or recalls them.

    Attributes:
        done: the trials that were asked for so far.
    """

    def __init__(
        self,
        study: Study,
        executor: Executor,
        progress: Progress | None = None,
        announce: Announce | None = None,
    ) -> None:
        self._study, self._executor, self._progress, self._announce = study, executor, progress, announce
        self.done = 0

    def __call__(self, trials: Sequence[Trial]) -> Mapping[int, Result]:
        """The results of these trials.

        Raises:
            InputError: a finished trial is another one: the optimizer asks for others than it did.
        """
        results = run_trials(self._study, trials, self._executor, self._report, self._announce)
        self.done += len(trials)
        _check_names(trials[0], results[trials[0].number])
        return results

    def _report(self, done: float) -> None:
        if self._progress is not None:
            self._progress(self.done + done)


def _check_names(trial: Trial, result: Result) -> None:
    both = set(trial.labels) & set(result)
    if both:
        raise InputError(f"a parameter cannot be called {both.pop()!r}: that is a metric; give it another name")


def trials_of(tuning: Tuning) -> int:
    """How many trials a tuning has, its confirmation included."""
    return (1 + tuning.candidates) * tuning.plan.size + 2 * tuning.confirm * len(tuning.plan.scenarios)


def run_tuning(
    tuning: Tuning,
    study: Study,
    executor: Executor,
    progress: Progress | None = None,
    watch: Watch | None = None,
    announce: Announce | None = None,
) -> Outcome:
    """Run what is missing of a tuning, and confirm its winner.

    Args:
        tuning: what to do.
        study: its, as ``open_tuning`` gives it.
        executor: where trials run.
        progress: called with the number of trials done.
        watch: called after each batch.
        announce: called with a sentence before kernels are compiled.

    Raises:
        InputError: a metric is missing, or the study's trials are others.
        OSError: the folder or the storage cannot be written.
        KeyboardInterrupt: what is finished is kept.
    """
    tuner = Tuner(tuning.plan, tuning.judge, Runner(study, executor, progress, announce))
    storage = study.configuration["storage"]
    if storage is None:
        tuned = tuner.run(lambda start: _optimizer(tuning, start), tuning.candidates, tuning.batch, watch)
    else:
        shared = shared_study(open_storage(storage), tuning.name, tuning.data, len(tuning.judge.objectives))
        one = SharedTuner(tuner, shared, worker_of(study.folder), tuning.optimizer, tuning.batch)
        tuned = one.run(tuning.candidates, watch)
    winner = winner_of(tuning, tuned)
    confirmed = None if winner is None else tuner.confirm(winner.candidate, tuned.bounds, tuning.confirm)
    return Outcome(tuned, winner, confirmed)


def _optimizer(tuning: Tuning, start: Start | None) -> Optimizer:
    seed = seed_of(tuning.plan.seed, "optimizer") % 2**32
    return make_optimizer(tuning.optimizer, tuning.plan.knobs, seed, tuning.batch, len(tuning.judge.objectives), start)


def winner_of(tuning: Tuning, tuned: Tuned) -> Tried | None:
    """The best candidate; of a front, that of the least weighted sum of costs, if the tuning has weights."""
    if not tuning.is_front:
        return tuned.best
    if not tuning.choice:
        return None
    signs = {objective.name: objective.sign for objective in tuning.judge.objectives}
    weights = tuning.choice

    def weighted(tried: Tried) -> float:
        return sum(weights[name] * signs[name] * value for name, value in tried.score.values.items())

    return min(tuned.front, key=weighted, default=None)


def recall(study: Study) -> tuple[Tuning, Outcome]:
    """A tuning from its folder, without running anything: the candidates all of whose trials are there.

    Raises:
        InputError: the folder holds another kind of study, or not even the baseline's trials.
    """
    if study.header.kind != KIND:
        raise InputError(f"{study.folder} holds a study of kind {study.header.kind!r}, not a tuning")
    configuration = study.configuration
    tuning = tuning_from(Config(configuration["tuning"]), configuration["name"])
    tuner = Tuner(tuning.plan, tuning.judge, _recaller(study))
    tuned = tuner.begin()
    tuned.tried = tuner.score(_recalled(tuning, study), tuned.bounds)
    winner = winner_of(tuning, tuned)
    confirmed = None
    if winner is not None:
        pair = (tuning.plan.baseline, winner.candidate)
        wanted = [trial.number for one in pair for trial in tuning.plan.fresh_trials(one, tuning.confirm)]
        if study.finished >= set(wanted):
            confirmed = tuner.confirm(winner.candidate, tuned.bounds, tuning.confirm)
    return tuning, Outcome(tuned, winner, confirmed)


def _recaller(study: Study) -> Callable[[Sequence[Trial]], Mapping[int, Result]]:
    def recalled(trials: Sequence[Trial]) -> Mapping[int, Result]:
        numbers = [trial.number for trial in trials]
        missing = set(numbers) - study.finished
        if missing:
            raise InputError(f"{study.folder}: trial {min(missing)} is not finished yet; run `biped tune` again")
        return study.results(numbers)

    return recalled


def _recalled(tuning: Tuning, study: Study) -> list[Candidate]:
    """The candidates that are finished, but for the baseline."""
    frame: Any = study.frame()
    mine = frame[(frame["phase"] == TUNING) & (frame["candidate"] > 0)]
    counts = mine["candidate"].value_counts()
    whole = sorted(int(number) for number, count in counts.items() if count == tuning.plan.size)
    first = mine.drop_duplicates("candidate").set_index("candidate")
    names = [knob.name for knob in tuning.plan.knobs]
    return [tuning.plan.candidate(number, {name: float(first.loc[number, name]) for name in names}) for number in whole]
