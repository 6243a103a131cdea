"""What the page of a sensitivity analysis says: which parameters each metric depends on, and what counted how."""

import numpy as np
import plotly.graph_objects as go

from experiments.studies.sensitivity.analysis import Indices
from experiments.studies.sensitivity.config import MORRIS, Sensitivity, sensitivity_from
from experiments.studies.sensitivity.output import HEADINGS, cells_of, columns_of
from experiments.studies.sensitivity.run import recall, trials_of
from experiments.studies.store.config import Config
from experiments.studies.store.folder import Study
from experiments.visualization.figures import style
from experiments.visualization.pages import Block, Code, Prose, Section, Table
from experiments.visualization.report import theme
from experiments.visualization.report.drawing import Drawing, plain
from experiments.visualization.report.toml import as_toml
from experiments.visualization.studies.sensitivity_figures import unit_of

#: [px] of a parameter's bars, and of what is around them.
_ROW, _AROUND, _LEFT = 40, 130, 180


def page_lead(study: Study) -> list[Block]:
    """What each metric depends on most."""
    sensitivity, found = recall(study)
    first = columns_of(sensitivity)[0]
    blocks: list[Block] = []
    for indices in found:
        if indices.table is None:
            blocks.append(Prose(f"{indices.metric}: {'; '.join(indices.remarks)}.", "bad"))
        else:
            blocks.append(_ranked(indices, first))
    return blocks


def _ranked(indices: Indices, column: str) -> Prose:
    """The parameters whose interval keeps clear of zero, the most important first."""
    assert indices.table is not None
    sure = indices.table[indices.table[column] > indices.table[f"{column}_conf"]]
    names = sure.sort_values(column, ascending=False, kind="stable")["parameter"].tolist()
    if not names:
        return Prose(f"{indices.metric}: no interval keeps clear of zero; take more samples.", "bad")
    rest = len(indices.table) - len(names)
    others = f"; {rest} others cannot be told from none" if rest > 1 else "; one cannot be told from none" * rest
    return Prose(f"{indices.metric} depends on {', then '.join(names)}{others}.", "good")


def page_sections(study: Study) -> list[Section]:
    """A section for each metric."""
    sensitivity, found = recall(study)
    return [_section(sensitivity, indices, k) for k, indices in enumerate(found)]


def planned_trials(study: Study) -> int:
    """How many trials the analysis has."""
    configuration = study.configuration
    return len(trials_of(sensitivity_from(Config(configuration["sensitivity"]), configuration["name"])))


def page_again(study: Study) -> list[Block]:
    """The file, and the command."""
    name = study.configuration["name"]
    return [
        Prose(f"The analysis, with this file as {name}.toml:"),
        Code(as_toml(study.configuration["sensitivity"])),
        Code(f"biped sensitivity {name}.toml"),
    ]


def _section(sensitivity: Sensitivity, indices: Indices, k: int) -> Section:
    blocks: list[Block] = [Prose(f"{indices.counted}.".capitalize(), "muted")]
    blocks += [Prose(f"{remark}.".capitalize()) for remark in indices.remarks]
    if indices.table is not None:
        headings = ("parameter", *(HEADINGS[name] for name in columns_of(sensitivity)))
        blocks.append(_bars(sensitivity, indices, k).chart)
        blocks.append(Table("Indices", headings, tuple(cells_of(sensitivity, indices)), fold=False))
    if indices.pairs is not None:
        ordered = indices.pairs.sort_values("S2", ascending=False, kind="stable")
        rows = tuple((str(a), str(b), f"{s:.4g} ± {w:.2g}") for a, b, s, w in ordered.itertuples(index=False))
        blocks.append(Table("Pairs", ("parameter", "with", "second order"), rows))
    method = "Morris's elementary effects" if sensitivity.method == MORRIS else "Sobol's indices"
    return Section(f"metric-{k}", f"What {indices.metric} depends on", method, blocks=tuple(blocks))


def _bars(sensitivity: Sensitivity, indices: Indices, k: int) -> Drawing:
    assert indices.table is not None
    is_morris = sensitivity.method == MORRIS
    table = indices.table.sort_values(columns_of(sensitivity)[0], kind="stable")
    names = [plain(name) for name in table["parameter"]]
    figure = theme.new_figure(_AROUND + _ROW * len(names), barmode="group", margin={"l": _LEFT})
    if is_morris:
        _add_bar(figure, names, table["mu_star"], table["mu_star_conf"], "μ*, mean size", style.BLUE)
        look = {"color": style.ORANGE, "symbol": "diamond", "size": 9}
        figure.add_scatter(x=table["sigma"].to_numpy(), y=names, mode="markers", marker=look, name="σ, its spread",
                           hovertemplate="%{y}: %{x:.4g}")  # fmt: skip
        unit = f"change over a parameter's range {unit_of(sensitivity, indices.metric)}"
        text = f"Elementary effects on {indices.metric}: mean size and spread, with 95 % intervals (Morris 1991)."
    else:
        _add_bar(figure, names, table["S1"], table["S1_conf"], "first order", style.BLUE)
        _add_bar(figure, names, table["ST"], table["ST_conf"], "total", style.SKY)
        unit = "share of the metric's variance [–]"
        text = f"Shares of the variance of {indices.metric}, with 95 % intervals (Sobol 2001; Saltelli et al. 2010)."
    figure.update_layout(xaxis={"title": {"text": plain(unit)}}, yaxis={"showgrid": False})
    return Drawing(f"indices-{k}", text, figure)


def _add_bar(figure: go.Figure, names: list[str], values: object, widths: object, label: str, color: str) -> None:
    figure.add_bar(
        orientation="h", x=np.asarray(values, dtype=float), y=names, name=label, marker={"color": color},
        error_x={"array": np.asarray(widths, dtype=float), "thickness": 1.2, "width": 3, "color": theme.NEUTRAL},
        hovertemplate="%{y}: %{x:.4g}",
    )  # fmt: skip
