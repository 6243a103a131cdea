"""Runs of a fit's candidates, each once, and how they differ from what was measured."""

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from contact.arrays import Floats
from experiments.studies.fitting.estimate import REACH
from experiments.studies.grid import neat
from experiments.studies.study_kind import Evaluate
from experiments.studies.tuning.design_variable import DesignVariable

if TYPE_CHECKING:
    from experiments.studies.fitting.fit import Fit


class Runs:
    """Runs at sets of parts, each once, numbered as they are asked for: the same order each time.

    Of a parameter that takes multiples only, such as a delay, runs are those at the multiples around a value, and what
    is modelled lies on the cubic between theirs.
    """

    def __init__(self, fit: "Fit", evaluate: Evaluate) -> None:
        self._fit, self._evaluate = fit, evaluate
        self._known: dict[tuple[float, ...], tuple[Floats, ...]] = {}
        self.failure = ""  # of the last run that failed, in its own words

    @property
    def series(self) -> list[slice]:
        found: list[slice] = []
        first = 0
        for record in self._fit.measured:
            found += record.series(first)
            first += record.size
        return found

    def residuals(self, parts: Floats) -> Floats:
        """(k, m) of all records."""
        corners = {corner: None for at in parts for corner, _ in self._corners(at)}
        self._run([corner for corner in corners if corner not in self._known])
        pairs = [zip(self._fit.measured, self.modelled(at), strict=True) for at in parts]
        return np.array([np.concatenate([one.residuals(values) for one, values in pair]) for pair in pairs])

    def modelled(self, at: Floats) -> tuple[Floats, ...]:
        """Of each record (columns, times) at parts (p,) that were run."""
        corners = [(weight, self._known[corner]) for corner, weight in self._corners(at)]
        return tuple(
            np.sum([weight * found[k] for weight, found in corners], axis=0) for k in range(len(self._fit.measured))
        )

    def slopes(self, at: Floats) -> Floats:
        """(m, p) derivatives of the residuals by parts, by differences of runs to both sides.

        A parameter that takes multiples only stands at its nearest one, and the differences are those of its neighbours.
        """
        pairs = list(zip(self._fit.space.variables, self._fit.by, strict=True))
        values = [one.from_unit(float(part)) for (one, _), part in zip(pairs, at, strict=True)]
        middle = np.array([one.to_unit(_nearest(one, v, by)) for (one, by), v in zip(pairs, values, strict=True)])
        ends = np.repeat(middle[None], 2 * len(at), axis=0)
        for k, (one, by) in enumerate(pairs):
            for row, side in ((2 * k, -1.0), (2 * k + 1, 1.0)):
                moved = one.to_unit(one.from_unit(middle[k]) + side * by) if by else middle[k] + side * REACH
                ends[row, k] = min(max(moved, 0.0), 1.0)
        found = self.residuals(ends)
        return (found[1::2] - found[::2]).T / np.array([ends[2 * k + 1, k] - ends[2 * k, k] for k in range(len(at))])

    def _corners(self, at: Floats) -> list[tuple[tuple[float, ...], float]]:
        """Values at which runs are, and the weights of these."""
        ends = [
            _multiples(one, one.from_unit(float(part)), by)
            for one, part, by in zip(self._fit.space.variables, at, self._fit.by, strict=True)
        ]
        return [(tuple(value for value, _ in corner), math.prod(w for _, w in corner)) for corner in product(*ends)]

    def _run(self, wanted: list[tuple[float, ...]]) -> None:
        space, count = self._fit.space, len(self._known) + 1
        names = [variable.name for variable in space.variables]
        read = [
            [
                self._fit.as_planned(trial)
                for trial in space.trials(space.candidate(count + k, dict(zip(names, values, strict=True))))
            ]
            for k, values in enumerate(wanted)
        ]
        results = self._evaluate([trial for mine in read for trial in mine])
        for values, mine in zip(wanted, read, strict=True):
            found = [(one.trace, results[trial.number]) for trial, one in zip(mine, self._fit.measured, strict=True)]
            self._known[values] = tuple(trace.values(result) for trace, result in found)
            self.failure = next((str(result["message"]) for _, result in found if result["message"]), self.failure)


def _multiples(variable: DesignVariable, value: float, by: float) -> list[tuple[float, float]]:
    """Multiples around a value, with their weights; the value alone where it need not be one (``by`` = 0).

    They are those of a cubic through the inner two, with the slopes of their neighbours (Catmull and Rom 1974): its
    slope is continuous. Outside of the range a straight line goes on.
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
    """The nearest multiple within the range; the value itself if it need not be one."""
    if by == 0.0:
        return value
    place = round(value / by)
    return next(
        (neat(k * by) for k in (place, place - 1, place + 1) if variable.low <= neat(k * by) <= variable.high), value
    )
