"""What a comparison leaves behind: saved runs, tables, a picture, the page, and lines on the terminal."""

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib
from rich.text import Text

from biped.runs.run import SUMMARY
from experiments.benchmarks.comparison.results import TABLES, Results
from experiments.benchmarks.comparison.standing import EQUAL
from experiments.benchmarks.comparison.table import remove_table, write_table
from experiments.cli.machine import stamp
from experiments.cli.terminal import terminal
from experiments.engines.rollout import Rollout
from experiments.visualization.figures.style import STYLE
from experiments.visualization.pages import write_page

PAGE, PICTURE = "compare.html", "compare.png"
#: Folders of saved runs: of the experiment at equal and in natural settings, and of the standing human.
RUNS, NATURAL_RUNS, STANDING = "runs", "natural", "standing"


@dataclass
class Output:
    """The folder of the results.

    Attributes:
        folder: which must exist.
        command: what was typed.
        made: machine and versions.
    """

    folder: Path
    command: str
    made: dict[str, Any] = field(default_factory=stamp)
    saved: set[int] = field(default_factory=set, init=False)

    def save_runs(self, results: Results) -> None:
        """Save the runs that are new, and remove those of a comparison before this one.

        Raises:
            OSError: a file cannot be written.
        """
        folders: list[tuple[Path, Rollout]] = []
        folders += [(Path(RUNS) / label, made) for label, made in results.equal.items()]
        folders += [(Path(NATURAL_RUNS) / label, made) for label, made in results.natural.items()]
        for (settings, label), made in results.standing.items():
            folders.append((Path(STANDING) / (label if settings == EQUAL else f"{label}-{settings}"), made))
        self._remove_others({place for place, _ in folders})
        for place, made in folders:
            if id(made) not in self.saved:
                made.run.save(self.folder / place)
                self.saved.add(id(made))

    def _remove_others(self, places: set[Path]) -> None:
        """Remove the runs that a comparison before this one saved in other places."""
        for group in (RUNS, NATURAL_RUNS, STANDING):
            for folder in sorted((self.folder / group).glob("*")):
                if folder.relative_to(self.folder) not in places and _is_rollout(folder):
                    shutil.rmtree(folder)

    def write(self, results: Results) -> list[Path]:
        """Write runs, tables, picture and page of what has been found; the files.

        Raises:
            OSError: a file cannot be written.
        """
        from experiments.visualization.comparison.figure_sheet import draw_plate
        from experiments.visualization.comparison.page import compare_page

        self.save_runs(results)
        files: list[Path] = []
        tables = results.tables()
        for name in TABLES:
            if name in tables:
                files += write_table(tables[name], self.folder, name)
            else:
                remove_table(self.folder, name)  # of the comparison that was there before
        picture = None
        (self.folder / PICTURE).unlink(missing_ok=True)
        if results.equal:
            picture = self.folder / PICTURE
            with matplotlib.rc_context(STYLE):
                draw_plate(results).savefig(picture)
        data = None if picture is None else picture.read_bytes()
        page = write_page(compare_page(results, data, self.command, self.made), self.folder / PAGE)
        return [page, *([picture] if picture else []), *files]


def _is_rollout(folder: Path) -> bool:
    """Whether it is a run that was saved by a comparison: its summary names an engine."""
    summary = folder / SUMMARY
    if folder.is_symlink() or not summary.is_file():
        return False
    try:
        return "engine" in json.loads(summary.read_text(encoding="utf-8"))
    except ValueError:
        return False  # not ours to remove


def print_verdicts(results: Results, files: Iterable[Path]) -> None:
    """The verdicts, what is missing, and where the files are."""
    console = terminal()
    for verdict in results.verdicts():
        console.print(Text(verdict.subject, style="bold"))
        console.print(Text(f"  {verdict.sentence}"))
    files = list(files)
    names = [file.name for file in files if file.suffix != ".parquet"]
    if names:
        console.print(Text(f"\n{files[0].parent}/  {', '.join(names)}", style="cyan"))
