"""A study's folder: every finished trial is in it, once, whatever ends the program.

``study.json`` says what the study is. ``journal.jsonl`` gets one line for each trial, in one ``write``, before the
trial counts as done. ``trials.parquet`` is a table of all trials but the newest: every few seconds the journal's
are folded into it, the file is replaced whole, and then the journal is emptied. A program that is killed in between
leaves a trial in both, which is read as one.

What the system has been handed by ``write`` outlives the death of the program (``kill -9``), so the journal is not
synchronized with the disk, which would cost more than a trial. The table is, before it replaces the old one: a power
failure loses the last seconds, and no more.
"""

import fcntl
import os
import threading
import time
from collections.abc import Iterable, KeysView, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from biped.errors import InputError
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import parameter_named
from experiments.catalogue.registry import experiment_named
from experiments.cli.files import replace_file
from experiments.studies.store.header import Header, difference
from experiments.studies.store.measured import metric_units
from experiments.studies.store.rows import Row, Rows, changes_text
from experiments.studies.trial import OUTCOME, Result, Trial

if TYPE_CHECKING:
    import pandas as pd

HEADER = "study.json"
JOURNAL = "journal.jsonl"
TABLE = "trials.parquet"
TRACES = "traces"

#: [s] between two foldings of the journal into the table, at least; and at most this share of the time goes into them.
FOLD_EVERY = 5.0
FOLD_SHARE = 0.02


