"""Outcomes as files: what was computed is stored as soon as it is, and the page is made from what is stored."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from biped.errors import InputError
from experiments.papers.item import Finding, Outcome
from experiments.visualization.figures.writing import files_of_look, write_figure

#: In the folder of each item, beside its tables and figures.
OUTCOME = "outcome.json"
#: What the page shows of a figure.
ALWAYS = ("png",)


@dataclass(frozen=True)
class Cached:
    """The outcome of an item as it is on disk."""

    folder: Path  # where the files are
    findings: tuple[Finding, ...]  # as in the ``Outcome``
    assumptions: tuple[str, ...]  # as in the ``Outcome``
    tables: Mapping[str, str]  # file names of the tables, by title
    figures: tuple[str, ...]  # file names
    quick: bool  # whether it was the short version
    seconds: float  # [s] it took
    stamp: Mapping[str, Any]  # machine, versions, commit and day

    @property
    def files(self) -> list[Path]:
        return [self.folder / name for name in (*self.tables.values(), *self.figures)]

    @property
    def pictures(self) -> list[str]:
        """The files of the figures that the page shows."""
        return [name for name in self.figures if name.endswith(ALWAYS)]

    def table(self, title: str) -> pd.DataFrame:
        return pd.read_csv(self.folder / self.tables[title])


def store(
    outcome: Outcome, folder: Path, *, quick: bool, seconds: float, stamp: Mapping[str, Any], draw: bool
) -> Cached:
    """Write an outcome into a folder of its own, in place of the one that was there."""
    folder.mkdir(parents=True, exist_ok=True)
    findings = tuple(_plain(finding) for finding in outcome.findings)
    tables = {title: f"{_slug(title)}.csv" for title in outcome.tables}
    if len(set(tables.values())) < len(tables):
        raise ValueError(f"two of these tables would have the same file: {', '.join(tables)}")
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
    """Read what ``store`` wrote into a folder; None if there is nothing, and InputError if it is damaged."""
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
        raise InputError(f"{path}: damaged ({error}); remove it, and compute the item anew") from error
    missing = [file.name for file in cached.files if not file.is_file()]
    if missing:
        raise InputError(f"{folder}: {', '.join(missing)} missing; remove {OUTCOME}, and compute the item anew")
    return cached


def _remove_former(folder: Path) -> None:
    """Remove the files of the outcome that was there, which would contradict the new one."""
    path = folder / OUTCOME
    if path.is_file():
        try:
            former = load(folder)
        except InputError:  # its other files, if there are any, are not known
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
