"""What a sweep's page says: how verdicts and metrics depend on what was varied, and how to run it again."""

from experiments.pages import Block, Code, Prose, Section
from experiments.reporting.responses import response_drawings
from experiments.reporting.toml import as_toml
from experiments.reporting.trials import Axis, Trials
from experiments.study.config import Config
from experiments.study.folder import Study
from experiments.sweep.plan import Plan, plan_from
from experiments.sweep.shares import factors_of


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
