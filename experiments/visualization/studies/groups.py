"""Findings of identified groups: parameters of each subject, and differences between the groups."""

from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.cli.quantities import unit_text
from experiments.statistics import compare
from experiments.studies.identification.groups import Grouped, GroupIdentification
from experiments.visualization.document import Document
from experiments.visualization.look import style
from experiments.visualization.look.words import with_unit
from experiments.visualization.pages import Chart, Prose, Section, Table
from experiments.visualization.panels.panel import Axis, Panel, Points
from experiments.visualization.panels.with_matplotlib import write_panels

SUBJECTS, DIFFERENCES, FIGURE = "subjects.csv", "differences.csv", "groups.png"
#: [inch] height of a panel.
_HEIGHT = 2.2
_HEADINGS = ("parameter", "groups", "means", "difference", "95 % interval", "p", "g", "unit")


def document(plan: GroupIdentification, grouped: Grouped, _: Path) -> Document:
    """Return a document: differences between the groups, and the parameters of each subject."""
    differences, panels = differences_of(plan, grouped), panels_of(grouped)
    sizes = Counter(subject.group for subject in plan.subjects)
    counted = ", ".join(f"{count} {group}" for group, count in sizes.items())
    text = (
        "Differences between groups of subjects: 95 % bootstrap interval, p-value by permutations of subjects between "
        "groups, and Hedges' g. There is no correction for multiple comparisons."
    )
    table = grouped.table.rename(columns={name: with_unit(name, unit) for name, unit in grouped.units.items()})
    blocks = (
        Table("", _HEADINGS, tuple(_rows(grouped, differences)), fold=False),
        Prose(text, "muted"),
        Chart(panels, "Each subject's parameters, and the groups' means.", "groups"),
        Table.of("Subjects", table, fold=True),
    )
    return Document(
        [Prose(f"{len(plan.subjects)} subjects, each identified separately: {counted}.")],
        [Section("groups", "Differences between the groups", blocks=blocks)],
        {"units": dict(grouped.units), "subjects": grouped.table, "differences": differences},
        {SUBJECTS: grouped.table, DIFFERENCES: differences},
        {FIGURE: partial(write_panels, panels=panels, size=(style.SIZE[0], _HEIGHT * len(grouped.names)))},
    )


def differences_of(plan: GroupIdentification, grouped: Grouped) -> pd.DataFrame:
    """Return ``experiments.statistics.compare`` of each parameter: each group minus the first; column ``parameter``."""
    first, table = plan.subjects[0].group, grouped.table
    parts = [
        compare(
            table, name, between="group", subject="subject", reference=first, mixed=False, seed=plan.seed
        ).assign(parameter=name)
        for name in grouped.names
    ]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def panels_of(grouped: Grouped) -> list[Panel]:
    """Return a panel for each parameter: a dot for each subject, and the mean of each group."""
    table, panels = grouped.table, []
    groups = tuple(dict.fromkeys(table["group"]))
    x_axis = Axis("", 0.5, len(groups) + 0.5, ticks=dict(enumerate(groups, start=1)), grid=False)
    for name in grouped.names:
        items = []
        for k, group in enumerate(groups, start=1):
            rows = table[table["group"] == group]
            values = rows[name].to_numpy()
            x = k + np.linspace(-0.2, 0.2, len(values))
            who = [f"{subject}: {value:.4g}" for subject, value in zip(rows["subject"], values, strict=True)]
            color = style.LINES[(k - 1) % len(style.LINES)]
            items.append(Points(x, values, color=color, marker="circle", hover=who))
            items.append(Points([k - 0.3, k + 0.3], [values.mean()] * 2, color=style.BLACK, dash="solid"))
        unit = unit_text(grouped.units[name]) or "–"
        panels.append(Panel(tuple(items), x_axis, Axis(f"{name} [{unit}]")))
    return panels


def _rows(grouped: Grouped, differences: pd.DataFrame) -> list[tuple[str, ...]]:
    return [
        (
            row["parameter"], f"{row['level']} − {row['against']}", f"{row['mean']:.4g}, {row['mean_against']:.4g}",
            f"{row['difference']:+.3g}", f"[{row['low']:.3g}, {row['high']:.3g}]", f"{row['chance']:.2g}",
            f"{row['effect_size']:.2f}", unit_text(grouped.units[row["parameter"]]),
        )
        for row in differences.to_dict("records")
    ]  # fmt: skip
