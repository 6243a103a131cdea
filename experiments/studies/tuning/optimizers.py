"""Optimizers with a common interface: ``ask`` returns points, and ``tell`` takes the costs of these points.

The points depend on the seed and the costs only. They are repeated if the same costs are given again in the same order,
so that an interrupted tuning can be continued.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from biped.errors import InputError
from biped.inputs.extras import need
from experiments.studies.grid import LOG
from experiments.studies.tuning.descents import Lbfgs, Point, Start
from experiments.studies.tuning.design_variable import DesignVariable

if TYPE_CHECKING:
    import optuna

#: Initial step size of CMA-ES in the unit cube.
FIRST_SPREAD = 0.2


class Optimizer(Protocol):
    """An optimizer that proposes points and minimizes their costs."""

    def ask(self, count: int) -> list[dict[str, float]]: ...

    def tell(self, points: Sequence[Point], costs: Sequence[tuple[float, ...]], slopes: Sequence[Point] = ()) -> None:
        """Take the costs of the points of the last ``ask``, in their order; each has one cost for each objective.

        ``slopes`` are the derivatives of the only cost by variable, for an optimizer that needs them.
        """
        ...


class Spread:
    """Optimizer that ignores the costs: uniform random points, or a scrambled Sobol sequence."""

    def __init__(self, variables: Sequence[DesignVariable], name: str, seed: int) -> None:
        from scipy.stats import qmc

        self._variables = tuple(variables)
        rng = np.random.default_rng(seed)
        points = qmc.Sobol(len(variables), scramble=True, rng=rng) if name == "sobol" else None
        # Points are drawn one by one: scipy would warn of a first draw whose size is not a power of two.
        self._draw = (lambda: rng.random(len(variables))) if points is None else (lambda: points.random()[0])

    def ask(self, count: int) -> list[dict[str, float]]:
        return [_point(self._variables, self._draw()) for _ in range(count)]

    def tell(self, points: Sequence[Point], costs: Sequence[tuple[float, ...]], slopes: Sequence[Point] = ()) -> None:
        pass


def _point(variables: Sequence[DesignVariable], parts: Sequence[float] | NDArray[np.float64]) -> dict[str, float]:
    return {variable.name: variable.from_unit(float(part)) for variable, part in zip(variables, parts, strict=True)}


class Cma:
    """CMA evolution strategy (Hansen and Ostermeier 2001) of the package ``cma``.

    A batch is a generation. If the strategy converges before the end of its budget, it restarts at a random point. It
    uses a separate random generator instead of numpy's global one, the default of the package.
    """

    def __init__(self, variables: Sequence[DesignVariable], seed: int, start: Start | None, batch: int) -> None:
        self._variables, self._batch = tuple(variables), batch
        self._rng = np.random.default_rng(seed)
        middle = [0.5] * len(variables)
        self._strategy = self._new(middle if start is None else [k.to_unit(start.point[k.name]) for k in variables])
        self._asked: list[NDArray[np.float64]] = []

    def _new(self, begin: Sequence[float] | NDArray[np.float64]) -> Any:
        need("cma")
        import cma

        count = len(self._variables)
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
        if self._strategy.stop():
            self._strategy = self._new(self._rng.random(len(self._variables)))
        self._asked = self._strategy.ask()[:count]
        return [_point(self._variables, row) for row in self._asked]

    def tell(self, points: Sequence[Point], costs: Sequence[tuple[float, ...]], slopes: Sequence[Point] = ()) -> None:
        """Take the costs of a generation; an incomplete generation, which can only be the last, is ignored."""
        if len(points) == self._batch:
            self._strategy.tell(self._asked, [cost for (cost,) in costs])


class OptunaOptimizer:
    """Optimizer that uses a sampler of Optuna, with an Optuna study in memory."""

    def __init__(
        self,
        variables: Sequence[DesignVariable],
        sampler: "optuna.samplers.BaseSampler",
        objectives: int,
        start: Start | None,
    ) -> None:
        self._ranges = distributions(variables)
        self._study = new_study(sampler, objectives)
        self._asked: list[optuna.trial.Trial] = []
        if start is not None:
            add_known(self._study, self._ranges, start)

    def ask(self, count: int) -> list[dict[str, float]]:
        self._asked = [self._study.ask(self._ranges) for _ in range(count)]
        return [{name: float(trial.params[name]) for name in self._ranges} for trial in self._asked]

    def tell(self, points: Sequence[Point], costs: Sequence[tuple[float, ...]], slopes: Sequence[Point] = ()) -> None:
        for trial, cost in zip(self._asked, costs, strict=True):
            self._study.tell(trial, list(cost))


def add_known(
    study: "optuna.Study", ranges: "Mapping[str, optuna.distributions.BaseDistribution]", known: Start
) -> None:
    import optuna

    create = optuna.trial.create_trial
    study.add_trial(create(params=dict(known.point), distributions=dict(ranges), values=list(known.costs)))


def new_study(sampler: "optuna.samplers.BaseSampler | None", objectives: int) -> "optuna.Study":
    """Return an Optuna study in memory that minimizes all objectives and prints nothing."""
    need("optuna")
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(sampler=sampler, directions=["minimize"] * objectives)


def distributions(variables: Sequence[DesignVariable]) -> "dict[str, optuna.distributions.BaseDistribution]":
    from optuna.distributions import FloatDistribution

    return {v.name: FloatDistribution(v.low, v.high, log=v.scale == LOG) for v in variables}


OPTIMIZERS = ("cma", "lbfgs", "optuna-tpe", "optuna-cmaes", "optuna-nsga2", "sobol", "random")
#: Optimizers that need derivatives.
GRADIENTS = ("lbfgs",)
#: Optimizers that compute a Pareto front of several objectives.
FRONTS = ("optuna-tpe", "optuna-nsga2", "sobol", "random")
#: Optimizers that are Optuna's samplers.
SAMPLERS = ("optuna-tpe", "optuna-cmaes", "optuna-nsga2")
#: Optimizers that adapt a covariance: they need at least four points in a generation, and two variables.
EVOLUTION = ("cma", "optuna-cmaes")


def sampler_named(name: str, seed: int, batch: int) -> "optuna.samplers.BaseSampler":
    """Return the sampler with a name in ``SAMPLERS``; the points of a batch are proposed before any is evaluated."""
    from optuna.samplers import CmaEsSampler, NSGAIISampler, TPESampler

    if name == "optuna-tpe":
        return TPESampler(seed=seed, multivariate=True, constant_liar=True, n_startup_trials=max(10, batch))
    if name == "optuna-cmaes":
        return CmaEsSampler(seed=seed, popsize=batch, warn_independent_sampling=False)
    return NSGAIISampler(seed=seed, population_size=max(2, batch))


def check_optimizer(name: str, variables: int, objectives: int, batch: int) -> None:
    if name not in OPTIMIZERS:
        raise InputError(f"optimizer = {name!r}: it must be one of {', '.join(OPTIMIZERS)}")
    if objectives > 1 and name not in FRONTS:
        raise InputError(f"optimizer = {name!r} allows one objective, not {objectives}; use one of {', '.join(FRONTS)}")
    if name in EVOLUTION and variables < 2:
        rest = ", ".join(other for other in OPTIMIZERS if other not in EVOLUTION)
        raise InputError(f"optimizer = {name!r} needs two or more parameters, but one is varied; use one of {rest}")
    if name in EVOLUTION and batch < 4:
        raise InputError(f"batch = {batch}: for {name} it is the size of a generation, and must be 4 or above")


def make_optimizer(
    name: str,
    variables: Sequence[DesignVariable],
    seed: int,
    batch: int,
    objectives: int = 1,
    start: Start | None = None,
) -> Optimizer:
    check_optimizer(name, len(variables), objectives, batch)
    # Optuna computes the importance of variables for every optimizer.
    need("optuna", *{"cma": ("cma",), "optuna-cmaes": ("cmaes",)}.get(name, ()))
    if name in GRADIENTS:
        return Lbfgs(variables, seed, start, batch)
    if name in SAMPLERS:
        return OptunaOptimizer(variables, sampler_named(name, seed, batch), objectives, start)
    return Cma(variables, seed, start, batch) if name == "cma" else Spread(variables, name, seed)
