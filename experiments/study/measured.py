"""What results of an experiment have: names and units of its metrics."""

from experiments.experiment import Experiment
from experiments.metrics import Layout, metric_names, stimulus_of, units_of


def metric_units(experiment: Experiment) -> dict[str, str]:
    """The metrics that results of this experiment have, with their units."""
    plan = experiment.build().prepare()
    layout = Layout.of(plan.model, plan.columns.names)
    stimulus = stimulus_of(plan.disturbances)
    frequencies = () if stimulus is None else stimulus.frequencies
    names = metric_names(layout.joints, layout.feet, frequencies)
    return units_of(name for name in names if name != "verdict")
