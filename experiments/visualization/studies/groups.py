"""The findings of identified groups: each subject's parameters, and how the groups differ in them."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.cli.quantities import unit_text
from experiments.cli.terminal import print_table, say
from experiments.lookup.figure_look import remove_figure
from experiments.statistics import compare
from experiments.studies.identification.groups import Grouped, GroupIdentification
from experiments.studies.run import plan_of, recall
from experiments.studies.store.folder import Study
from experiments.visualization.figures import style
from experiments.visualization.figures.words import with_unit
from experiments.visualization.pages import Block, Chart, Prose, Section, Table
from experiments.visualization.panels.panel import Axis, Panel, Points
from experiments.visualization.panels.with_matplotlib import write_panels
from experiments.visualization.panels.with_plotly import figure_of
from experiments.visualization.report.toml import file_and_command

SUBJECTS, DIFFERENCES, FIGURE = "subjects.csv", "differences.csv", "groups.png"
#: [inch] The height of a panel.
_HEIGHT = 2.2
_HEADINGS = ("parameter", "groups", "means", "difference", "95 % interval", "p", "g", "unit")


def show(plan: GroupIdentification, found: Grouped, folder: Path, draw: bool) -> list[Path]:
    """Print how the groups differ, and write that, each subject's parameters, and a figure; the files."""
    differences = differences_of(plan, found)
    say(f"{len(found.found)} subjects, each identified by himself", "bold")
    print_table(["", *_HEADINGS[1:]], _rows(found, differences))
    found.table.to_csv(folder / SUBJECTS, index=False)
    differences.to_csv(folder / DIFFERENCES, index=False)
    files = [folder / SUBJECTS, folder / DIFFERENCES]
    if draw:
        remove_figure(folder / FIGURE)
        files += write_panels(folder / FIGURE, panels_of(found), (style.SIZE[0], _HEIGHT * len(found.names)))
    return files


def differences_of(plan: GroupIdentification, found: Grouped) -> pd.DataFrame:
    """``experiments.statistics.compare`` of each parameter, in ``parameter``: each group less the first."""
    first, table = plan.subjects[0].group, found.table
    parts = [
        compare(
            table, name, between="group", subject="subject", reference=first, mixed=False, seed=plan.seed
        ).assign(parameter=name)
        for name in found.names
    ]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def as_json(plan: GroupIdentification, found: Grouped) -> dict[str, Any]:
    return {"units": dict(found.units), "subjects": found.table, "differences": differences_of(plan, found)}


def page_lead(study: Study) -> list[Block]:
    subjects = plan_of(study).subjects
    sizes = Counter(one.group for one in subjects)
    told = ", ".join(f"{count} {group}" for group, count in sizes.items())
    return [Prose(f"{len(subjects)} subjects, each identified by himself: {told}.")]


def page_sections(study: Study) -> list[Section]:
    plan, found = recall(study)
    rows = tuple(_rows(found, differences_of(plan, found)))
    text = (
        "Differences over subjects: 95 % by the bootstrap, p by permutations of subjects between groups, Hedges' g. "
        "Nothing is corrected for several comparisons."
    )
    figure = Chart.of(
        figure_of(panels_of(found), columns=1), "Each subject's parameters, and the groups' means.", "groups"
    )
    own = found.table.rename(columns={name: with_unit(name, unit) for name, unit in found.units.items()})
    blocks = (
        Table("Differences", _HEADINGS, rows, fold=False),
        Prose(text, "muted"),
        figure,
        Table.of("Subjects", own),
    )
    return [Section("groups", "How the groups differ", blocks=blocks)]


def page_rerun(study: Study) -> list[Block]:
    return file_and_command("The identification", study.configuration, "groups.toml", "biped identify groups.toml")


def panels_of(found: Grouped) -> list[Panel]:
    """A panel for each parameter: a dot for each subject, side by side, and the mean of each group."""
    table, panels = found.table, []
    groups = tuple(dict.fromkeys(table["group"]))
    x_axis = Axis("", 0.5, len(groups) + 0.5, ticks=dict(enumerate(groups, start=1)), grid=False)
    for name in found.names:
        items = []
        for k, group in enumerate(groups, start=1):
            rows = table[table["group"] == group]
            values = rows[name].to_numpy()
            beside = k + np.linspace(-0.2, 0.2, len(values))
            who = [f"{subject}: {value:.4g}" for subject, value in zip(rows["subject"], values, strict=True)]
            color = style.LINES[(k - 1) % len(style.LINES)]
            items.append(Points(beside, values, color=color, marker="circle", hover=who))
            items.append(Points([k - 0.3, k + 0.3], [values.mean()] * 2, color=style.BLACK, dash="solid"))
        unit = unit_text(found.units[name]) or "–"
        panels.append(Panel(tuple(items), x_axis, Axis(f"{name} [{unit}]")))
    return panels


def _rows(found: Grouped, differences: pd.DataFrame) -> list[tuple[str, ...]]:
    return [
        (
            row["parameter"], f"{row['level']} less {row['against']}", f"{row['mean']:.4g}, {row['mean_against']:.4g}",
            f"{row['difference']:+.3g}", f"[{row['low']:.3g}, {row['high']:.3g}]", f"{row['chance']:.2g}",
            f"{row['effect_size']:.2f}", unit_text(found.units[row["parameter"]]),
        )
        for row in differences.to_dict("records")
    ]  # fmt: skip
