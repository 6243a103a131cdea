"""Statistics of people as targets: metrics and band powers, each with a value and a standard deviation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biped.checks import above_zero
from biped.errors import InputError
from biped.metrics.measurement import Measurement
from biped.metrics.posturography import power_spectrum
from biped.records.units import factor_between
from contact.arrays import Floats
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.studies.config import Config
from experiments.studies.failures import Result
from experiments.studies.fitting.estimate import Estimate
from experiments.studies.randomization import Randomization
from experiments.studies.store.measured import metric_units, trace_units
from experiments.studies.tuning.design_space import DesignSpace, check_metrics
from experiments.studies.tuning.objective import PROPORTIONS, Objective, Reading, Sample, Term

#: In standard deviations: how far from its target a metric counts of a run that fell or has no such metric.
FAR = 1e3


@dataclass(frozen=True)
class Band:
    """A column's mean power spectral density from one frequency to another [Hz]."""

    column: str
    low: float
    high: float

    @property
    def name(self) -> str:
        """The name of the value in results."""
        return f"power of {self.column} from {self.low:.4g} to {self.high:.4g} Hz"


@dataclass(frozen=True)
class Powers:
    """What trials read of their runs: the power in bands, one-sided densities by ``biped.metrics.power_spectrum``."""

    bands: tuple[Band, ...]

    def __call__(self, run: Measurement) -> Result:
        """The values by the bands' names; None where a run is too short, or lacks values."""
        found: Result = {}
        time = run["time"][run.first :]
        for column in dict.fromkeys(band.column for band in self.bands):
            values = run[column][run.first :]
            is_there = len(values) > 2 and np.isfinite(values).all()
            frequency, density = power_spectrum(time, values) if is_there else (np.empty(0), np.empty(0))
            for band in self.bands:
                if band.column == column:
                    within = density[(frequency >= band.low) & (frequency < band.high)]
                    found[band.name] = float(within.mean()) if len(within) else None
        return found


@dataclass(frozen=True)
class Targets:
    """Statistics that a model is to reproduce, each over several seeds.

    Attributes:
        terms: one for each, with its target and, as ``per``, its standard deviation.
        units: of each.
        reads: what trials have to read besides metrics.
    """

    terms: tuple[Term, ...]
    units: tuple[str, ...]
    reads: Powers | None

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.terms)

    def modelled(self, samples: Sequence[Sample]) -> Floats:
        """(targets, seeds)."""
        return np.array([[term.reading.value(sample) for sample in samples] for term in self.terms])

    def residuals(self, modelled: Floats) -> Floats:
        """(targets,) targets less means over seeds, in standard deviations: z-scores with the sign turned."""
        targets, deviations = np.array([(term.target, term.per) for term in self.terms]).T
        return np.asarray((targets - modelled.mean(axis=1)) / deviations)

    @property
    def objective(self) -> Objective:
        """The mean of the squared z-scores, for a tuning."""
        share = 1.0 / len(self.terms)
        return Objective("mean squared z-score", tuple(replace(term, weight=share) for term in self.terms))

    def series(self, _: int) -> list[slice]:
        """No targets follow one another in time."""
        return []


def scatter_by_seed(found: Estimate, modelled: Floats, targets: Targets) -> Floats:
    """Return the standard deviations (p,) of a fit's parts by the choice of seeds, of a linear model of the targets.

    Args:
        found: the fit.
        modelled: (targets, seeds) of the runs with its values.
        targets: what it was of.
    """
    count = modelled.shape[1]
    if count == 1:
        return np.full(len(found.parts), np.nan)
    scores = modelled / np.array([term.per for term in targets.terms])[:, None]
    moves = np.linalg.pinv(found.jacobian) @ (scores - scores.mean(axis=1, keepdims=True))
    return np.asarray(np.sqrt((moves**2).sum(axis=1) / (count * (count - 1))))


