"""Optimizers behind one seam: they are asked for points, and told what those are worth.

An optimizer is a function of its seed and of what it was told, and of nothing else: asked and told again in the same
order, it says the same again. That is how an interrupted tuning goes on.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from biped.errors import InputError
from biped.extras import need
from experiments.studies.tuning.design_variable import LOG, Knob

if TYPE_CHECKING:
    import optuna

Point = Mapping[str, float]


@dataclass(frozen=True)
class Start:
    """Where an optimizer begins: a point, and what it costs."""

    point: Point
    costs: tuple[float, ...]


#: Of the unit cube: how far CMA-ES looks at first.
FIRST_SPREAD = 0.2


class Optimizer(Protocol):
    """What proposes points; each number that it is told is a cost, to be made small."""

    def ask(self, count: int) -> list[dict[str, float]]:
        """The next points, by the knobs' names."""
        ...

    def tell(self, points: Sequence[Point], costs: Sequence[tuple[float, ...]]) -> None:
        """What the points asked for last cost, in their order; one cost for each objective."""
        ...


class Spread:
    """Points that do not learn: from a sequence of points in the unit cube."""

    def __init__(self, knobs: Sequence[Knob], draw: Callable[[int], NDArray[np.float64]]) -> None:
        self._knobs, self._draw = tuple(knobs), draw

    def ask(self, count: int) -> list[dict[str, float]]:
        """The next ones of the sequence."""
        return [_point(self._knobs, row) for row in self._draw(count)]

    def tell(self, points: Sequence[Point], costs: Sequence[tuple[float, ...]]) -> None:
        """Nothing is learned."""


def _point(knobs: Sequence[Knob], shares: Sequence[float] | NDArray[np.float64]) -> dict[str, float]:
    return {knob.name: knob.from_unit(float(share)) for knob, share in zip(knobs, shares, strict=True)}


class Cma:
    """The CMA evolution strategy (Hansen and Ostermeier 2001), of the package ``cma``.

    A batch is a generation. Where the strategy has converged before its budget is spent, it starts anew at a random
    point. Its random numbers are its own: those of the package are numpy's global ones.
    """

    def __init__(self, knobs: Sequence[Knob], seed: int, start: Start | None, batch: int) -> None:
        self._knobs, self._batch = tuple(knobs), batch
        self._rng = np.random.default_rng(seed)
        middle = [0.5] * len(knobs)
        self._strategy = self._new(middle if start is None else [k.to_unit(start.point[k.name]) for k in knobs])
        self._asked: list[NDArray[np.float64]] = []

    def _new(self, begin: Sequence[float] | NDArray[np.float64]) -> Any:
        need("cma")
        import cma

        count = len(self._knobs)
        options = {
            "bounds": [[0.0] * count, [1.0] * count],
            "popsize": self._batch,
            "seed": math.nan,
            "randn": lambda *shape: self._rng.standard_normal(shape),
            "maxiter": math.inf,
            "maxfevals": math.inf,
            "verbose": -9,
        }
        return cma.CMAEvolutionStrategy(np.clip(begin, 0.01, 0.99), FIRST_SPREAD, options)

    def ask(self, count: int) -> list[dict[str, float]]:
        """The next generation; the last one may be shorter."""
        if self._strategy.stop():
            self._strategy = self._new(self._rng.random(len(self._knobs)))
        self._asked = self._strategy.ask()[:count]
        return [_point(self._knobs, row) for row in self._asked]

    def tell(self, points: Sequence[Point], costs: Sequence[tuple[float, ...]]) -> None:
        """One generation; a shorter one, which can only be the last, is not learned from."""
        if len(points) == self._batch:
            self._strategy.tell(self._asked, [cost for (cost,) in costs])


class OptunaOptimizer:
    """A sampler of Optuna on a study in memory."""

    def __init__(
        self, knobs: Sequence[Knob], sampler: "optuna.samplers.BaseSampler", objectives: int, start: Start | None
    ) -> None:
        self._ranges = distributions(knobs)
        self._study = new_study(sampler, objectives)
        self._asked: list[optuna.trial.Trial] = []
        if start is not None:
            add_known(self._study, self._ranges, start)

    def ask(self, count: int) -> list[dict[str, float]]:
        """The next points."""
        self._asked = [self._study.ask(self._ranges) for _ in range(count)]
        return [{name: float(trial.params[name]) for name in self._ranges} for trial in self._asked]

    def tell(self, points: Sequence[Point], costs: Sequence[tuple[float, ...]]) -> None:
        """What the trials asked for last cost."""
        for trial, cost in zip(self._asked, costs, strict=True):
            self._study.tell(trial, list(cost))


def add_known(
    study: "optuna.Study", ranges: "Mapping[str, optuna.distributions.BaseDistribution]", known: Start
) -> None:
    """Tell a study of a point that it has not asked for."""
    import optuna

    study.add_trial(
        optuna.trial.create_trial(params=dict(known.point), distributions=dict(ranges), values=list(known.costs))
    )


