"""Recomputation of a paper's items, one after the other; each outcome is stored when the item is done."""

import json
import re
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from biped.errors import InputError
from experiments.cli.failures import describe
from experiments.cli.progress import ProgressBar
from experiments.papers.item import Finding, Item, Outcome, Paper
from experiments.visualization.look.writing import files_of_look, write_figure

#: Files in the folder of each item, in addition to its tables and figures.
OUTCOME = "outcome.json"
#: Suffixes of the figure files that are written and shown on the page.
ALWAYS = ("png",)


@dataclass(frozen=True)
class Cached:
    """Outcome of an item, as stored in a folder."""

    folder: Path  # folder of the files
    findings: tuple[Finding, ...]  # as in ``Outcome``
    assumptions: tuple[str, ...]  # as in ``Outcome``
    tables: Mapping[str, str]  # file names of the tables, by title
    figures: tuple[str, ...]  # file names
    quick: bool  # True for the short version
    seconds: float  # [s] computing time
    stamp: Mapping[str, Any]  # machine, versions, commit and day

    @property
    def files(self) -> list[Path]:
        return [self.folder / name for name in (*self.tables.values(), *self.figures)]

    @property
    def pictures(self) -> list[str]:
        """Files of the figures that the page shows."""
        return [name for name in self.figures if name.endswith(ALWAYS)]

    def table(self, title: str) -> pd.DataFrame:
        return pd.read_csv(self.folder / self.tables[title])


def store(
    outcome: Outcome, folder: Path, *, quick: bool, seconds: float, stamp: Mapping[str, Any], draw: bool
) -> Cached:
    """Write an outcome into its own folder; older files are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    findings = tuple(_plain(finding) for finding in outcome.findings)
    tables = {title: f"{_slug(title)}.csv" for title in outcome.tables}
    if len(set(tables.values())) < len(tables):
        raise ValueError(f"two of these tables would be written to the same file: {', '.join(tables)}")
    drawn = {folder / f"{name}.png": figure for name, figure in outcome.figures.items()} if draw else {}
    figures = tuple(file.name for path in drawn for file in files_of_look(path, ALWAYS))
    cached = Cached(folder, findings, outcome.assumptions, tables, figures, quick, seconds, stamp)
    text = json.dumps({**asdict(cached), "folder": None}, indent=2, ensure_ascii=False, allow_nan=False)
    _remove_former(folder)
    for title, frame in outcome.tables.items():
        frame.to_csv(folder / tables[title], index=False)
    for path, figure in drawn.items():
        write_figure(figure, path, ALWAYS)
    (folder / OUTCOME).write_text(text + "\n", encoding="utf-8")
    return cached


def load(folder: Path) -> Cached | None:
    """Read a stored outcome from a folder; None if there is none; raises InputError if it is damaged."""
    path = folder / OUTCOME
    if not path.is_file():
        return None
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        saved |= {
            "folder": folder,
            "findings": tuple(Finding(**finding) for finding in saved["findings"]),
            "assumptions": tuple(saved["assumptions"]),
            "figures": tuple(saved["figures"]),
        }
        cached = Cached(**saved)
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: the file is damaged ({error}); delete it, and recompute the item") from error
    missing = [file.name for file in cached.files if not file.is_file()]
    if missing:
        raise InputError(f"{folder}: {', '.join(missing)} missing; delete {OUTCOME}, and recompute the item")
    return cached


def _remove_former(folder: Path) -> None:
    """Remove the files of an earlier outcome, which would contradict the new one."""
    path = folder / OUTCOME
    if path.is_file():
        try:
            former = load(folder)
        except InputError:  # its other files are unknown
            former = None
        path.unlink()
        for file in former.files if former else ():
            file.unlink(missing_ok=True)


def _plain(finding: Finding) -> Finding:
    """Return a finding in Python's own types, without NumPy's."""
    published, ours = _number(finding.published), _number(finding.ours)
    return replace(finding, published=published, ours=ours, agrees=bool(finding.agrees))


def _number(value: float | str) -> float | str:
    return value if isinstance(value, str) else float(value)


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", title.lower()).strip("-") or "table"


@dataclass(frozen=True)
class Failure:
    """Reason why an item failed: message of one line, and traceback."""

    message: str
    trace: str


@dataclass
class Session:
    """Recomputation of a paper's items: the items, the settings, and the results so far."""

    paper: Paper  # paper of the items
    items: Sequence[Item]  # items to compute, in order
    folder: Path  # folder with a subfolder for each item
    quick: bool  # True for the short versions
    draw: bool  # True to write figures
    stamp: Mapping[str, Any]  # machine, versions, commit and day
    done: dict[str, Cached] = field(default_factory=dict)  # computed items, by name
    failures: dict[str, Failure] = field(default_factory=dict)  # failed items, by name
    interrupted: bool = False  # True if the user interrupted the session

    def run(self, after: Callable[[Item], None]) -> None:
        """Recompute all items, and call ``after`` for each; Ctrl-C stops the session, a failing item does not."""
        for number, item in enumerate(self.items, start=1):
            try:
                self._attempt(number, item)
            except KeyboardInterrupt:
                self.interrupted = True
                return
            after(item)

    def _attempt(self, number: int, item: Item) -> None:
        what = f"{item.name} ({number} of {len(self.items)})"
        begin = time.perf_counter()
        try:
            with ProgressBar(1.0, what, "") as bar:
                outcome = item.produce(self.quick, bar)
            seconds, folder = time.perf_counter() - begin, self.folder / item.name
            self.done[item.name] = store(
                outcome, folder, quick=self.quick, seconds=seconds, stamp=self.stamp, draw=self.draw
            )
        except OSError:  # the disk is full, or the folder is missing: other items would fail, too
            raise
        except Exception as error:  # any defect of one item: the others are independent
            message = describe(error) or f"{type(error).__name__}: {error}"
            self.failures[item.name] = Failure(" ".join(message.split()), traceback.format_exc())