def targets_from(config: Config, space: DesignSpace) -> Targets | None:
    """The tables ``targets`` and ``[[spectrum]]`` of a configuration's table; None where there are neither.

    Raises:
        InputError: a metric or column does not exist, a unit is of something else, or a number makes no sense.
    """
    table = config.table("targets", {})
    changes = {**space.fixed, **space.scenarios[0].changes}
    units, columns = metric_units(space.experiment, changes), trace_units(space.experiment, changes)
    check_metrics(table, table.data, space)
    duration = space.base["run.duration"]
    assert isinstance(duration, float)
    terms, found, bands = [], [], list[Band]()
    for name in table.data:
        one = table.table(name)
        if name in PROPORTIONS or not units[name]:
            raise table.error(f"{name} is no number with a unit: it cannot be a target", name)
        factor = _factor(one, units[name])
        terms.append(_term(one, name, factor * one.get("value", float), factor * one.get("sd", float)))
        found.append(units[name])
    for one in config.tables("spectrum", ()):
        own, values, deviations = _spectrum(one, columns)
        if 1.0 / duration > min(band.high - band.low for band in own):
            raise one.error(f"run.duration = {duration:g} s: it must be {_longest(own):.4g} s or more for such bands")
        unit = f"{columns[own[0].column]}**2/Hz"
        factor = _factor(one, unit)
        terms += [_term(one, b.name, factor * v, factor * d) for b, v, d in zip(own, values, deviations, strict=True)]
        found += [unit] * len(own)
        bands += own
    if not terms:
        return None
    return Targets(tuple(terms), tuple(found), Powers(tuple(bands)) if bands else None)


def noise_of(experiment: Experiment, values: Mapping[str, Value]) -> Randomization | None:
    """Return the seeds of what is random in runs, of noise and of scattered starts; None if there are none.

    The seeds of stimuli, such as of a floor's sum of sines, are not among them: those are what the subject had too.
    """
    switches = {"sensors.seed": "", "actuators.seed": "", "force.seed": "force.noise", "initial.seed": "initial.jitter"}
    names = [name for name, switch in switches.items() if name in values and (not switch or values[switch])]
    return Randomization(tuple(names), "seed") if names else None


def with_noise(space: DesignSpace) -> DesignSpace:
    """Return a space whose replicas differ by their noise, if there is any seed of it."""
    noise = noise_of(space.experiment, space.base)
    return space if noise is None else replace(space, randomizations=(noise,))


def _longest(bands: Sequence[Band]) -> float:
    return max(1.0 / (band.high - band.low) for band in bands)


def _term(config: Config, metric: str, value: float, deviation: float) -> Term:
    """One target; of a run that fell its metric counts as far from it."""
    config.within(lambda: above_zero(deviation, f"{metric}: sd"))
    return Term(Reading(metric, fell=value + FAR * deviation), per=deviation, target=value)


def _factor(config: Config, unit: str) -> float:
    """From the table's ``unit`` to that of the metric."""
    own = config.word("unit", unit)
    return config.within(lambda: factor_between(own, unit), "unit") if own != unit else 1.0


def _spectrum(config: Config, columns: Mapping[str, str]) -> tuple[list[Band], Any, Any]:
    """Bands around frequencies, each to half way to the next one, with values and standard deviations."""
    column = config.word("column", choices=columns)
    names = ("frequency", "value", "sd")
    if "file" in config:
        frequency, value, deviation = config.within(lambda: _columns_of(config.get("file", str), names), "file")
    else:
        frequency, value, deviation = (np.array(config.get(name, tuple[float, ...])) for name in names)
    if len({len(frequency), len(value), len(deviation)}) > 1 or len(frequency) < 2:
        raise config.error("frequency, value and sd must be lists of one length, two or more")
    if not ((np.diff(frequency) > 0.0).all() and frequency[0] > 0.0):
        raise config.error("frequency: it must grow from above zero")
    middle = (frequency[1:] + frequency[:-1]) / 2.0
    edges = [max(2.0 * frequency[0] - middle[0], 0.0), *middle, 2.0 * frequency[-1] - middle[-1]]
    return [Band(column, float(a), float(b)) for a, b in zip(edges, edges[1:], strict=False)], value, deviation


def _columns_of(file: str, names: Sequence[str]) -> list[Floats]:
    import pandas as pd

    try:
        table = pd.read_csv(file, comment="#", skipinitialspace=True)
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: it cannot be read ({error})") from None
    if missing := [name for name in names if name not in table]:
        raise InputError(f"{file}: no column {missing[0]!r}: it must have {', '.join(names)}, separated by commas")
    values = table[list(names)].apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
    if not np.isfinite(values).all():
        raise InputError(f"{file}: row {int(np.argmin(np.isfinite(values).all(axis=1))) + 1} has no finite number")
    return list(values.T)
