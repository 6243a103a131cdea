"""Several processes tune together: Optuna's storage holds the candidates, each process a study's folder of its own.

A process asks the storage for candidates, runs them, and tells what they are worth; the sampler of each learns from all
of them. A process that is killed leaves candidates behind that are asked for and never rated. They count for nothing:
the others go on until enough candidates are done, and the process itself, run again on its folder, takes its own up
first, with the trials that its folder has.
"""

import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biped.errors import InputError
from biped.extras import need
from experiments.studies.seeds import seed_of
from experiments.studies.tuning.objective import Score
from experiments.studies.tuning.optimizers import SHARED, add_known, distributions, sampler_named
from experiments.studies.tuning.tuner import Evaluation, History, Tuner

if TYPE_CHECKING:
    import optuna

WORKER = "worker"
WORKER_FILE = "worker.txt"
CONFIGURATION = "configuration"
SCORE = "score"


def worker_of(folder: Path) -> str:
    path = folder / WORKER_FILE
    if not path.exists():
        path.write_text(uuid.uuid4().hex + "\n", encoding="utf-8")
    return path.read_text(encoding="utf-8").strip()


@contextmanager
def opened_storage(url: str) -> "Iterator[optuna.storages.BaseStorage]":
    """The storage of this name: a database by its URL, such as ``sqlite:///tune.db``; or the path of a journal."""
    need("optuna")
    import optuna

    storage = _opened(url)
    try:
        yield storage
    finally:
        if isinstance(storage, optuna.storages.RDBStorage):  # which leaves its connections to the garbage collector
            storage.remove_session()
            storage.engine.dispose()


def _opened(url: str) -> "optuna.storages.BaseStorage":
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        if "://" in url:
            return optuna.storages.RDBStorage(url)
        from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock

        # A process that is killed while it writes leaves the lock behind: the others wait so many seconds.
        return optuna.storages.JournalStorage(JournalFileBackend(url, JournalFileSymlinkLock(url, grace_period=10)))
    except Exception as error:  # of SQLAlchemy or the database's driver: which ones, only they know
        raise InputError(f"--storage {url}: cannot be opened ({' '.join(str(error).split())})") from None


def shared_study(
    storage: "optuna.storages.BaseStorage", name: str, configuration: Mapping[str, Any], objectives: int
) -> "optuna.Study":
    """The study of this name in the storage, made if need be; InputError if it is of another configuration."""
    import optuna

    study = optuna.create_study(
        storage=storage, study_name=name, directions=["minimize"] * objectives, load_if_exists=True
    )
    digest = sha256(json.dumps(configuration, sort_keys=True).encode()).hexdigest()
    known = study.user_attrs.get(CONFIGURATION)
    if known is None:
        study.set_user_attr(CONFIGURATION, digest)
    elif known != digest:
        raise InputError(f"the storage has a study {name!r} of another configuration: give this one another name")
    return study


class SharedTuner:
    """Tunes together with other processes; ``worker`` is this one's name in the storage."""

    def __init__(self, tuner: Tuner, study: "optuna.Study", worker: str, optimizer: str, batch: int) -> None:
        if optimizer not in SHARED:
            raise InputError(f"optimizer = {optimizer!r} cannot share a storage: it must be one of {', '.join(SHARED)}")
        self.tuner, self.study, self.worker, self._batch = tuner, study, worker, batch
        self._ranges = distributions(tuner.space.variables)
        # Other random numbers in each process, and each time that it goes on.
        seed = seed_of(tuner.space.seed, "worker", worker, len(study.get_trials(deepcopy=False)))
        self.study.sampler = sampler_named(optimizer, seed % 2**32, batch)

    def run(self, candidates: int, watch: Callable[[History], None] | None = None) -> History:
        """Go on until all processes together have so many candidates, or some more that others were busy with."""
        from optuna.exceptions import StorageInternalError

        try:
            return self._run(candidates, watch)
        except StorageInternalError as error:
            raise InputError(f"the storage cannot be reached any more ({' '.join(str(error).split())})") from None

    def _run(self, candidates: int, watch: Callable[[History], None] | None) -> History:
        history = self.tuner.begin()
        self._add_baseline(history)
        self._finish(self._unfinished(), history)
        history.evaluations = self._evaluations()
        while len(history.evaluations) < candidates:
            count = min(self._batch, candidates - len(history.evaluations))
            self._finish([self._ask() for _ in range(count)], history)
            history.evaluations = self._evaluations()
            if watch is not None:
                watch(history)
        return history

    def _add_baseline(self, history: History) -> None:
        start = self.tuner.start_of(history)
        if start is not None and not self.study.get_trials(deepcopy=False):
            add_known(self.study, self._ranges, start)

    def _ask(self) -> int:
        trial = self.study.ask(dict(self._ranges))
        trial.set_user_attr(WORKER, self.worker)
        return trial.number

    def _unfinished(self) -> list[int]:
        """The candidates that this process had asked for when it was stopped."""
        from optuna.trial import TrialState

        running = self.study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        return [trial.number for trial in running if trial.user_attrs.get(WORKER) == self.worker]

    def _finish(self, numbers: list[int], history: History) -> None:
        from optuna.trial import Trial

        trials = self.study.get_trials(deepcopy=False)
        # The baseline is candidate 0, and Optuna counts from 0 too.
        asked = [self.tuner.space.candidate(number + 1, trials[number].params) for number in numbers]
        for one in self.tuner.score(asked, history.bounds) if asked else []:
            trial = Trial(self.study, trials[one.number - 1]._trial_id)
            trial.set_user_attr(SCORE, asdict(one.score))
            self.study.tell(trial, list(one.score.costs))

    def _evaluations(self) -> list[Evaluation]:
        from optuna.trial import TrialState

        done = self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        return [
            Evaluation(self.tuner.space.candidate(trial.number + 1, trial.params), _score(trial.user_attrs[SCORE]))
            for trial in done
            if SCORE in trial.user_attrs
        ]


def _score(data: Mapping[str, Any]) -> Score:
    return Score(**{**data, "costs": tuple(data["costs"])})