class Study:
    """A study's folder, open to be written (``create``, ``open``) or only to be read (``read``).

    Use it in a ``with`` statement, or ``close`` it: that writes the table and lets the next writer in. ``add`` may be
    called from several threads.

    Attributes:
        folder: where it is.
        header: what ``study.json`` says.
    """

    def __init__(self, folder: Path, header: Header, rows: Rows, journal: IO[bytes] | None) -> None:
        self.folder, self.header = folder, header
        self._rows = rows
        self._journal = journal
        self._changing = threading.Lock()
        self._whole = True  # whether all that is in the journal is in ``_rows``
        self._next_fold = time.monotonic() + FOLD_EVERY

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
    ) -> "Study":
        """Begin a study, or go on with the one that is there.

        Args:
            folder: made if need be.
            kind: of study, such as ``sweep``.
            experiment: its name.
            configuration: all that decides which trials there are, as JSON can hold it.
            varied: names of the parameters that become columns.
            units: of labels, by column; those of parameters and metrics are known.
            metrics: which of them are kept; all, if not given.
            seed: of the study.

        Raises:
            InputError: another study is there, which differs in something; someone writes to it; or it is damaged.
            OSError: the folder cannot be written.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        found = experiment_named(experiment)
        of_metrics = metric_units(found)
        of_columns = {name: parameter_named(name, found.parameters).unit for name in varied} | dict(units or {})
        of_columns |= {name: unit for name, unit in of_metrics.items() if metrics is None or name in metrics}
        wanted = Header(
            kind=kind,
            experiment=experiment,
            configuration=dict(configuration),
            varied=tuple(varied),
            units=of_columns,
            metrics=None if metrics is None else tuple(metrics),
            seed=seed,
        )
        journal = _locked(folder)
        try:
            if not (folder / HEADER).exists():
                if journal.seek(0, os.SEEK_END) or (folder / TABLE).exists():
                    raise InputError(f"{folder}: there are trials, but no {HEADER}: not a study, or damaged")
                header = wanted
            else:
                header = Header.load(folder / HEADER)
                differs = difference(header, wanted)
                if differs:
                    raise InputError(
                        f"{folder} holds another study: {differs}; take another folder (--out), or remove that one"
                    )
            return cls._writing(folder, header, journal)
        except BaseException:
            journal.close()
            raise

    @classmethod
    def open(cls, folder: str | Path) -> "Study":
        """Go on with a study.

        Raises:
            InputError: there is none, it is damaged, or someone writes to it.
            OSError: the folder cannot be written.
        """
        folder = _existing(folder)
        journal = _locked(folder)
        try:
            return cls._writing(folder, Header.load(folder / HEADER), journal)
        except BaseException:
            journal.close()
            raise

    @classmethod
    def _writing(cls, folder: Path, header: Header, journal: IO[bytes]) -> "Study":
        """With the lock held: drop a torn last line, and note who goes on."""
        rows = Rows.load(folder / TABLE, _whole_lines(folder / JOURNAL), folder)
        length = sum(len(line) for line in _whole_lines(folder / JOURNAL))
        if length < os.fstat(journal.fileno()).st_size:
            os.ftruncate(journal.fileno(), length)
        header.add_session(len(rows))
        header.save(folder / HEADER)
        return cls(folder, header, rows, journal)

    @classmethod
    def read(cls, folder: str | Path) -> "Study":
        """A study as it is now, also while someone writes to it.

        Raises:
            InputError: there is none, or it is damaged.
        """
        folder = _existing(folder)
        # In this order: what is folded in between is in the table then.
        lines = _whole_lines(folder / JOURNAL)
        return cls(folder, Header.load(folder / HEADER), Rows.load(folder / TABLE, lines, folder), None)

    @cached_property
    def experiment(self) -> Experiment:
        """What its trials run."""
        return experiment_named(self.header.experiment)

    @property
    def configuration(self) -> dict[str, Any]:
        """As it was given."""
        return self.header.configuration

    @property
    def finished(self) -> KeysView[int]:
        """The numbers of the trials that are done."""
        return self._rows.numbers()

    def results(self, numbers: Iterable[int] | None = None) -> dict[int, Result]:
        """The results of these finished trials, or of all, by number.

        Raises:
            KeyError: one is not finished.
        """
        return self._rows.results(self.finished if numbers is None else numbers)

    def trial(self, number: int) -> Trial:
        """A finished trial as it was run.

        Raises:
            InputError: there is none of this number.
        """
        if number not in self.finished:
            raise InputError(f"{self.folder} has no finished trial {number}: {self._which()}")
        return self._rows.trial(number, self.experiment)

    def check(self, trials: Iterable[Trial]) -> None:
        """Whether these finished trials were run with the changes that they have now.

        Raises:
            InputError: one was not.
        """
        trials = list(trials)
        kept = self._rows.changes([trial.number for trial in trials])
        for trial in trials:
            if kept[trial.number] != changes_text(trial.changes):
                raise InputError(
                    f"{self.folder}: trial {trial.number} was run with {kept[trial.number]}, and is now "
                    f"{changes_text(trial.changes)}: the study was made by another version; take another folder"
                )

    def _which(self) -> str:
        numbers = self.finished
        if not numbers:
            return "none is finished yet"
        return f"there are {len(numbers)}, from {min(numbers)} to {max(numbers)}"

    def trace_folder(self, number: int) -> Path:
        """Where the recorded run of a trial goes, if it is asked for."""
        return self.folder / TRACES / str(number)

    def add(self, trial: Trial, result: Result) -> Result:
        """Keep a finished trial: it is in the journal when this returns.

        Returns:
            What of the result is kept: the metrics that the study is about.

        Raises:
            ValueError: it is there already, or a number in it is not finite.
            OSError: it cannot be written; the study is as it was before.
        """
        wanted = self.header.metrics
        if wanted is not None:
            result = {name: value for name, value in result.items() if name in wanted or name in OUTCOME}
        row = Row.of(trial, result, self.header.varied, self.experiment)
        line = row.line()
        with self._changing:
            journal = self._writer()
            if trial.number in self.finished:
                raise ValueError(f"trial {trial.number} is in the study already")
            self._whole = False
            _append(journal, line)
            self._rows.add(row)
            self._whole = True
            if time.monotonic() >= self._next_fold:
                self._fold()
        return result

    def fold(self) -> None:
        """Bring the table up to date.

        Raises:
            OSError: it cannot be written; nothing is lost.
        """
        with self._changing:
            self._fold()

    def _fold(self) -> None:
        journal = self._writer()
        began = time.monotonic()
        if not self._whole:  # a Ctrl-C came in between, or the disk was full: what the journal has is finished
            self._rows.add_lines(_whole_lines(self.folder / JOURNAL), self.folder)
            self._whole = True
        if self._rows.unsaved or not (self.folder / TABLE).exists():
            replace_file(self.folder / TABLE, self._rows.as_parquet(self.header))
            self._rows.unsaved = False
        os.ftruncate(journal.fileno(), 0)
        ended = time.monotonic()
        self._next_fold = ended + max(FOLD_EVERY, (ended - began) / FOLD_SHARE)

    def frame(self) -> "pd.DataFrame":
        """All finished trials, a row for each, in the order of their numbers."""
        with self._changing:
            frame: pd.DataFrame = self._rows.table(self.header).to_pandas()
        return frame

    def _writer(self) -> IO[bytes]:
        if self._journal is None:
            raise ValueError(f"{self.folder}: the study is open to be read only, or closed")
        return self._journal

    def close(self) -> None:
        """Write the table, and let the next writer in.

        Raises:
            OSError: the table cannot be written; nothing is lost.
        """
        if self._journal is None:
            return
        try:
            self.fold()
        finally:
            self._release()

    def _release(self) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def __enter__(self) -> "Study":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, OSError):  # perhaps the disk is full, which need not be said twice: the journal has all
            with suppress(OSError):
                self.close()
        else:
            self.close()


def _existing(folder: str | Path) -> Path:
    folder = Path(folder)
    if not (folder / HEADER).is_file():
        raise InputError(f"{folder}: no study there ({HEADER} missing)")
    return folder


def _locked(folder: Path) -> IO[bytes]:
    """The journal, open and locked; the system lets go of the lock when the program ends, however it ends.

    Raises:
        InputError: someone else has it.
    """
    journal = (folder / JOURNAL).open("ab", buffering=0)
    try:
        fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        journal.close()
        raise InputError(f"{folder}: another program is writing to this study; wait until it is done") from None
    except BaseException:
        journal.close()
        raise
    return journal


def _append(journal: IO[bytes], line: bytes) -> None:
    """One line at the end of the journal, all of it or nothing."""
    before = os.fstat(journal.fileno()).st_size
    try:
        written = os.write(journal.fileno(), line)
        while written < len(line):  # the last bytes of a disk: the next write says that it is full
            written += os.write(journal.fileno(), line[written:])
    except BaseException as error:
        with suppress(OSError):  # the next to open the study drops the torn line too
            os.ftruncate(journal.fileno(), before)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, journal.name) from None
        raise


def _whole_lines(path: Path) -> list[bytes]:
    """The journal's lines; the last one is left out if it was torn."""
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return []
    return [line for line in lines if line.endswith(b"\n")]
