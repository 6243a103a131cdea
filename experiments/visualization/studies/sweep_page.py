"""What a sweep's page says: how verdicts and metrics depend on what was varied, and how to run it again."""

from dataclasses import replace

import pandas as pd

from experiments.studies.run import plan_of
from experiments.studies.store.folder import Study
from experiments.studies.sweep.groups import Factor, as_written, factors_of
from experiments.visualization.figures.words import with_unit
from experiments.visualization.pages import Block, Section
from experiments.visualization.report.responses import response_sections
from experiments.visualization.report.toml import file_and_command
from experiments.visualization.report.trials import Axis, Trials
from experiments.visualization.studies.sweep_figure import besides


def page_sections(study: Study) -> list[Section]:
    trials = Trials(study)
    plan = plan_of(study)
    factors = factors_of(plan)
    written = as_written(plan, trials.frame)
    axes = [_axis(trials, factor, written) for factor in factors]
    return response_sections(trials, [axis for axis in axes if len(axis.points) > 1], plan.counts)


def _axis(trials: Trials, factor: Factor, written: pd.DataFrame) -> Axis:
    """Of a factor; its angles are in degrees where the sweep has them so."""
    axis = trials.axis(factor.column, besides(factor))
    if "°" not in factor.unit:
        return axis
    label = with_unit(factor.column, factor.unit) + besides(factor)
    return replace(axis, label=label, values=written[factor.column])


def page_rerun(study: Study) -> list[Block]:
    return file_and_command("The sweep", study.configuration, "sweep.toml", "biped sweep sweep.toml")
