"""Derivatives of a candidate's cost, as ``objective`` computes it, with respect to the variables.

All terms of the objective that are means are combined into one weighted sum, which takes one backward pass of a trial.
Each term that is the worst of all trials, and each limit, takes another pass.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

import numpy as np

from contact.arrays import Floats
from experiments.studies.counting import FALLS, WITHOUT_RESULT
from experiments.studies.slopes import NO_GRADIENT, SlopeTerm, column
from experiments.studies.tuning.objective import WORST, Limit, Objective, Reading, Sample, Scorer, Term

MEANS = "the objective"


def slope_terms(scorer: Scorer, weights: Mapping[str, float], replicas: int) -> tuple[SlopeTerm, ...]:
    """Return the terms of the sums that trials differentiate, for the only objective and the limits."""
    (objective,) = scorer.objectives
    terms = []
    for place, term in enumerate(objective.terms):
        reading = term.reading
        if reading.over == WORST:
            terms.append(SlopeTerm(_worst(place), reading.metric, 1.0, reading.scenarios))
        else:
            mine = [weight for name, weight in weights.items() if _counts(reading, name)]
            share = _factor(objective, term) / (replicas * sum(mine)) if mine else 0.0
            terms.append(SlopeTerm(MEANS, reading.metric, share, reading.scenarios))
    limits = [SlopeTerm(_of_limit(item), item.reading.metric, 1.0, item.reading.scenarios) for item in scorer.limits]
    return (*terms, *limits)


def _counts(reading: Reading, scenario: str) -> bool:
    return any(fnmatchcase(scenario, pattern) for pattern in reading.scenarios)


def _factor(objective: Objective, term: Term) -> float:
    return objective.sign * term.weight / term.per


def _worst(place: int) -> str:
    return f"term {place + 1}"


def _of_limit(limit: Limit) -> str:
    return f"limit {limit.name}"


def cost_slopes(
    scorer: Scorer, samples: Sequence[Sample], bounds: Mapping[str, float], variables: Sequence[str]
) -> dict[str, float]:
    """Return the derivative of the only cost with respect to each variable, by name.

    A trial that fell, or that has no result or no derivatives, contributes zero.
    """
    (objective,) = scorer.objectives
    total = sum((sample.weight * _slopes(MEANS, sample, variables) for sample in samples), np.zeros(len(variables)))
    for place, term in enumerate(objective.terms):
        if term.reading.over == WORST:
            factor = _factor(objective, term)
            total = total + factor * _of_reading(_worst(place), term.reading, samples, variables, factor > 0.0)
    for limit in scorer.limits:
        bound = bounds[limit.name]
        if limit.tuned_excess(limit.value(samples), bound) > 0.0:
            beyond = limit.penalty / (abs(bound) if bound else 1.0) * (-1.0 if limit.least else 1.0)
            total = total + beyond * _of_reading(_of_limit(limit), limit.reading, samples, variables, not limit.least)
    return dict(zip(variables, total.tolist(), strict=True))


def _of_reading(
    called: str, reading: Reading, samples: Sequence[Sample], variables: Sequence[str], high_is_bad: bool
) -> Floats:
    """Return the derivatives (variables,) of ``Reading.total`` for these samples."""
    mine = [sample for sample in samples if _counts(reading, sample.scenario)]
    if reading.over == WORST:
        values = [reading.value(sample) for sample in mine]
        worst = mine[int(np.argmax(values) if high_is_bad else np.argmin(values))]
        return _slopes(called, worst, variables)
    weights = np.array([sample.weight for sample in mine])
    mean: Floats = weights @ np.array([_slopes(called, sample, variables) for sample in mine]) / weights.sum()
    return mean


def _slopes(called: str, sample: Sample, variables: Sequence[str]) -> Floats:
    result = sample.result
    names = [column(called, name) for name in variables]
    if result["verdict"] in (*WITHOUT_RESULT, *FALLS) or result.get(NO_GRADIENT) or names[0] not in result:
        return np.zeros(len(variables))
    return np.array([float(str(result[name])) for name in names])
