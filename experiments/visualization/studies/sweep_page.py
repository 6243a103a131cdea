"""What a sweep's page says: how verdicts and metrics depend on what was varied, and how to run it again."""

from experiments.studies.run import plan_of
from experiments.studies.store.folder import Study
from experiments.studies.sweep.groups import factors_of
from experiments.visualization.pages import Block, Section
from experiments.visualization.report.responses import response_sections
from experiments.visualization.report.toml import file_and_command
from experiments.visualization.report.trials import Trials
from experiments.visualization.studies.sweep_figure import besides


def page_sections(study: Study) -> list[Section]:
    trials = Trials(study)
    plan = plan_of(study)
    factors = factors_of(plan)
    axes = [trials.axis(factor.column, besides(factor)) for factor in factors]
    return response_sections(trials, [axis for axis in axes if len(axis.points) > 1], plan.counts)


def page_rerun(study: Study) -> list[Block]:
    return file_and_command("The sweep", study.configuration, "sweep.toml", "biped sweep sweep.toml")
