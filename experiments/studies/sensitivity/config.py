"""A sensitivity analysis as its TOML file says it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biped.errors import InputError
from experiments.catalogue.registry import experiment_named
from experiments.studies.store.config import Config, changes_from, is_number, read_config
from experiments.studies.tuning.config import check_corners, check_metrics, knob_from, scatters_from, within
from experiments.studies.tuning.objective import MEASURED, SHARES, Reading
from experiments.studies.tuning.plan import Plan, Scenario

KIND = "sensitivity"
MORRIS, SOBOL = METHODS = ("morris", "sobol")
DROPPED = "dropped"


@dataclass(frozen=True)
class Measure:
    """A metric, and what becomes of trials in which it does not apply.

    Attributes:
        reading: the metric, and what a fall counts as.
        drops: instead, leave out all trajectories with a trial that fell, failed or lacks it (Morris only).
    """

    reading: Reading
    drops: bool = False

    @property
    def name(self) -> str:
        """Of the metric."""
        return self.reading.metric


@dataclass(frozen=True)
class Sensitivity:
    """A sensitivity analysis.

    Attributes:
        name: of the study.
        plan: the parameters, as knobs, and the trials of a point.
        method: ``"morris"`` or ``"sobol"``.
        samples: Morris's trajectories, or Sobol's base samples, a power of two.
        levels: Morris's grid.
        second_order: whether Sobol's indices of pairs are computed.
        measures: the metrics.
        data: the file, as it is.
    """

    name: str
    plan: Plan
    method: str
    samples: int
    levels: int
    second_order: bool
    measures: tuple[Measure, ...]
    data: Mapping[str, Any]


def load_sensitivity(path: str | Path) -> Sensitivity:
    """Read a sensitivity analysis.

    Raises:
        InputError: the file is not TOML, or something in it is wrong; the message names the line.
        OSError: it cannot be read.
    """
    return sensitivity_from(read_config(path), Path(path).stem)


def sensitivity_from(config: Config, name: str = "sensitivity") -> Sensitivity:
    """From its configuration; raises InputError as ``load_sensitivity`` does."""
    name = config.word("name", name)
    experiment = experiment_named(config.word("experiment"))
    seed = config.whole("seed", 0)
    fixed = changes_from(config.table("set", {}), experiment)
    knobs = tuple(knob_from(table, experiment) for table in config.tables("parameter"))
    table = config.table("sensitivity", {})
    method = table.word("method", MORRIS, METHODS)
    samples = table.whole("samples", 16 if method == MORRIS else 64, least=2)
    levels = table.whole("levels", 4, least=2) if method == MORRIS else 4
    second_order = table.switch("second_order", False) if method == SOBOL else False
    replicas = table.whole("replicas", 1, least=1)
    scatters = scatters_from(config, experiment) if replicas > 1 or "scatter" in config else ()
    measures = tuple(_measure(item, method) for item in config.tables("metric"))
    config.finish()
    if method == SOBOL and samples & (samples - 1):
        raise table.error(f"samples = {samples}: for Sobol's sequence it must be a power of two", "samples")
    if levels % 2:
        raise table.error(f"levels = {levels}: it must be even", "levels")
    if len({measure.name for measure in measures}) < len(measures):
        raise config.error("a metric is there twice")
    check_metrics(config, [measure.name for measure in measures], experiment, fixed)
    scenario = (Scenario(experiment.name, {}),)
    plan = within(config, lambda: Plan(experiment, fixed, knobs, scenario, replicas, scatters, seed))
    within(config, lambda: check_corners(plan))
    return Sensitivity(name, plan, method, samples, levels, second_order, measures, config.data)


def _measure(config: Config, method: str) -> Measure:
    metric = config.word("name")
    fell = config.take("fell", None)
    failed: float | None = config.number("failed", None)
    missing: float | None = config.number("missing", None)
    if fell == DROPPED:
        if method != MORRIS:
            raise config.error("fell = 'dropped' is for Morris's method: Sobol's needs a number of each trial", "fell")
        if metric in SHARES or failed is not None or missing is not None:
            raise config.error("fell = 'dropped' drops failures and missing values too: leave failed and missing out")
        return Measure(Reading(metric, fell=0.0), drops=True)
    if fell is not None and not is_number(fell) and fell != MEASURED:
        raise config.wrong("fell", f"a number, {MEASURED!r} or {DROPPED!r}")
    try:
        return Measure(Reading(metric, fell, failed, missing))
    except InputError as error:
        raise config.error(str(error)) from None