def new_study(sampler: "optuna.samplers.BaseSampler | None", objectives: int) -> "optuna.Study":
    """An Optuna study in memory that minimizes, and keeps to itself what it finds."""
    need("optuna")
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(sampler=sampler, directions=["minimize"] * objectives)


def distributions(knobs: Sequence[Knob]) -> "dict[str, optuna.distributions.BaseDistribution]":
    """The ranges of the knobs as Optuna has them."""
    from optuna.distributions import FloatDistribution

    return {knob.name: FloatDistribution(knob.low, knob.high, log=knob.scale == LOG) for knob in knobs}


def tpe(seed: int, batch: int) -> "optuna.samplers.BaseSampler":
    """Tree-structured Parzen estimator over all knobs at once; a batch is asked for before any of it is told."""
    need("optuna")
    from optuna.samplers import TPESampler

    return TPESampler(seed=seed, multivariate=True, constant_liar=True, n_startup_trials=max(10, batch))


def cmaes(seed: int, batch: int) -> "optuna.samplers.BaseSampler":
    """CMA-ES of the package ``cmaes``; a batch is a generation."""
    need("optuna", "cmaes")
    from optuna.samplers import CmaEsSampler

    return CmaEsSampler(seed=seed, popsize=batch, warn_independent_sampling=False)


def nsga2(seed: int, batch: int) -> "optuna.samplers.BaseSampler":
    """Non-dominated sorting genetic algorithm (Deb et al. 2002); a batch is a generation."""
    need("optuna")
    from optuna.samplers import NSGAIISampler

    return NSGAIISampler(seed=seed, population_size=max(2, batch))


@dataclass(frozen=True)
class Kind:
    """An optimizer by name.

    Attributes:
        meaning: a few words.
        fronts: whether it can look for a Pareto front of several objectives.
        sampler: for those of Optuna, from a seed and the size of a batch; these can share a storage.
        packages: that it needs besides Optuna.
    """

    meaning: str
    fronts: bool
    sampler: "Callable[[int, int], optuna.samplers.BaseSampler] | None" = None
    packages: tuple[str, ...] = ()


OPTIMIZERS = {
    "cma": Kind("CMA-ES, of the package cma", False, packages=("cma",)),
    "optuna-tpe": Kind("tree-structured Parzen estimator", True, tpe),
    "optuna-cmaes": Kind("CMA-ES, of Optuna", False, cmaes, ("cmaes",)),
    "optuna-nsga2": Kind("NSGA-II, for Pareto fronts", True, nsga2),
    "sobol": Kind("a scrambled Sobol sequence: a baseline that does not learn", True),
    "random": Kind("uniform random points: a baseline that does not learn", True),
}


#: Strategies with a covariance: a generation has some members, and a parameter is not alone.
EVOLUTION = ("cma", "optuna-cmaes")


def check_optimizer(name: str, knobs: int, objectives: int, batch: int) -> None:
    """Raise InputError if there is no such optimizer, or it cannot do this."""
    if name not in OPTIMIZERS:
        raise InputError(f"optimizer = {name!r}: it must be one of {', '.join(OPTIMIZERS)}")
    if objectives > 1 and not OPTIMIZERS[name].fronts:
        able = ", ".join(other for other, kind in OPTIMIZERS.items() if kind.fronts)
        raise InputError(f"optimizer = {name!r} takes one objective, and there are {objectives}; for fronts: {able}")
    if name in EVOLUTION and knobs < 2:
        able = ", ".join(other for other in OPTIMIZERS if other not in EVOLUTION)
        raise InputError(f"optimizer = {name!r} varies two parameters or more, and there is one; for one: {able}")
    if name in EVOLUTION and batch < 4:
        raise InputError(f"batch = {batch}: for {name} it is the size of a generation, 4 or more")


def make_optimizer(
    name: str, knobs: Sequence[Knob], seed: int, batch: int, objectives: int = 1, start: Start | None = None
) -> Optimizer:
    """The optimizer of this name.

    Args:
        name: one of ``OPTIMIZERS``.
        knobs: what is varied.
        seed: of all of its random numbers.
        batch: how many points are asked for at a time.
        objectives: how many costs a point has.
        start: a point to begin at, if there is one.

    Raises:
        InputError: there is none of this name, or it cannot do this.
    """
    check_optimizer(name, len(knobs), objectives, batch)
    sampler = OPTIMIZERS[name].sampler
    if sampler is not None:
        return OptunaOptimizer(knobs, sampler(seed, batch), objectives, start)
    if name == "cma":
        return Cma(knobs, seed, start, batch)
    return Spread(knobs, _sequence(name, len(knobs), seed))


def _sequence(name: str, count: int, seed: int) -> Callable[[int], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    if name == "random":
        return lambda number: rng.random((number, count))
    from scipy.stats import qmc

    points = qmc.Sobol(count, scramble=True, rng=rng)
    # One by one: scipy warns of a first draw that is no power of two, which says nothing about the sequence.
    return lambda number: np.vstack([points.random() for _ in range(number)])
