"""Files of a comparison (saved runs, tables, figure sheet, page) and a table on the terminal."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from biped.runs.run import SUMMARY
from experiments.catalogue.rollout import Rollout
from experiments.cli.machine import stamp
from experiments.cli.terminal import say_files
from experiments.comparison.measures import ranking_lines, ranking_table
from experiments.comparison.outcome import FORCE
from experiments.comparison.stages import EQUAL, SETTINGS, TABLES, VENDOR, Results
from experiments.comparison.table import files_of, write_table
from experiments.lookup.figure_look import remove_figure
from experiments.visualization.comparison import panels
from experiments.visualization.comparison.page import compare_page
from experiments.visualization.comparison.panels import Quantity, colors_of
from experiments.visualization.document import print_block
from experiments.visualization.look import style
from experiments.visualization.look.style import STYLE
from experiments.visualization.look.writing import styled, write_figure
from experiments.visualization.pages import Table, write_page
from experiments.visualization.panels.panel import Panel, Rule
from experiments.visualization.panels.with_matplotlib import DASHES, draw
from experiments.visualization.viewer.saved_runs import save_run

PAGE, SHEET = "compare.html", "compare.png"
#: Folders of saved runs: of the experiment, by settings, and of the standing human.
FOLDERS, STANDING = {EQUAL: "runs", VENDOR: "vendor"}, "standing"


@dataclass
class Output:
    """Folder of the results of a comparison."""

    folder: Path  # an existing folder
    command: str  # command line of the comparison
    made: dict[str, Any] = field(default_factory=stamp)  # machine and versions
    saved: set[int] = field(default_factory=set, init=False)

    def save_runs(self, results: Results) -> None:
        """Save the runs that are not saved yet, and remove saved runs of an earlier comparison."""
        folders: dict[Path, Rollout] = {}
        for settings, runs in results.runs.items():
            folders |= {Path(FOLDERS[settings]) / label: made for label, made in runs.items()}
        for (settings, label), made in results.standing.items():
            folders[Path(STANDING) / (label if settings == EQUAL else f"{label}-{settings}")] = made
        for group in (*FOLDERS.values(), STANDING):
            for folder in sorted((self.folder / group).glob("*")):
                if folder.relative_to(self.folder) not in folders and _is_rollout(folder):
                    shutil.rmtree(folder)
        for place, made in folders.items():
            if id(made) not in self.saved:
                save_run(made.run, self.folder / place)
                self.saved.add(id(made))

    def write(self, results: Results) -> list[Path]:
        """Write runs, tables, figure sheet and page of all results so far; return the files."""
        self.save_runs(results)
        ranking = ranking_table(results)
        tables = results.tables() | ({"ranking": ranking} if len(ranking) else {})
        files = [file for name in TABLES if name in tables for file in write_table(tables[name], self.folder, name)]
        for name in set(TABLES) - set(tables):  # left by an earlier comparison
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
    """Return whether a folder holds a run saved by a comparison: its summary names an engine."""
    summary = folder / SUMMARY
    if folder.is_symlink() or not summary.is_file():
        return False
    try:
        return "engine" in json.loads(summary.read_text(encoding="utf-8"))
    except ValueError:
        return False  # not written by a comparison


def print_ranking(results: Results, files: Sequence[Path]) -> None:
    """Print the ranking of the engines, and the files."""
    headings, lines = ranking_lines(results)
    print_block(Table("", headings, tuple(lines)))
    say_files(files[0].parent, [file for file in files if file.suffix != ".parquet"])


NOT_MEASURED = "not measured"
#: Text in place of a panel if no run has more than its first row.
NOTHING = "no data"


def draw_figure_sheet(results: Results) -> Figure:
    """Return a figure of pose, vertical GRF, creep of the soles, energy error in flight, and error against cost."""
    with matplotlib.rc_context(STYLE | {"axes.titlesize": 9.5, "axes.titlepad": 7.0}):
        figure = Figure(figsize=(11.4, 6.7))
        figure.get_layout_engine().set(w_pad=0.06, h_pad=0.06, wspace=0.05, hspace=0.05)  # type: ignore[union-attr, call-arg]
        pose, force, creep, flight, precision, rest = figure.subplots(2, 3).flat
        rest.set_axis_off()
        first = next((made.run for made in results.runs[EQUAL].values()), None)
        turn = None if first is None else panels.pose(first)[-1]  # the height, if there is no set point
        vertical = None if first is None else next(iter(panels.forces(first)), None)
        _draw_runs(pose, results, f"Pose of the {results.root}, equal settings", turn)
        _draw_runs(force, results, "Vertical GRF, equal settings", vertical)
        _draw(creep, panels.creep(results), f"Creep of the soles under {FORCE:g} N")
        if any(settings == VENDOR for settings, _ in results.drifts):
            lines = [Line2D([], [], color="#555555", ls=DASHES[dash], lw=1.4) for dash in ("solid", "dot")]
            creep.legend(lines, list(SETTINGS.values()), fontsize=7.5, loc="center right")
        gentle = panels.flights(results)[:1]
        end = max((float(np.max(line.get_xdata())) for line in _draw(flight, gentle)), default=0.0)
        flight.set_title(f"Energy error in {end:g} s of free flight" if gentle else "Energy error in flight")
        _draw(precision, panels.precision(results)[:1], "Error against cost, one second of flight")
        _add_legend(figure, results)
    return figure


def _add_legend(figure: Figure, results: Results) -> None:
    """Add a legend of the engines below all panels; dashed: settings for smooth motion."""
    colors = colors_of(results.backends)
    lines = []
    for engine in results.everyone:
        dash = DASHES["dash" if panels.is_smooth(engine.label, results) else "solid"]
        lines.append(Line2D([], [], color=colors[engine.label], lw=2.0, linestyle=dash, label=engine.title))
    figure.legend(handles=lines, loc="outside lower center", ncols=min(len(lines), 6), fontsize=9.0, handlelength=2.6)


def _draw(axes: Axes, shown: list[Panel], title: str = "", text: str = NOT_MEASURED) -> list[Line2D]:
    """Draw all panels on the same axes, or ``text`` if there are no panels; return the lines."""
    for panel in shown:
        draw(axes, panel)
    axes.set_title(title)
    if not shown:
        axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=style.GREY)
        axes.set_xticks([])
        axes.set_yticks([])
    return list(axes.lines)


def _draw_runs(axes: Axes, results: Results, title: str, quantity: Quantity | None) -> None:
    if quantity is None or not panels.shown_runs(results, EQUAL):
        _draw(axes, [], title, NOT_MEASURED if quantity is None else NOTHING)
        return
    panel = panels.runs_panel(results, EQUAL, quantity)
    _draw(axes, [panel], title)
    for mark in (item for item in panel.items if isinstance(item, Rule)):
        axes.annotate("hit", (mark.value, 1.0), xycoords=("data", "axes fraction"), xytext=(3, -9),
                      textcoords="offset points", fontsize=7.5, color="#666666")  # fmt: skip
