"""Names and units of the metrics in an experiment's results."""

from collections.abc import Mapping
from dataclasses import replace

from biped.metrics import Layout, metric_names, stimulus_of, units_of
from biped.simulation.plan import Plan
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.studies.trial import OUTCOME


def metric_units(experiment: Experiment, changes: Mapping[str, Value] | None = None) -> dict[str, str]:
    """Return the units of the metrics that an experiment has under these changes, by metric."""
    plan = _prepared(experiment, changes)
    layout = Layout.of(plan.model, plan.columns.names)
    stimulus = stimulus_of(plan.disturbances)
    frequencies = 0 if stimulus is None else len(stimulus.frequencies)
    names = metric_names(layout.joints, layout.feet, frequencies)
    return units_of(name for name in names if name not in OUTCOME)


def trace_units(experiment: Experiment, changes: Mapping[str, Value] | None = None) -> dict[str, str]:
    """Return the units of the time series that an experiment's runs have, with ``biped.metrics.series``, by column."""
    plan = _prepared(experiment, changes)
    layout = Layout.of(plan.model, plan.columns.names)
    return plan.columns.units | layout.series | layout.anatomical


def _prepared(experiment: Experiment, changes: Mapping[str, Value] | None) -> Plan:
    return replace(experiment.build(changes), settle=None).prepare(log_holds_run=True)
