"""Folder of a study: it stores every finished trial once, even if the program is killed.

``study.json`` has the study's configuration. ``trials.sqlite`` has a row for each trial, committed before the trial
counts as done, so that Ctrl-C, ``kill -9`` and a full disk lose none. A power failure loses the trials of the last
seconds: SQLite's log is not synchronized with the disk at each trial, because this would cost more than the trial.
``trials.parquet`` is a copy for reading, always complete as a file, and replaced every few seconds and at the end.
``model.json`` is the model of a robot other than the human.
"""

import errno
import fcntl
import os
import sqlite3
import time
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from biped.errors import InputError
from biped.inputs.files import replace_file
from biped.inputs.modules import saved_names, trusting
from biped.model.archive import model_to_json
from biped.runs.run import MODEL
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.controllers import CONTROLLERS
from experiments.catalogue.parameters.parameter import from_json, value_under
from experiments.catalogue.parameters.robots import robot_named, stand_in
from experiments.catalogue.registry import experiment_named
from experiments.studies.store.header import Header, difference
from experiments.studies.store.measured import metric_units
from experiments.studies.store.table import as_parquet, cell_of, cells_of, changes_text, json_text, table_of
from experiments.studies.trial import STORED, Result, Trial

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow

HEADER, DATABASE, TABLE, LOCK, TRACES = "study.json", "trials.sqlite", "trials.parquet", "study.lock", "traces"

#: [s] least interval between two writings of the table, and largest fraction of the time spent on them.
EXPORT_EVERY = 5.0
EXPORT_PART = 0.02
#: Number of results that are read together.
MOST_KEPT = 256
_SCHEMA = """CREATE TABLE IF NOT EXISTS trials (
    trial INTEGER PRIMARY KEY, labels TEXT NOT NULL, varied TEXT NOT NULL, changes TEXT NOT NULL, result TEXT NOT NULL
)"""


class StoredResults(Mapping[int, Result]):
    """Results by the trials' numbers, read from the database on demand; a few are cached in memory."""

    def __init__(self, study: "Study", numbers: Sequence[int]) -> None:
        self._study, self._numbers = study, numbers
        self._places = {number: place for place, number in enumerate(numbers)}
        self._kept: dict[int, Result] = {}

    def __getitem__(self, number: int) -> Result:
        if number not in self._kept:
            place = self._places[number]
            self._kept = self._study.results(self._numbers[place : place + MOST_KEPT])
        return self._kept[number]

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


