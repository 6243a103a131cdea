"""Runs of a fit's candidates, and their residuals from the measurements."""

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from contact.arrays import Floats
from experiments.studies.fitting.estimate import REACH, Problem, Residuals
from experiments.studies.grid import neat
from experiments.studies.randomization import replica_changes
from experiments.studies.seeds import seed_of
from experiments.studies.study_kind import Evaluate
from experiments.studies.trial import Trial
from experiments.studies.tuning.design_variable import DesignVariable

if TYPE_CHECKING:
    from experiments.studies.fitting.fit import Fit

#: Candidates with the n-th other noise seed are numbered from n times this.
OF_OTHER_SEEDS = 100_000


class Runs:
    """Runs at sets of fractions, each computed once, numbered in the order of requests.

    A parameter that is restricted to multiples of a step, such as a delay, is run at the multiples around a value, and
    model values in between are interpolated by a cubic.
    """

    def __init__(self, fit: "Fit", evaluate: Evaluate, reseeding: int = 0) -> None:
        self._fit, self._evaluate, self._reseeding = fit, evaluate, reseeding
        self._known: dict[tuple[float, ...], tuple[Floats, ...]] = {}
        self.verdicts: dict[tuple[float, ...], list[str]] = {}  # verdicts of the runs by parameter values
        self.failure = ""  # message of the last run that failed
        self._others: dict[int, Runs] = {}

    def reseeded(self, number: int) -> "Runs":
        """Return runs with other noise; ``number``, from 1, selects the set of noise seeds."""
        if number not in self._others:
            self._others[number] = Runs(self._fit, self._evaluate, number)
        return self._others[number]

    def problem(self) -> Problem:
        """Return the least-squares problem of the fit."""
        fit = self._fit
        deviation = None if fit.targets is None else 1.0
        return Problem(
            fit.space.variables, self.residuals, self.series, dict(fit.priors), self.slopes, self.near, deviation
        )

    def verdicts_at(self, at: Floats) -> list[str]:
        """Return the verdicts of the runs from which model values at fractions (p,) are interpolated."""
        return [verdict for corner, _ in self._corners(at) for verdict in self.verdicts[corner]]

    def is_noisy(self, at: Floats) -> bool:
        """Return True if another noise seed changes a run at fractions (p,); this takes one run of each record."""
        corner, _ = self._corners(at)[0]
        other = self.reseeded(1)
        other._run([corner])
        pairs = zip(self._known[corner], other._known[corner], strict=True)
        return any(not np.array_equal(a, b, equal_nan=True) for a, b in pairs)

    @property
    def series(self) -> list[slice]:
        series: list[slice] = []
        first = 0
        for record in self._fit.compared:
            series += record.series(first)
            first += record.size
        return series

    def residuals(self, parts: Floats) -> Floats:
        """Return residuals (k, m) of all records at k sets of fractions (k, p)."""
        self._run(corner for at in parts for corner, _ in self._corners(at))
        pairs = [zip(self._fit.compared, self.modelled(at), strict=True) for at in parts]
        return np.array([np.concatenate([record.residuals(values) for record, values in pair]) for pair in pairs])

    def modelled(self, at: Floats) -> tuple[Floats, ...]:
        """Return model values (columns, times) of each record, or (targets, seeds), at fractions (p,) that were run."""
        corners = [(weight, self._known[corner]) for corner, weight in self._corners(at)]
        count = len(self._fit.compared)
        return tuple(np.sum([weight * values[k] for weight, values in corners], axis=0) for k in range(count))

    def near(self, slopes: Floats) -> Residuals:
        """Return a function for residuals, extrapolated along ``slopes`` (m, p) from a run at the nearest multiples."""

        def extrapolated(at: Floats) -> Floats:
            nearest = self._at_multiples(at)
            return np.asarray(self.residuals(nearest[None])[0] + slopes @ (at - nearest))

        return lambda parts: np.array([extrapolated(at) for at in parts])

    def _at_multiples(self, at: Floats) -> Floats:
        """Return the fractions (p,) of the nearest multiples."""
        pairs = zip(self._fit.space.variables, at, self._fit.by, strict=True)
        return np.array([
            v.to_unit(_nearest(v, v.from_unit(float(part)), by)) if by else part for v, part, by in pairs
        ])  # fmt: skip

    def slopes(self, at: Floats) -> Floats:
        """Return derivatives (m, p) of the residuals with respect to fractions, from runs on both sides.

        A parameter that is restricted to multiples is set to the nearest one, and its neighbours give the differences.
        """
        middle = self._at_multiples(at)
        ends = np.repeat(middle[None], 2 * len(at), axis=0)
        for k, (v, by) in enumerate(zip(self._fit.space.variables, self._fit.by, strict=True)):
            for row, side in ((2 * k, -1.0), (2 * k + 1, 1.0)):
                moved = v.to_unit(v.from_unit(middle[k]) + side * by) if by else middle[k] + side * REACH
                ends[row, k] = min(max(moved, 0.0), 1.0)
        values = self.residuals(ends)
        return (values[1::2] - values[::2]).T / np.array([ends[2 * k + 1, k] - ends[2 * k, k] for k in range(len(at))])

    def _corners(self, at: Floats) -> list[tuple[tuple[float, ...], float]]:
        """Return the sets of values of the runs for fractions (p,), with their weights in the interpolation."""
        ends = [
            _multiples(v, v.from_unit(float(part)), by)
            for v, part, by in zip(self._fit.space.variables, at, self._fit.by, strict=True)
        ]
        return [(tuple(value for value, _ in corner), math.prod(w for _, w in corner)) for corner in product(*ends)]

    def _run(self, points: Iterable[tuple[float, ...]]) -> None:
        """Run all sets of values that have not been run, in parallel."""
        missing = [values for values in dict.fromkeys(points) if values not in self._known]
        fit, space = self._fit, self._fit.space
        names = [variable.name for variable in space.variables]
        first = 1 + len(self._known) + OF_OTHER_SEEDS * self._reseeding
        candidates = [
            space.candidate(first + k, dict(zip(names, values, strict=True))) for k, values in enumerate(missing)
        ]
        trials = [[self._planned(trial) for trial in space.trials(candidate)] for candidate in candidates]
        for values, mine in zip(missing, space.evaluated(trials, self._evaluate), strict=True):
            parts = [mine[k : k + space.replicas] for k in range(0, len(mine), space.replicas)]
            self._known[values] = tuple(data.modelled(part) for data, part in zip(fit.compared, parts, strict=True))
            self.verdicts[values] = [str(sample.result["verdict"]) for sample in mine]
            self.failure = next((str(s.result["message"]) for s in mine if s.result["message"]), self.failure)

    def _planned(self, trial: Trial) -> Trial:
        fit, number = self._fit, self._reseeding
        if number:
            assert fit.noise is not None
            seed = seed_of(fit.seed, "noise")
            drawn = replica_changes((fit.noise,), fit.experiment, trial.changes, seed, number)
            trial = replace(trial, changes={**trial.changes, **drawn})
        return fit.as_planned(trial)


