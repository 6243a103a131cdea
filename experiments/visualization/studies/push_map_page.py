"""The page of a push map: the map around the human, how replicas end, and the proportions that are left."""

from collections.abc import Iterator

from experiments.studies.run import plan_of
from experiments.studies.store.folder import Study
from experiments.studies.threshold.findings import Findings, changes_of_engines
from experiments.studies.threshold.threshold import findings_so_far
from experiments.visualization.pages import Section
from experiments.visualization.panels.with_plotly import figure_of
from experiments.visualization.report.drawing import Drawing
from experiments.visualization.studies.push_map_figure import (
    changes_panel,
    endings_panel,
    map_panel,
    proportions_panel,
    rings_of,
)
from experiments.visualization.studies.threshold_page import page_lead, page_rerun, table
from experiments.visualization.studies.threshold_text import label_of

__all__ = ["page_lead", "page_rerun", "page_sections"]


def page_sections(study: Study) -> list[Section]:
    findings = findings_so_far(plan_of(study), study)
    charts = [drawing.chart for drawing in _drawings(findings)]
    return [Section("map", "Push map", blocks=(*charts, table(findings)))]


def _drawings(findings: Findings) -> Iterator[Drawing]:
    plan, rings, changes = findings.plan, rings_of(findings), changes_of_engines(findings)
    text = (
        f"Largest {label_of(plan)} that {plan.experiment.who} recovers from, over where it is driven: median of "
        f"{plan.replicas} replicas and its interval; dots in the colour of what limits it, as below. From above, front "
        "up; the soles are to the scale of one another."
    )
    yield Drawing("push-map", text, figure_of(map_panel(rings), height=620))
    if len(rings) == 1 + len(changes) and changes:
        text = (
            f"{' and '.join(changes)} against {rings[0].name}, replica by replica: median change and its interval; "
            "hollow where zero is within."
        )
        yield Drawing("changes", text, figure_of(changes_panel(changes, rings), height=420))
    for number, ring in enumerate(rings):
        name, suffix = f" at {ring.name}" if ring.name else "", f"-{number}" if number else ""
        text = f"How the replicas end at the least value at which each is lost{name}: what limits each direction."
        yield Drawing(f"limits{suffix}", text, figure_of(endings_panel(ring), height=260))
        text = (
            f"Proportion of {plan.replicas} replicas that is not lost up to a value{name}; dots: median, its interval."
        )
        yield Drawing(f"proportions{suffix}", text, figure_of(proportions_panel(ring), height=460))
