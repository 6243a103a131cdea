"""What a sweep's page says: how verdicts and metrics depend on what was varied, and how to run it again."""

from experiments.studies.run import plan_of
from experiments.studies.store.folder import Study
from experiments.studies.sweep.groups import factors_of
from experiments.studies.sweep.sweep import Sweep
from experiments.visualization.pages import Block, Section
from experiments.visualization.report.responses import response_drawings
from experiments.visualization.report.toml import file_and_command
from experiments.visualization.report.trials import Axis, Trials


def page_sections(study: Study) -> list[Section]:
    trials = Trials(study)
    charts = tuple(drawing.chart for drawing in response_drawings(trials, _axes(trials, plan_of(study))))
    return [Section("responses", "What it depends on", blocks=charts)] if charts else []


def _axes(trials: Trials, plan: Sweep) -> list[Axis]:
    axes = [trials.axis(factor.column, factor.label.removeprefix(factor.column)) for factor in factors_of(plan)]
    return [axis for axis in axes if len(axis.points) > 1]


def page_rerun(study: Study) -> list[Block]:
    return file_and_command("The sweep", study.configuration, "sweep.toml", "biped sweep sweep.toml")