def _multiples(variable: DesignVariable, value: float, by: float) -> list[tuple[float, float]]:
    """Return the multiples of ``by`` around a value, with their weights; the value alone if ``by`` is 0.

    The weights are those of a Catmull–Rom cubic (1974), whose slope is continuous. Multiples outside the variable's
    range are replaced by linear extrapolation.
    """
    if by == 0.0:
        return [(value, 1.0)]
    place = value / by
    below = math.floor(place + 1e-9)
    t = max(place - below, 0.0)
    if t <= 1e-9:
        return [(neat(below * by), 1.0)]
    weights = [t * (-0.5 + t - 0.5 * t * t), 1.0 + t * t * (1.5 * t - 2.5), t * (0.5 + 2.0 * t - 1.5 * t * t), 0.0]
    weights[3] = 1.0 - sum(weights)
    for outer, inner, across in ((0, 1, 2), (3, 2, 1)):
        if not variable.low - 1e-9 * by <= (below - 1 + outer) * by <= variable.high + 1e-9 * by:
            weights[inner] += 2.0 * weights[outer]
            weights[across] -= weights[outer]
            weights[outer] = 0.0
    return [(neat((below - 1 + k) * by), weight) for k, weight in enumerate(weights) if weight != 0.0]


def _nearest(variable: DesignVariable, value: float, by: float) -> float:
    """Return the nearest multiple of ``by`` within the variable's range; the value itself if there is none."""
    place = round(value / by)
    return next(
        (neat(k * by) for k in (place, place - 1, place + 1) if variable.low <= neat(k * by) <= variable.high), value
    )
