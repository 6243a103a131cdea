"""Fit of parameters, so that runs match measurements, with the uncertainty of the estimates."""

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
#: Usual number of trials of a search, and of an end of a profile, in multiples of what one evaluation takes.
_USUAL_SEARCH, _USUAL_END = 5, 4


@dataclass(frozen=True)
class Settings:
    """Settings from the table ``[fit]``."""

    method: str = LEAST_SQUARES  # one of ``METHODS``; the best candidate of CMA is then improved by least squares
    starts: int = field(default=1, metadata={"least": 1})  # number of starts of least squares; all but one are random
    candidates: int = field(default=200, metadata={"least": 1})  # number of candidates of CMA
    intervals: str = LINEAR  # method of the intervals, one of ``INTERVALS``
    resamples: int = field(default=200, metadata={"least": 20})  # number of resamples of the bootstrap
    #: number of noise seeds: for records, a fit with each; for targets, a run of each candidate with each
    seeds: int = field(default=3, metadata={"least": 1})
    every: float = 0.02  # [s] interval between compared values

    def __post_init__(self) -> None:
        zero_or_above(self.every, "fit.every")
        for name, known in (("method", METHODS), ("intervals", INTERVALS)):
            if getattr(self, name) not in known:
                raise InputError(f"fit.{name} = {getattr(self, name)!r}: it must be one of {', '.join(known)}")


