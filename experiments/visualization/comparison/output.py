"""What a comparison leaves behind: saved runs, tables, a figure sheet, the page, and a table on the terminal."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from biped.runs.run import SUMMARY
from experiments.benchmarks.comparison.measures import ranking_lines, ranking_table
from experiments.benchmarks.comparison.results import EQUAL, FORMER_TABLES, TABLES, VENDOR, Results
from experiments.benchmarks.comparison.table import files_of, write_table
from experiments.catalogue.rollout import Rollout
from experiments.cli.machine import stamp
from experiments.cli.terminal import say_files, terminal
from experiments.lookup.figure_look import remove_figure
from experiments.visualization.figures.writing import styled, write_figure
from experiments.visualization.pages import write_page
from experiments.visualization.saved_runs import save_run

PAGE, SHEET = "compare.html", "compare.png"
#: Folders of saved runs: of the experiment by settings, and of the standing human; and one of versions before this.
FOLDERS, STANDING, FORMER = {EQUAL: "runs", VENDOR: "vendor"}, "standing", "natural"


@dataclass
class Output:
    """The folder of the results."""

    folder: Path  # which must exist
    command: str  # what was typed
    made: dict[str, Any] = field(default_factory=stamp)  # machine and versions
    saved: set[int] = field(default_factory=set, init=False)

    def save_runs(self, results: Results) -> None:
        """Save the runs that are new, and remove those of a comparison before this one."""
        folders: dict[Path, Rollout] = {}
        for settings, runs in results.runs.items():
            folders |= {Path(FOLDERS[settings]) / label: made for label, made in runs.items()}
        for (settings, label), made in results.standing.items():
            folders[Path(STANDING) / (label if settings == EQUAL else f"{label}-{settings}")] = made
        for group in (*FOLDERS.values(), STANDING, FORMER):
            for folder in sorted((self.folder / group).glob("*")):
                if folder.relative_to(self.folder) not in folders and _is_rollout(folder):
                    shutil.rmtree(folder)
        for place, made in folders.items():
            if id(made) not in self.saved:
                save_run(made.run, self.folder / place)
                self.saved.add(id(made))

    def write(self, results: Results) -> list[Path]:
        """Write runs, tables, figure sheet and page of what has been found; the files."""
        from experiments.visualization.comparison.figure_sheet import draw_figure_sheet
        from experiments.visualization.comparison.page import compare_page

        self.save_runs(results)
        ranking = ranking_table(results)
        tables = results.tables() | ({"ranking": ranking} if len(ranking) else {})
        files = [file for name in TABLES if name in tables for file in write_table(tables[name], self.folder, name)]
        for name in {*TABLES, *FORMER_TABLES} - set(tables):  # of the comparison that was there before
            for file in files_of(self.folder, name):
                file.unlink(missing_ok=True)
        sheet = self.folder / SHEET
        remove_figure(sheet)
        if results.runs[EQUAL]:
            with styled():
                files = [*write_figure(draw_figure_sheet(results), sheet, always=("png",)), *files]
        data = sheet.read_bytes() if sheet.exists() else None
        return [write_page(compare_page(results, data, self.command, self.made), self.folder / PAGE), *files]


def _is_rollout(folder: Path) -> bool:
    """Whether it is a run that was saved by a comparison: its summary names an engine."""
    summary = folder / SUMMARY
    if folder.is_symlink() or not summary.is_file():
        return False
    try:
        return "engine" in json.loads(summary.read_text(encoding="utf-8"))
    except ValueError:
        return False  # not ours to remove


def print_ranking(results: Results, files: Sequence[Path]) -> None:
    """Who is the best at what, and where the files are."""
    headings, lines = ranking_lines(results)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for line in lines:
        table.add_row(*(Text(cell, style="green" if cell.startswith("★") else "") for cell in line))
    terminal().print(table)
    say_files(files[0].parent, [file for file in files if file.suffix != ".parquet"])
