"""A fit: parameters whose runs match measurements best, with their uncertainty."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.errors import InputError
from biped.inputs.checks import zero_or_above
from contact.arrays import Floats
from experiments.studies.config import Config
from experiments.studies.fitting.estimate import Estimate, Prior, estimate, searched
from experiments.studies.fitting.identifiability import at_bounds, sentences
from experiments.studies.fitting.measured import Measured, measured_from
from experiments.studies.fitting.profiles import bootstrap, profiles
from experiments.studies.fitting.quality import (
    doubts_of_quality,
    doubts_of_runs,
    doubts_of_seeds,
    quality_of_columns,
    quality_of_targets,
)
from experiments.studies.fitting.runs import Runs
from experiments.studies.randomization import Randomization
from experiments.studies.seeds import seed_of
from experiments.studies.store.measured import trace_units
from experiments.studies.study_kind import Evaluate, Say
from experiments.studies.trial import Result, Trial
from experiments.studies.tuning.descents import Start
from experiments.studies.tuning.design_space import DesignSpace, DesignStudy, Scenario, design_space_from
from experiments.studies.tuning.optimizers import Cma
from experiments.studies.tuning.targets import Targets, noise_of, targets_from, with_noise

if TYPE_CHECKING:
    import pandas as pd

    from experiments.studies.store.folder import Study

LEAST_SQUARES, CMA = METHODS = ("least-squares", "cma")
LINEAR, PROFILE, BOOTSTRAP = INTERVALS = ("linear", "profile", "bootstrap")
#: Usual number of trials of a search and of an end of a profile, for each parameter and for both ends.
_USUAL_SEARCH, _USUAL_END = 5, 4


@dataclass(frozen=True)
class Settings:
    """The table ``[fit]``."""

    method: str = LEAST_SQUARES  # or CMA, whose best candidate is then improved by least squares
    starts: int = field(default=1, metadata={"least": 1})  # of least squares, all but one random
    candidates: int = field(default=200, metadata={"least": 1})  # number of candidates of CMA
    intervals: str = LINEAR  # method of the intervals
    resamples: int = field(default=200, metadata={"least": 20})  # number of resamples of the bootstrap
    #: number of noise seeds: repeated fits of a record with noise, or runs of each candidate for statistics as targets
    seeds: int = field(default=3, metadata={"least": 1})
    every: float = 0.02  # [s] between values that are compared

    def __post_init__(self) -> None:
        zero_or_above(self.every, "fit.every")
        for name, known in (("method", METHODS), ("intervals", INTERVALS)):
            if getattr(self, name) not in known:
                raise InputError(f"fit.{name} = {getattr(self, name)!r}: it must be one of {', '.join(known)}")


@dataclass(frozen=True)
class Found:
    """Outcome of a fit.

    Attributes:
        estimate: estimate of the parameters.
        table: a row for each: ``parameter``, ``unit``, ``value``, ``sd``, ``low``, ``high`` (95 %), ``at_bound``; and
            ``seeds_sd``, the standard deviation of the value by the noise's seed, if there is noise.
        quality: a row for each column of a record, or for each target; see ``quality_of_columns`` and
            ``quality_of_targets``.
        warnings: reasons to doubt the values, in sentences; read them first.
        remarks: limits of the parameters' identifiability, in sentences.
        modelled: values (columns, times) of each record, or (targets, seeds), from the runs with the estimates.
        runs: number of runs, including those for intervals.
    """

    estimate: Estimate
    table: "pd.DataFrame"
    quality: "pd.DataFrame"
    warnings: tuple[str, ...]
    remarks: tuple[str, ...]
    modelled: tuple[Floats, ...]
    runs: int


@dataclass(frozen=True)
class Fit(DesignStudy):
    """A fit as configured by its file."""

    name: str
    space: DesignSpace  # a scenario for each record, or one for targets
    measured: tuple[Measured, ...]  # none where there are targets
    targets: Targets | None
    start: tuple[float, ...]  # start of the first search, by parameter
    priors: Mapping[str, Prior]
    by: tuple[float, ...]  # for each parameter: its values must be multiples of this; 0 for no restriction
    settings: Settings
    data: Mapping[str, Any]  # contents of the file
    kind = "fit"
    reads_more = True

    @property
    def compared(self) -> tuple[Any, ...]:
        """Records or targets with which runs are compared."""
        return self.measured if self.targets is None else (self.targets,)

    @property
    def noise(self) -> Randomization | None:
        """Seeds of the noise in runs."""
        return noise_of(self.space.base)

    @property
    def configuration(self) -> dict[str, Any]:
        return {"name": self.name, "fit": dict(self.data)}

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, Any]) -> "Fit":
        return fit_from(Config(configuration["fit"]), configuration["name"])

    @property
    def likely_trials(self) -> int:
        parameters = len(self.space.variables)
        searches = self.settings.starts + (self.settings.resamples if self.settings.intervals == BOOTSTRAP else 0)
        found = searches * _USUAL_SEARCH * (2 * parameters + 1)
        found += self.settings.candidates if self.settings.method == CMA else 0
        found += 2 * parameters * _USUAL_END * (2 * parameters - 1) if self.settings.intervals == PROFILE else 0
        return found * self.space.size

    def as_planned(self, trial: Trial) -> Trial:
        reads = {one.name: part.reads for one, part in zip(self.space.scenarios, self.compared, strict=True)}
        return replace(trial, reads=reads[str(trial.labels["scenario"])])

    def planned_trials(self, study: "Study") -> None:
        """Return None: the residuals decide the number of trials."""

    def find(self, evaluate: Evaluate, say: Say = lambda _: None) -> Found:
        count = 0

        def counted(trials: Sequence[Trial]) -> Mapping[int, Result]:
            nonlocal count
            count += len(trials)
            return evaluate(trials)

        model = Runs(self, counted)
        say("fitting")
        found = estimate(model.problem(), self._starts(model))
        values = model.modelled(found.parts)
        for one in values:
            if not np.isfinite(one[:, 0]).all():
                raise InputError(f"every run of the search failed; the last one: {model.failure}")
        say("intervals")
        table, by_seed = self._table(found), None
        if self.targets is None:
            names, own = [one.name for one in self.space.scenarios], self.space.scenarios[0].changes
            units = trace_units(self.experiment, {**self.space.fixed, **own})
            quality = quality_of_columns(names, self.measured, values, units)
            by_seed = self._by_seed(model, found)
        else:
            quality = quality_of_targets(self.targets, values[0])
        verdicts = [verdict for mine in model.verdicts.values() for verdict in mine]
        doubts = doubts_of_quality(quality) + doubts_of_runs(verdicts, model.verdicts_at(found.parts))
        if by_seed is not None:
            table["seeds_sd"] = by_seed.std(ddof=1).to_numpy()
            doubts += doubts_of_seeds(table, by_seed)
        doubts += at_bounds(found)
        if not found.converged:
            doubts.append("the search has not converged: give other starts, narrower ranges, or more seeds")
        remarks = (*sentences(found), *self._ends(values), *self._other_minima(found))
        return Found(found, table, quality, tuple(doubts), remarks, values, count)

    def _by_seed(self, model: Runs, found: Estimate) -> "pd.DataFrame | None":
        """Return a row for each seed of the noise, the fit's own first; None if the model has no noise."""
        import pandas as pd

        if self.settings.seeds == 1 or self.noise is None or not model.is_noisy(found.parts):
            return None
        first = found.problem.parts(self.start)
        others = (model.reseeded(number).problem() for number in range(1, self.settings.seeds))
        rows = [found.parts, *(searched(problem, first) for problem in others)]
        return pd.DataFrame(map(found.problem.values, rows), columns=[one.name for one in self.space.variables])

    def run(self, study: "Study", evaluate: Evaluate, say: Say) -> Found:
        return self.find(evaluate, say)

    def _starts(self, model: Runs) -> Floats:
        """Return starts (s, p) in fractions of the ranges: the file's and a Sobol sequence, or the best of CMA."""
        variables = self.space.variables
        first = np.array([[one.to_unit(value) for one, value in zip(variables, self.start, strict=True)]])
        if self.settings.method == CMA:
            return self._best_of_cma(model, first[0])
        if self.settings.starts == 1:
            return first
        from scipy.stats.qmc import Sobol

        sequence = Sobol(len(variables), rng=np.random.default_rng(seed_of(self.seed, "starts")))
        count = self.settings.starts - 1
        return np.vstack([first, sequence.random_base2(max(1, int(np.ceil(np.log2(count)))))[:count]])

    def _best_of_cma(self, model: Runs, first: Floats) -> Floats:
        variables = self.space.variables
        batch = 4 + int(3 * np.log(len(variables)))  # default of its authors
        point = {one.name: one.from_unit(float(part)) for one, part in zip(variables, first, strict=True)}
        search = Cma(variables, seed_of(self.seed, "optimizer") % 2**32, Start(point, ()), batch)
        best, least = first, np.inf
        for _ in range(max(1, self.settings.candidates // batch)):
            points = search.ask(batch)
            parts = np.array([[one.to_unit(at[one.name]) for one in variables] for at in points])
            costs = (model.residuals(parts) ** 2).sum(axis=1)
            search.tell(points, [(float(cost),) for cost in costs])
            if costs.min() < least:
                best, least = parts[int(np.argmin(costs))], float(costs.min())
        return best[None]

    def _table(self, found: Estimate) -> "pd.DataFrame":
        table = found.table
        if self.settings.intervals == PROFILE:
            ends = profiles(found)
            table["low"], table["high"] = ends["low"], ends["high"]
        elif self.settings.intervals == BOOTSTRAP:
            drawn = bootstrap(found, self.settings.resamples, seed_of(self.seed, "resampling"))
            table["low"], table["high"] = np.quantile(drawn, (0.025, 0.975), axis=0)
        table.insert(1, "unit", [self.units[one.name] for one in self.space.variables])
        return table

    def _ends(self, values: tuple[Floats, ...]) -> list[str]:
        """Return a warning if runs end before the measurement does."""
        told = []
        for scenario, record, one in zip(self.space.scenarios, self.measured, values, strict=False):
            if not np.isfinite(one).all():
                end = record.trace.times[int(np.isfinite(one[0]).sum()) - 1]
                told.append(
                    f"{scenario.name}: the model's run ends at {end:g} s; what was measured later was compared with "
                    "where it was then"
                )
        return told

    def _other_minima(self, found: Estimate) -> list[str]:
        """Return a warning if searches from other starts ended elsewhere with about the same sum of squares."""
        places, sums = found.starts[:, :-1], found.starts[:, -1]
        away = (np.abs(places - found.parts) > np.maximum(0.01, found.spread.deviations)).any(axis=1)
        near = away & (sums < sums.min() * 1.01 + 1e-12)
        told = []
        if near.any():
            values = found.problem.values(places[int(np.flatnonzero(near)[0])])
            words = ", ".join(f"{one.name} = {v:.4g}" for one, v in zip(self.space.variables, values, strict=True))
            told.append(f"another start ended elsewhere with a sum of squares within 1 %: {words}")
        return told


def fit_from(config: Config, name: str = "fit") -> Fit:
    """Read a fit from its configuration; raises InputError if something in it is wrong."""
    table = config.table("fit", {})
    settings = table.make(Settings)
    experiment = config.experiment()
    fixed = config.table("set", {}).changes(experiment)
    is_of_targets = "targets" in table or "spectrum" in table
    if is_of_targets and "record" in config:
        raise config.error("a fit is to [[record]] or to [fit.targets] and [[fit.spectrum]]: leave one of them out")
    scenarios, measured = [], []
    for number, record in enumerate([] if is_of_targets else config.tables("record"), start=1):
        own = record.table("set", {}).changes(experiment)
        duration = experiment.values({**fixed, **own})["run.duration"]
        assert isinstance(duration, float)
        columns = trace_units(experiment, {**fixed, **own})
        measured.append(measured_from(record, settings.every, duration, columns))
        scenarios.append(Scenario(record.word("name", f"record {number}"), own))
    known: list[_Known] = []
    replicas = settings.seeds if is_of_targets else 1
    space = design_space_from(config, replicas, scenarios, of_each=lambda one: known.append(one.make(_Known)))
    targets = None
    if is_of_targets:
        space = space if "randomization" in config else with_noise(space)
        targets = targets_from(table, space)
    name = config.word("name", config.stem or name)
    config.finish()
    start, priors = list[float](), dict[str, Prior]()
    for one, given in zip(space.variables, known, strict=True):
        start.append(one.from_unit(0.5) if given.start is None else given.start)
        if not one.low <= start[-1] <= one.high:
            raise config.error(f"parameter {one.name!r}: start = {start[-1]:g} is not from {one.low:g} to {one.high:g}")
        if given.prior:
            priors[one.name] = Prior(*given.prior)
    by = tuple(given.by for given in known)
    return Fit(name, space, tuple(measured), targets, tuple(start), priors, by, settings, config.data)


@dataclass(frozen=True)
class _Known:
    """Prior knowledge in a table ``[[parameter]]`` of a fit."""

    start: float | None = None
    prior: tuple[float, ...] = ()
    by: float = 0.0

    def __post_init__(self) -> None:
        zero_or_above(self.by, "by")
        if len(self.prior) not in (0, 2):
            raise InputError(f"prior = {list(self.prior)}: it must be a mean and a deviation, such as [0.7, 0.1]")
        if self.prior:
            Prior(*self.prior)
