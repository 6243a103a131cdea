"""The page of a sensitivity analysis: which parameters each metric depends on, and how trials were counted."""

from experiments.studies.run import recall
from experiments.studies.sensitivity.analysis import MORRIS, Indices
from experiments.studies.sensitivity.sensitivity import Sensitivity
from experiments.studies.store.folder import Study
from experiments.visualization.pages import Block, Prose, Section, Table
from experiments.visualization.panels.with_plotly import figure_of
from experiments.visualization.report.drawing import Drawing
from experiments.visualization.report.toml import file_and_command
from experiments.visualization.studies.sensitivity_figures import indices_panel
from experiments.visualization.studies.sensitivity_output import HEADINGS, cells_of, columns_of

#: [px] of a parameter's bars, and around all of them.
_ROW, _AROUND = 40, 130


def page_lead(study: Study) -> list[Block]:
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
    sensitivity, found = recall(study)
    return [_section(sensitivity, indices, k) for k, indices in enumerate(found)]


def page_rerun(study: Study) -> list[Block]:
    name = study.configuration["name"]
    data = study.configuration["sensitivity"]
    return file_and_command("The analysis", data, f"{name}.toml", f"biped sensitivity {name}.toml")


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
    method = "Morris's elementary effects" if sensitivity.design.method == MORRIS else "Sobol's indices"
    return Section(f"metric-{k}", f"What {indices.metric} depends on", method, blocks=tuple(blocks))


def _bars(sensitivity: Sensitivity, indices: Indices, k: int) -> Drawing:
    if sensitivity.design.method == MORRIS:
        text = f"Elementary effects on {indices.metric}: mean size and spread, with 95 % intervals (Morris 1991)."
    else:
        text = f"Parts of the variance of {indices.metric}, with 95 % intervals (Sobol 2001; Saltelli et al. 2010)."
    height = _AROUND + _ROW * len(sensitivity.space.variables)
    return Drawing(f"indices-{k}", text, figure_of(indices_panel(sensitivity, indices), height=height))
