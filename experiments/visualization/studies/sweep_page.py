"""What a sweep's page says: how verdicts and metrics depend on what was varied, and how to run it again."""

from experiments.studies.store.config import Config
from experiments.studies.store.folder import Study
from experiments.studies.sweep.plan import Plan, plan_from
from experiments.studies.sweep.shares import factors_of
from experiments.visualization.pages import Block, Code, Prose, Section
from experiments.visualization.report.responses import response_drawings
from experiments.visualization.report.toml import as_toml
from experiments.visualization.report.trials import Axis, Trials


def page_sections(study: Study) -> list[Section]:
    """One section with all figures."""
    trials = Trials(study)
    charts = tuple(drawing.chart for drawing in response_drawings(trials, _axes(trials, _plan(study))))
    return [Section("responses", "What it depends on", blocks=charts)] if charts else []


def _axes(trials: Trials, plan: Plan) -> list[Axis]:
    axes = [trials.axis(factor.column, factor.label.removeprefix(factor.column)) for factor in factors_of(plan)]
    return [axis for axis in axes if len(axis.points) > 1]


def planned_trials(study: Study) -> int:
    """How many trials the sweep has."""
    return _plan(study).total


def page_again(study: Study) -> list[Block]:
    """The file, and the command."""
    return [
        Prose("The sweep, with this file as sweep.toml:"),
        Code(as_toml(study.configuration)),
        Code("biped sweep sweep.toml"),
    ]


def _plan(study: Study) -> Plan:
    return plan_from(Config(study.configuration))
