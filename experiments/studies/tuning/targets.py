"""Targets from human data: metrics and band powers, each with a mean and a standard deviation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from biped.errors import InputError
from biped.inputs.checks import above_zero
from biped.metrics.measurement import Measurement
from biped.metrics.posturography import power_spectrum
from biped.records.units import factor_between
from contact.arrays import Floats
from experiments.catalogue.parameters.parameter import Value
from experiments.studies.config import Config
from experiments.studies.failures import Result
from experiments.studies.randomization import Randomization
from experiments.studies.store.measured import metric_units, trace_units
from experiments.studies.tuning.design_space import DesignSpace, check_metrics
from experiments.studies.tuning.objective import PROPORTIONS, Objective, Reading, Sample, Term

#: Distance from the target, in standard deviations, of a run that fell or lacks the metric.
FAR = 1e3


@dataclass(frozen=True)
class Band:
    """Mean power spectral density of a column of a run in a frequency band."""

    column: str  # name of the column
    low: float  # [Hz] lower end of the band
    high: float  # [Hz] upper end

    @property
    def name(self) -> str:
        """Key of the value in results."""
        return f"power of {self.column} from {self.low:.4g} to {self.high:.4g} Hz"

    def __call__(self, run: Measurement) -> float | None:
        """Return a run's one-sided density, in the column's unit squared per Hz; None if it is short or has gaps."""
        time, values = run["time"][run.first :], run[self.column][run.first :]
        if len(values) < 3 or not np.isfinite(values).all():
            return None
        frequency, density = power_spectrum(time, values)
        within = density[(frequency >= self.low) & (frequency < self.high)]
        return float(within.mean()) if len(within) else None


@dataclass(frozen=True)
class Targets:
    """Statistics that a model is to reproduce, on average over several noise seeds."""

    terms: tuple[Term, ...]  #: a term for each target, with ``target`` and, as ``per``, the standard deviation
    units: tuple[str, ...]  #: unit of each target
    bands: tuple[Band, ...]  #: targets that are band powers

    @property
    def size(self) -> int:
        """Number of targets."""
        return len(self.terms)

    @property
    def objective(self) -> Objective:
        """Mean of the squared z-scores, for a tuning."""
        share = 1.0 / len(self.terms)
        return Objective("mean squared z-score", tuple(replace(term, weight=share) for term in self.terms))

    def reads(self, run: Measurement) -> Result:
        """Return the band powers of a run by their names."""
        return {band.name: band(run) for band in self.bands}

    def modelled(self, samples: Sequence[Sample]) -> Floats:
        """Return the model's values (targets, seeds)."""
        return np.array([[term.reading.value(sample) for sample in samples] for term in self.terms])

    def residuals(self, modelled: Floats) -> Floats:
        """Return residuals (targets,): (target − mean over seeds) / standard deviation, the negative z-scores."""
        targets, deviations = np.array([(term.target, term.per) for term in self.terms]).T
        return np.asarray((targets - modelled.mean(axis=1)) / deviations)

    def series(self, _: int) -> list[slice]:
        """Return an empty list: targets have no order in time."""
        return []