@dataclass(frozen=True)
class FitResult:
    """Result of a fit.

    Attributes:
        estimate: estimate of the parameters.
        table: a row for each parameter: ``parameter``, ``unit``, ``value``, ``sd``, ``low``, ``high`` (95 %),
            ``at_bound``; if there is noise, also ``seeds_sd``, the standard deviation of the value over noise seeds.
        quality: a row for each column of a record, or for each target; see ``quality_of_columns`` and
            ``quality_of_targets``.
        warnings: sentences on reasons to doubt the values.
        remarks: sentences on parameters that are poorly identifiable, and on other minima.
        modelled: values from the runs with the estimates: (columns, times) for each record, or (targets, seeds).
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
    """Plan of a fit."""

    name: str
    space: DesignSpace  # a scenario for each record, or one for targets
    measured: tuple[Measured, ...]  # compared records; empty for targets
    targets: Targets | None  # statistics to reproduce; None for records
    start: tuple[float, ...]  # start of the first search, in the order of the parameters
    priors: Mapping[str, Prior]  # prior distributions by parameter
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
        """Randomization of the noise seeds of runs; None without noise."""
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
        count = searches * _USUAL_SEARCH * (2 * parameters + 1)
        count += self.settings.candidates if self.settings.method == CMA else 0
        count += 2 * parameters * _USUAL_END * (2 * parameters - 1) if self.settings.intervals == PROFILE else 0
        return count * self.space.size

    def as_planned(self, trial: Trial) -> Trial:
        reads = {scenario.name: part.reads for scenario, part in zip(self.space.scenarios, self.compared, strict=True)}
        return replace(trial, reads=reads[str(trial.labels["scenario"])])

    def planned_trials(self, study: "Study") -> None:
        """Return None: the number of trials depends on the results."""

    def find(self, evaluate: Evaluate, say: Say = lambda _: None) -> FitResult:
        count = 0

        def counted(trials: Sequence[Trial]) -> Mapping[int, Result]:
            nonlocal count
            count += len(trials)
            return evaluate(trials)

        model = Runs(self, counted)
        say("fitting")
        best = estimate(model.problem(), self._starts(model))
        values = model.modelled(best.parts)
        for of_record in values:
            if not np.isfinite(of_record[:, 0]).all():
                raise InputError(f"all runs of the search failed; reason in the last one: {model.failure}")
        say("intervals")
        table, by_seed = self._table(best), None
        if self.targets is None:
            scenarios = self.space.scenarios
            units = trace_units(self.experiment, {**self.space.fixed, **scenarios[0].changes})
            quality = quality_of_columns([scenario.name for scenario in scenarios], self.measured, values, units)
            by_seed = self._by_seed(model, best)
        else:
            quality = quality_of_targets(self.targets, values[0])
        verdicts = [verdict for mine in model.verdicts.values() for verdict in mine]
        doubts = doubts_of_quality(quality) + doubts_of_runs(verdicts, model.verdicts_at(best.parts))
        if by_seed is not None:
            table["seeds_sd"] = by_seed.std(ddof=1).to_numpy()
            doubts += doubts_of_seeds(table, by_seed)
        doubts += at_bounds(best)
        if not best.converged:
            doubts.append("the search has not converged: give other starts, narrower ranges, or more seeds")
        remarks = (*sentences(best), *self._ends(values), *self._other_minima(best))
        return FitResult(best, table, quality, tuple(doubts), remarks, values, count)

    def _by_seed(self, model: Runs, best: Estimate) -> "pd.DataFrame | None":
        """Return the estimates for each noise seed, a row for each, that of the fit first; None without noise."""
        import pandas as pd

        if self.settings.seeds == 1 or self.noise is None or not model.is_noisy(best.parts):
            return None
        first = best.problem.parts(self.start)
        reseeded = (model.reseeded(number).problem() for number in range(1, self.settings.seeds))
        rows = [best.parts, *(searched(problem, first) for problem in reseeded)]
        names = [variable.name for variable in self.space.variables]
        return pd.DataFrame(map(best.problem.values, rows), columns=names)

    def run(self, study: "Study", evaluate: Evaluate, say: Say) -> FitResult:
        return self.find(evaluate, say)

    def _starts(self, model: Runs) -> Floats:
        """Return starts (s, p) in fractions of the ranges: that of the file and Sobol points, or the best of CMA."""
        variables = self.space.variables
        first = np.array([[variable.to_unit(value) for variable, value in zip(variables, self.start, strict=True)]])
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
        batch = 4 + int(3 * np.log(len(variables)))  # default of the authors of CMA
        point = {v.name: v.from_unit(float(part)) for v, part in zip(variables, first, strict=True)}
        search = Cma(variables, seed_of(self.seed, "optimizer") % 2**32, Start(point, ()), batch)
        best, least = first, np.inf
        for _ in range(max(1, self.settings.candidates // batch)):
            points = search.ask(batch)
            parts = np.array([[variable.to_unit(at[variable.name]) for variable in variables] for at in points])
            costs = (model.residuals(parts) ** 2).sum(axis=1)
            search.tell(points, [(float(cost),) for cost in costs])
            if costs.min() < least:
                best, least = parts[int(np.argmin(costs))], float(costs.min())
        return best[None]

    def _table(self, best: Estimate) -> "pd.DataFrame":
        table = best.table
        if self.settings.intervals == PROFILE:
            ends = profiles(best)
            table["low"], table["high"] = ends["low"], ends["high"]
        elif self.settings.intervals == BOOTSTRAP:
            drawn = bootstrap(best, self.settings.resamples, seed_of(self.seed, "resampling"))
            table["low"], table["high"] = np.quantile(drawn, (0.025, 0.975), axis=0)
        table.insert(1, "unit", [self.units[variable.name] for variable in self.space.variables])
        return table

    def _ends(self, values: tuple[Floats, ...]) -> list[str]:
        """Return a warning for each run that ends before the record does."""
        warnings = []
        for scenario, record, of_record in zip(self.space.scenarios, self.measured, values, strict=False):
            if not np.isfinite(of_record).all():
                end = record.trace.times[int(np.isfinite(of_record[0]).sum()) - 1]
                warnings.append(
                    f"{scenario.name}: the model's run ends at {end:g} s; later measured values were compared with the "
                    "model's last values"
                )
        return warnings

    def _other_minima(self, best: Estimate) -> list[str]:
        """Return a warning if a search from another start ended elsewhere with about the same sum of squares."""
        places, sums = best.starts[:, :-1], best.starts[:, -1]
        away = (np.abs(places - best.parts) > np.maximum(0.01, best.spread.deviations)).any(axis=1)
        near = away & (sums < sums.min() * 1.01 + 1e-12)
        if not near.any():
            return []
        values = best.problem.values(places[int(np.flatnonzero(near)[0])])
        words = ", ".join(f"{k.name} = {v:.4g}" for k, v in zip(self.space.variables, values, strict=True))
        return [f"another start ended elsewhere, with a sum of squares within 1 % of the least: {words}"]


def fit_from(config: Config, name: str = "fit") -> Fit:
    """Return the fit described by ``config``, by default called ``name``; raises InputError for invalid values."""
    table = config.table("fit", {})
    settings = table.make(Settings)
    experiment = config.experiment()
    fixed = config.table("set", {}).changes(experiment)
    is_of_targets = "targets" in table or "spectrum" in table
    if is_of_targets and "record" in config:
        raise config.error("a fit uses either [[record]], or [fit.targets] and [[fit.spectrum]]: leave one of them out")
    scenarios, measured = [], []
    for number, record in enumerate([] if is_of_targets else config.tables("record"), start=1):
        changes = record.table("set", {}).changes(experiment)
        duration = experiment.values({**fixed, **changes})["run.duration"]
        assert isinstance(duration, float)
        columns = trace_units(experiment, {**fixed, **changes})
        measured.append(measured_from(record, settings.every, duration, columns))
        scenarios.append(Scenario(record.word("name", f"record {number}"), changes))
    known: list[_Known] = []
    replicas = settings.seeds if is_of_targets else 1
    space = design_space_from(config, replicas, scenarios, of_each=lambda item: known.append(item.make(_Known)))
    targets = None
    if is_of_targets:
        space = space if "randomization" in config else with_noise(space)
        targets = targets_from(table, space)
    name = config.word("name", config.stem or name)
    config.finish()
    start, priors = list[float](), dict[str, Prior]()
    for v, given in zip(space.variables, known, strict=True):
        start.append(v.from_unit(0.5) if given.start is None else given.start)
        if not v.low <= start[-1] <= v.high:
            raise config.error(f"parameter {v.name!r}: start = {start[-1]:g}: it must be from {v.low:g} to {v.high:g}")
        if given.prior:
            priors[v.name] = Prior(*given.prior)
    by = tuple(given.by for given in known)
    return Fit(name, space, tuple(measured), targets, tuple(start), priors, by, settings, config.data)


@dataclass(frozen=True)
class _Known:
    """Additional keys of a table ``[[parameter]]`` of a fit."""

    start: float | None = None  # start of the search; None for the middle of the range
    prior: tuple[float, ...] = ()  # mean and standard deviation; empty for no prior
    by: float = 0.0

    def __post_init__(self) -> None:
        zero_or_above(self.by, "by")
        if len(self.prior) not in (0, 2):
            raise InputError(f"prior = {list(self.prior)}: it must be mean and standard deviation, such as [0.7, 0.1]")
        if self.prior:
            Prior(*self.prior)