class Study:
    """A study's folder, open for writing (``create``, ``open``) or only for reading (``read``).

    Use it in a ``with`` statement, or call ``close``, which writes the table and releases the lock.

    Attributes:
        folder: path of the folder.
        header: contents of ``study.json``.
    """

    def __init__(self, folder: Path, header: Header, lock: IO[bytes] | None = None) -> None:
        self.folder, self.header = folder, header
        if header.robot is not None:
            stand_in(header.robot, folder / MODEL)
        self._lock = lock
        self._database = None if lock is None else _database_to_write(folder / DATABASE)
        self._next_export = time.monotonic() + EXPORT_EVERY

    @classmethod
    def create(
        cls,
        folder: str | Path,
        kind: str,
        experiment: str,
        configuration: Mapping[str, Any],
        *,
        varied: Sequence[str] = (),
        units: Mapping[str, str] | None = None,
        metrics: Sequence[str] | None = None,
        seed: int | None = None,
        controller: str | None = None,
        metric_files: Sequence[str] = (),
        robot: str | None = None,
        sources: Mapping[str, str] | None = None,
    ) -> "Study":
        """Create a study in a folder, or open the same study in it to continue.

        Args:
            folder: path of the folder, which is made if it does not exist.
            kind: kind of study, such as ``sweep``.
            experiment: name of the experiment.
            configuration: everything that determines the trials, of types that JSON has.
            varied: names of the parameters that become columns of the table.
            units: units of the labels, by column.
            metrics: names of the stored metrics; None: all.
            seed: seed of the study.
            controller: name of the controller; None: the experiment's own.
            metric_files: files of user metrics that are computed in addition to the project's.
            robot: name of the robot; None: the human.
            sources: digests of user files by path; None: those of the experiment.

        Raises:
            InputError: the folder has another study, another program writes to it, or it is damaged.
            OSError: the folder cannot be written.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        setup = experiment_named(experiment, controller, metric_files, robot)
        of_metrics = {n: unit for n, unit in metric_units(setup).items() if metrics is None or n in metrics}
        planned = Header(
            kind=kind, experiment=experiment, configuration=dict(configuration), varied=tuple(varied),
            units={name: setup.parameter(name).unit for name in varied} | dict(units or {}) | of_metrics,
            metrics=None if metrics is None else tuple(metrics), seed=seed, controller=controller, robot=robot,
            metric_files=tuple(metric_files), sources=setup.sources if sources is None else dict(sources),
        )  # fmt: skip
        return cls._write(folder, planned)

    @classmethod
    def open(cls, folder: str | Path) -> "Study":
        """Open an existing study to continue it; raises the errors of ``create``, and InputError if none exists."""
        return cls._write(_existing(folder), None)

    @classmethod
    def _write(cls, folder: Path, planned: Header | None) -> "Study":
        lock = _locked(folder)
        with ExitStack() as opened:
            opened.callback(lock.close)
            header = _header_of(folder, planned)
            study = cls(folder, header, lock)
            opened.callback(study._writer().close)
            header.add_session(len(study.finished))
            header.save(folder / HEADER)
            if planned is not None and planned.robot is not None:
                replace_file(folder / MODEL, f"{model_to_json(robot_named(planned.robot))}\n".encode())
            opened.pop_all()
        return study

    @classmethod
    def read(cls, folder: str | Path) -> "Study":
        """Open a study for reading, even while a program writes to it; raises InputError if missing or damaged."""
        folder = _existing(folder)
        study = cls(folder, Header.load(folder / HEADER))
        study._select("SELECT COUNT(*) FROM trials")
        return study

    @cached_property
    def experiment(self) -> Experiment:
        """Experiment of the study; raises SavedNameError if it needs user code that is not listed as trusted."""
        return self._named(self.header.controller)

    @saved_names()
    def _named(self, controller: str | None) -> Experiment:
        header = self.header
        return experiment_named(header.experiment, controller, header.metric_files, header.robot)

    def drive_by(self, controller: str) -> None:
        """Use another controller for reruns: its file was moved, or the trials are to be repeated with it.

        Raises:
            InputError: the controller does not exist, or the experiment has no controller.
        """
        with trusting():  # the user names the controller, not the saved file
            entry = CONTROLLERS.find(controller)
        self.experiment = self._named(entry.name)

    @property
    def configuration(self) -> dict[str, Any]:
        return self.header.configuration

    @property
    def finished(self) -> set[int]:
        """Numbers of the finished trials."""
        return {number for (number,) in self._select("SELECT trial FROM trials")}

    def results(self, numbers: Iterable[int] | None = None) -> dict[int, Result]:
        """Return the results of these finished trials by number (None: all); raises KeyError for unfinished ones."""
        chosen = None if numbers is None else list(numbers)
        texts = dict(self._select("SELECT trial, result FROM trials", chosen))
        return {number: cells_of(texts[number]) for number in (texts if chosen is None else chosen)}

    def stored(self, numbers: Sequence[int]) -> "StoredResults":
        """Return the results of these finished trials by number, in this order, read on demand."""
        return StoredResults(self, numbers)

    def labels(self, number: int) -> dict[str, Any]:
        """Return the labels of a finished trial."""
        ((text,),) = self._select("SELECT labels FROM trials", [number])
        return cells_of(text)

    @saved_names()
    def trial(self, number: int) -> Trial:
        """Return a finished trial as it was run; raises InputError if no finished trial has this number."""
        rows = self._select("SELECT labels, changes FROM trials", [number])
        if not rows:
            raise InputError(f"{self.folder} has no finished trial {number}: {self._around(number)}")
        labels, changes = map(cells_of, rows[0])
        exact = {name: from_json(self.experiment.parameter(name), value) for name, value in changes.items()}
        return Trial(number, exact, labels)

    def _around(self, number: int) -> str:
        """Return text on the finished trials with the nearest numbers; not all numbers are used in a search."""
        known = sorted(self.finished)
        if not known:
            return "none is finished yet"
        place = bisect(known, number)
        near = " and ".join(map(str, known[max(0, place - 1) : place + 1]))
        return f"the nearest of {len(known)} are {near}; `biped rerun {self.folder} --list` lists all"

    def check(self, trials: Iterable[Trial]) -> None:
        """Raise InputError if one of these finished trials was run with other changes."""
        planned = {trial.number: changes_text(trial.changes) for trial in trials}
        for number, changes in self._select("SELECT trial, changes FROM trials", planned):
            if changes != planned[number]:
                raise InputError(
                    f"{self.folder}: trial {number} was run with {changes}, and would now have "
                    f"{planned[number]}: the study was made by another version; choose another folder"
                )

    def trace_folder(self, number: int) -> Path:
        return self.folder / TRACES / str(number)

    def add(self, trial: Trial, result: Result) -> Result:
        """Store a finished trial; it is in the database when this method returns.

        Returns:
            The stored entries of the result: those of the study's metrics, and the outcome.

        Raises:
            ValueError: the trial is already stored, or one of its numbers is not finite.
            OSError: the trial cannot be written; the study is unchanged.
        """
        metrics = self.header.metrics
        if metrics is not None:
            result = {name: value for name, value in result.items() if name in metrics or name in STORED}
        parameters = self.experiment.parameters
        varied = {name: cell_of(value_under(name, trial.changes, parameters)) for name in self.header.varied}
        texts = json_text(trial.labels), json_text(varied), changes_text(trial.changes), json_text(result)
        try:
            self._writer().execute("INSERT INTO trials VALUES (?, ?, ?, ?, ?)", (trial.number, *texts))
        except sqlite3.IntegrityError:
            raise ValueError(f"trial {trial.number} is already stored in the study") from None
        except sqlite3.Error as error:
            raise _as_os_error(error, self.folder / DATABASE) from None
        if time.monotonic() >= self._next_export:
            self.export()
        return result

    def add_sources(self, digests: Mapping[str, str]) -> None:
        """Store the digests, by path, of files that a controller has read; known paths keep the stored digest."""
        new = {name: digest for name, digest in digests.items() if name not in self.header.sources}
        if new:
            self.header.sources.update(new)
            self.header.save(self.folder / HEADER)

    def export(self) -> None:
        """Write ``trials.parquet``; raises OSError if this fails, with all trials kept in the database."""
        self._writer()
        began = time.monotonic()
        replace_file(self.folder / TABLE, as_parquet(self.table()))
        ended = time.monotonic()
        self._next_export = ended + max(EXPORT_EVERY, (ended - began) / EXPORT_PART)

    def table(self) -> "pyarrow.Table":
        """Return a table of all finished trials in the order of their numbers; each column has a unit as metadata."""
        query = "SELECT trial, labels, varied, changes, result FROM trials ORDER BY trial"
        with self._reading() as database:
            return table_of(database.execute(query), self.header)

    def frame(self) -> "pd.DataFrame":
        """Return the table of all finished trials as a data frame."""
        frame: pd.DataFrame = self.table().to_pandas()
        return frame

    def _select(self, query: str, numbers: Iterable[int] | None = None) -> list[tuple[Any, ...]]:
        """Return all rows of a query, or those of some trials."""
        with self._reading() as database:
            if numbers is None:
                return database.execute(query).fetchall()
            one_by_one = (database.execute(f"{query} WHERE trial = ?", (number,)) for number in numbers)
            return [row for rows in one_by_one for row in rows]

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        path = self.folder / DATABASE
        try:
            with closing(_reader_of(path)) as database:
                yield database
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if path.is_file() and _code_of(error) == sqlite3.SQLITE_CANTOPEN:
                raise _as_os_error(error, path) from None
            raise InputError(f"{path}: damaged, or not the database of a study ({error})") from None

    def _writer(self) -> sqlite3.Connection:
        if self._database is None:
            raise ValueError(f"{self.folder}: no trial can be stored: the study is closed, or open for reading only")
        return self._database

    def close(self) -> None:
        """Write the table and release the lock; raises OSError if the table cannot be written."""
        if self._database is None or self._lock is None:
            return
        try:
            self.export()
        finally:
            with suppress(sqlite3.Error):  # leaves one file, which can be read without permission to write the folder
                self._database.execute("PRAGMA journal_mode=DELETE")
            self._database.close()
            self._database = None
            self._lock.close()

    def __enter__(self) -> "Study":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, OSError):  # the disk may be full, which is reported elsewhere: the database has all trials
            with suppress(OSError):
                self.close()
        else:
            self.close()


def _existing(folder: str | Path) -> Path:
    folder = Path(folder)
    if not (folder / HEADER).is_file():
        raise InputError(f"{folder} is not the folder of a study ({HEADER} is missing)")
    return folder


def _locked(folder: Path) -> IO[bytes]:
    """Return a lock that the system releases when the program ends; raises InputError if another program has it."""
    lock = (folder / LOCK).open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise InputError(f"{folder}: another program is writing to this study; wait until it is done") from None
    return lock


def is_being_written(folder: Path) -> bool:
    try:
        with (folder / LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # no lock, or no permission to read it: no writer is known
        return False
    return False


def _header_of(folder: Path, planned: Header | None) -> Header:
    if planned is not None and not (folder / HEADER).exists():
        if (folder / TABLE).exists() or _has_trials(folder / DATABASE):
            raise InputError(f"{folder} has trials, but no {HEADER}: the study is damaged; choose another folder")
        return planned
    header = Header.load(folder / HEADER)
    differs = "" if planned is None else difference(header, planned)
    if differs:
        raise InputError(f"{folder} holds another study: {differs}; choose another folder (--out), or remove this one")
    return header


def _has_trials(path: Path) -> bool:
    """Return True if a database has a trial; it has none if the program was killed before it wrote the header."""
    if not path.exists():
        return False
    with closing(_database_to_write(path)) as database:
        return database.execute("SELECT 1 FROM trials LIMIT 1").fetchone() is not None


def _database_to_write(path: Path) -> sqlite3.Connection:
    try:
        with ExitStack() as opened:
            database = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=60.0)
            opened.callback(database.close)
            for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL", _SCHEMA):
                database.execute(statement)
            opened.pop_all()
    except sqlite3.Error as error:
        if isinstance(error, sqlite3.OperationalError):
            raise _as_os_error(error, path) from None
        raise InputError(f"{path}: damaged, or not the database of a study ({error})") from None
    return database


def _reader_of(path: Path) -> sqlite3.Connection:
    """Return a read-only connection, or one that may write if SQLite must first restore what a killed writer left."""
    address = path.absolute().as_uri()
    database = sqlite3.connect(f"{address}?mode=ro", uri=True, timeout=60.0)
    try:
        database.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        database.close()
        if (_code_of(error) or 0) & 0xFF != sqlite3.SQLITE_READONLY:
            raise
        database = sqlite3.connect(f"{address}?mode=rw", uri=True, timeout=60.0)
    return database


def _code_of(error: Exception) -> int | None:
    """Return SQLite's code of an error; None for Python's own errors, such as invalid text."""
    return getattr(error, "sqlite_errorcode", None)


def _as_os_error(error: Exception, path: Path) -> OSError:
    if _code_of(error) == sqlite3.SQLITE_FULL:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    if _code_of(error) == sqlite3.SQLITE_CANTOPEN:
        why = "it cannot be opened: no permission, or too many files are open (ulimit -n)"
        return OSError(errno.EIO, why, str(path))
    return OSError(errno.EIO, str(error), str(path))
