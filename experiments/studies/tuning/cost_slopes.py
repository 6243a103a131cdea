"""How a candidate's cost depends on the variables: the derivative of what ``objective`` computes."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

import numpy as np

from contact.arrays import Floats
from experiments.studies.counting import FALLS, WITHOUT_RESULT
from experiments.studies.slopes import NO_GRADIENT, column
from experiments.studies.tuning.objective import MEASURED, WORST, Reading, Sample, Scorer


def cost_slopes(
    scorer: Scorer, samples: Sequence[Sample], bounds: Mapping[str, float], variables: Sequence[str]
) -> dict[str, float]:
    """The derivatives of the only cost by the variables.

    What stands for a trial that fell, or that has no result, is a constant: such a trial adds nothing. Nor does one
    that has no derivatives.
    """
    (objective,) = scorer.objectives
    total = np.zeros(len(variables))
    for term in objective.terms:
        high_is_bad = objective.sign * term.weight > 0.0
        part = reading_slopes(term.reading, samples, variables, high_is_bad)
        total += objective.sign * term.weight / term.per * part
    for limit in scorer.limits:
        bound = bounds[limit.name]
        if limit.tuned_excess(limit.value(samples), bound) > 0.0:
            beyond = limit.penalty / (abs(bound) if bound else 1.0) * (-1.0 if limit.least else 1.0)
            total += beyond * reading_slopes(limit.reading, samples, variables, not limit.least)
    return dict(zip(variables, total.tolist(), strict=True))


def reading_slopes(reading: Reading, samples: Sequence[Sample], variables: Sequence[str], high_is_bad: bool) -> Floats:
    """(variables,) the derivatives of ``Reading.total``."""
    mine = [sample for sample in samples if any(fnmatchcase(sample.scenario, one) for one in reading.scenarios)]
    slopes = np.array([_slopes(reading, sample, variables) for sample in mine])
    if reading.over == WORST:
        values = [reading.value(sample) for sample in mine]
        worst: Floats = slopes[int(np.argmax(values) if high_is_bad else np.argmin(values))]
        return worst
    weights = np.array([sample.weight for sample in mine])
    mean: Floats = weights @ slopes / weights.sum()
    return mean


def _slopes(reading: Reading, sample: Sample, variables: Sequence[str]) -> list[float]:
    result, nothing = sample.result, [0.0] * len(variables)
    verdict = result["verdict"]
    if verdict in WITHOUT_RESULT or (verdict in FALLS and reading.fell != MEASURED):
        return nothing
    if result.get(reading.metric) is None or result.get(NO_GRADIENT):
        return nothing
    return [float(str(result[column(reading.metric, name)])) for name in variables]