def targets_from(config: Config, space: DesignSpace) -> Targets | None:
    """Return the targets in the tables ``targets`` and ``[[spectrum]]`` below a table; None if both are missing.

    Raises:
        InputError: a metric or column does not exist, a unit is incompatible, or a number is out of range.
    """
    changes = {**space.fixed, **space.scenarios[0].changes}
    metrics, columns = metric_units(space.experiment, changes), trace_units(space.experiment, changes)
    terms, units, bands = list[Term](), list[str](), list[Band]()

    def add(table: Config, metric: str, unit: str, value: float, deviation: float) -> None:
        given = table.word("unit", unit)
        factor = table.within(lambda: factor_between(given, unit), "unit") if given != unit else 1.0
        table.within(lambda: above_zero(deviation, f"{metric}: sd"))
        far = factor * (value + FAR * deviation)
        terms.append(Term(Reading(metric, fell=far), per=factor * deviation, target=factor * value))
        units.append(unit)

    targets = config.table("targets", {})
    check_metrics(targets, targets.data, space)
    for name in targets.data:
        target = targets.table(name)
        if name in PROPORTIONS or not metrics[name]:
            raise targets.error(f"{name} cannot be a target: it is not a number with a unit", name)
        add(target, name, metrics[name], target.get("value", float), target.get("sd", float))
    for spectrum in config.tables("spectrum", ()):
        column = spectrum.word("column", choices=columns)
        for band, value, deviation in _spectrum(spectrum, column):
            if 1.0 / (band.high - band.low) > float(str(space.base["run.duration"])):
                raise spectrum.error(f"{band.name}: run.duration must be {1.0 / (band.high - band.low):.3g} s or more")
            if band.high > (highest := 0.5 / float(str(space.base["run.step"]))) or value < 0.0:
                limits = f"it must end at {highest:.4g} Hz (0.5 / run.step) or below, and its value must not be below 0"
                raise spectrum.error(f"{band.name}: {limits}")
            add(spectrum, band.name, f"{columns[column]}**2/Hz", value, deviation)
            bands.append(band)
    if not terms and ("targets" in config or "spectrum" in config):
        raise config.error("targets and spectrum are empty: add targets, or leave the tables out")
    return Targets(tuple(terms), tuple(units), tuple(bands)) if terms else None


def _spectrum(config: Config, column: str) -> list[tuple[Band, float, float]]:
    """Return bands with values and standard deviations; the bands meet halfway between the frequencies."""
    names = ("frequency", "value", "sd")
    if "file" in config:
        table = config.within(lambda: _table_of(config.get("file", str), names), "file")
    else:
        lists = [config.get(name, tuple[float, ...]) for name in names]
        if len({len(numbers) for numbers in lists}) > 1:
            raise config.error("frequency, value and sd must be lists of the same length")
        table = np.array(lists)
    frequency = table[0]
    if len(frequency) < 2 or not (np.diff(frequency, prepend=0.0) > 0.0).all():
        raise config.error("frequency: it must be a list of two or more increasing numbers above zero [Hz]")
    middle = (frequency[1:] + frequency[:-1]) / 2.0
    edges = [max(2.0 * frequency[0] - middle[0], 0.0), *middle, 2.0 * frequency[-1] - middle[-1]]
    bands = [Band(column, float(low), float(high)) for low, high in pairwise(edges)]
    return list(zip(bands, *table[1:].tolist(), strict=True))


def _table_of(file: str, names: Sequence[str]) -> Floats:
    """Return the columns of these names, (names, rows), of a CSV file with a header line."""
    import pandas as pd

    try:
        table = pd.read_csv(file, comment="#", skipinitialspace=True)
        values = table[list(names)].to_numpy(dtype=float).T
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{file}: it must be a CSV file with numeric columns {', '.join(names)} ({error})") from None
    if not np.isfinite(values).all():
        raise InputError(f"{file}: a number is missing in row {int(np.argmin(np.isfinite(values).all(axis=0))) + 1}")
    return np.asarray(values)


def noise_of(values: Mapping[str, Value]) -> Randomization | None:
    """Return a randomization of the seeds of noise and scattered starts; None if the experiment has none.

    The seeds of stimuli, such as a floor's sum of sines, are excluded: the measured subject had the same stimulus.
    """
    switches = {"sensors.seed": "", "actuators.seed": "", "force.seed": "force.noise", "initial.seed": "initial.jitter"}
    names = [name for name, switch in switches.items() if name in values and (not switch or values[switch])]
    return Randomization(tuple(names), "seed") if names else None


def with_noise(space: DesignSpace) -> DesignSpace:
    """Return a design space whose replicas differ in their noise, if the experiment has noise or scattered starts."""
    noise = noise_of(space.base)
    return space if noise is None else replace(space, randomizations=(noise,))
