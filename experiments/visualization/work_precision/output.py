"""What a comparison leaves behind: lines on the terminal, figures, a table, and the page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from experiments.benchmarks.work_precision.step_sizes import HEADINGS, Comparison, cheapest_lines
from experiments.cli.file_names import WORK_PRECISION_CSV, WORK_PRECISION_PAGE
from experiments.cli.machine import stamp
from experiments.cli.terminal import terminal
from experiments.visualization.figures.writing import write_figure
from experiments.visualization.pages import write_page
from experiments.visualization.work_precision.figure import draw_comparison
from experiments.visualization.work_precision.page import method_table, table_of, work_precision_page


@dataclass
class Output:
    """The folder of the results; complete after every problem."""

    folder: Path  # which must exist
    wanted: list[str]  # the names of the problems that were asked for
    command: str  # what was typed
    draw: bool  # whether there are figures
    done: list[Comparison] = field(default_factory=list)
    figures: list[Path] = field(default_factory=list)
    made: dict[str, Any] = field(default_factory=stamp)

    def add(self, comparison: Comparison) -> None:
        self.done.append(comparison)
        if self.draw:
            figure = draw_comparison(comparison)
            self.figures += write_figure(figure, self.figure_of(comparison.problem.name), always=("png",))
        self.write()
        self._print(comparison)

    def figure_of(self, problem: str) -> Path:
        return self.folder / f"{problem}.png"

    def write(self) -> None:
        """The table and the page of all that is done."""
        table_of(self.done).to_csv(self.folder / WORK_PRECISION_CSV, index=False)
        names = [comparison.problem.name for comparison in self.done]
        figures = {name: self.figure_of(name).read_bytes() for name in names} if self.draw else {}
        missing = [name for name in self.wanted if name not in names]
        page = work_precision_page(self.done, figures, missing, self.made, self.command)
        write_page(page, self.folder / WORK_PRECISION_PAGE)

    def _print(self, comparison: Comparison) -> None:
        shown = method_table(comparison)
        title = f"{comparison.problem.name}: {comparison.problem.title}"
        terminal().print(_table(title, shown.headings, shown.rows, shown.styles))
        lines = cheapest_lines(comparison)
        terminal().print(_table("The cheapest", HEADINGS, lines, ("number", "text", "number", "text", "number")))

    def print_files(self) -> None:
        figures = [file.name for file in self.figures]
        terminal().print(
            Text(f"\n{self.folder}/  {', '.join([WORK_PRECISION_PAGE, WORK_PRECISION_CSV, *figures])}", style="cyan")
        )


def _table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], kinds: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for heading, kind in zip(headings, kinds, strict=True):
        table.add_column(heading, justify="right" if kind == "number" else "left", no_wrap=kind == "word")
    for row in rows:
        table.add_row(*map(Text, row))
    return table
