"""From the points' numbers to indices, with intervals; nothing is made up where a number is missing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from biped.extras import need
from contact.arrays import Floats
from experiments.studies.seeds import seed_of
from experiments.studies.sensitivity.config import MORRIS, Measure, Sensitivity
from experiments.studies.sensitivity.design import block_of, problem_of
from experiments.studies.trial import FAILED, FELL
from experiments.studies.tuning.objective import MEASURED, SHARES, Sample

CONFIDENCE = 0.95
RESAMPLES = 1000
#: Trajectories that have to be left when others were dropped.
LEAST = 4


@dataclass(frozen=True)
class Indices:
    """The indices of one metric.

    Attributes:
        metric: its name.
        table: a row for each parameter. Morris: ``mu``, ``mu_star``, ``mu_star_conf``, ``sigma``, in the metric's unit
            for the whole range of the parameter. Sobol: ``S1``, ``S1_conf``, ``ST``, ``ST_conf``. A ``_conf`` is half
            the width of an interval at 95 %. None where there are none.
        pairs: of Sobol's second order, a row for each pair: ``S2``, ``S2_conf``.
        counted: how trials that fell, failed or lack the metric counted, in words.
        remarks: what is to be known before the indices are believed.
    """

    metric: str
    table: pd.DataFrame | None
    pairs: pd.DataFrame | None = None
    counted: str = ""
    remarks: tuple[str, ...] = field(default=())


def analyze(sensitivity: Sensitivity, shares: Floats, samples: Sequence[Sequence[Sample]]) -> list[Indices]:
    """The indices of all metrics.

    Args:
        sensitivity: what was asked.
        shares: (points, knobs), as ``shares_of`` gives them.
        samples: the trials of each point.

    Raises:
        InputError: a metric is missing where it is not said what that counts as.
    """
    return [_indices(sensitivity, measure, shares, samples) for measure in sensitivity.measures]


def _indices(
    sensitivity: Sensitivity, measure: Measure, shares: Floats, samples: Sequence[Sequence[Sample]]
) -> Indices:
    values, counted = _values(measure, samples)
    kept = np.array([np.isfinite(block).all() for block in values.reshape(-1, block_of(sensitivity))])
    if not kept.all():
        blocks = f"{(~kept).sum()} of {len(kept)} trajectories are left out"
        counted = f"{counted}; {blocks}"
        if kept.sum() < LEAST:
            return Indices(measure.name, None, None, counted, ("too few trajectories are left for any index",))
        rows = np.repeat(kept, block_of(sensitivity))
        shares, values = shares[rows], values[rows]
    if np.ptp(values) <= 1e-12 * max(1.0, float(np.abs(values).max())):
        return Indices(measure.name, None, None, counted, (f"it is {values[0]:.6g} at all points: no indices",))
    if sensitivity.method == MORRIS:
        return _morris(sensitivity, measure.name, shares, values, counted)
    return _sobol(sensitivity, measure.name, values, counted)


def _values(measure: Measure, samples: Sequence[Sequence[Sample]]) -> tuple[Floats, str]:
    """(points,) the metric's mean over a point's trials, NaN for a point to be left out; and what counted how."""
    trials = [sample for mine in samples for sample in mine]
    counts = {
        "fell": sum(sample.result["verdict"] == FELL for sample in trials),
        "failed": sum(sample.result["verdict"] == FAILED for sample in trials),
        "lack it": sum(_lacks(measure, sample) for sample in trials),
    }
    if measure.drops:
        values = [math.nan if any(_is_bad(measure, s) for s in mine) else _mean(measure, mine) for mine in samples]
    else:
        values = [_mean(measure, mine) for mine in samples]
    told = [f"{count} {what}{_as(measure, what)}" for what, count in counts.items() if count]
    return np.array(values), f"of {len(trials)} trials {', '.join(told) if told else 'none fell or failed'}"


def _mean(measure: Measure, samples: Sequence[Sample]) -> float:
    return math.fsum(measure.reading.value(sample) for sample in samples) / len(samples)


def _lacks(measure: Measure, sample: Sample) -> bool:
    reading = measure.reading
    if reading.metric in SHARES or sample.result["verdict"] == FAILED:
        return False
    if sample.result["verdict"] == FELL and reading.fell != MEASURED and not measure.drops:
        return False
    value = sample.result.get(reading.metric)
    return not (isinstance(value, (int, float)) and math.isfinite(value))


def _is_bad(measure: Measure, sample: Sample) -> bool:
    return sample.result["verdict"] in (FELL, FAILED) or _lacks(measure, sample)


def _as(measure: Measure, what: str) -> str:
    """What such trials count as."""
    reading = measure.reading
    if measure.drops:
        return ""
    if reading.metric in SHARES:
        return " (0)"
    value = reading.fell
    if what != "fell" and (reading.failed is not None or value == MEASURED):
        value = reading.failed
    if what == "lack it" and reading.missing is not None:
        value = reading.missing
    return f" (as {value})" if value == MEASURED else f" (as {value:g})"


def _seed(sensitivity: Sensitivity) -> int:
    return seed_of(sensitivity.plan.seed, "resampling") % 2**31 + 1  # SALib takes zero for none


def _morris(sensitivity: Sensitivity, metric: str, shares: Floats, values: Floats, counted: str) -> Indices:
    need("SALib")
    from SALib.analyze import morris

    found = morris.analyze(
        problem_of(sensitivity),
        shares,
        values,
        num_levels=sensitivity.levels,
        num_resamples=RESAMPLES,
        conf_level=CONFIDENCE,
        seed=_seed(sensitivity),
    )
    columns = ("mu", "mu_star", "mu_star_conf", "sigma")
    return Indices(metric, _frame(sensitivity, {name: found[name] for name in columns}), None, counted)


def _sobol(sensitivity: Sensitivity, metric: str, values: Floats, counted: str) -> Indices:
    need("SALib")
    from SALib.analyze import sobol

    found = sobol.analyze(
        problem_of(sensitivity),
        values,
        calc_second_order=sensitivity.second_order,
        num_resamples=RESAMPLES,
        conf_level=CONFIDENCE,
        seed=_seed(sensitivity),
    )
    table = _frame(sensitivity, {name: found[name] for name in ("S1", "S1_conf", "ST", "ST_conf")})
    pairs = _pairs(sensitivity, found) if sensitivity.second_order else None
    return Indices(metric, table, pairs, counted, tuple(_remarks(table)))


def _frame(sensitivity: Sensitivity, columns: dict[str, Any]) -> pd.DataFrame:
    names = [knob.name for knob in sensitivity.plan.knobs]
    numbers = {name: np.asarray(column, dtype=float) for name, column in columns.items()}
    return pd.DataFrame({"parameter": names, **numbers})


def _pairs(sensitivity: Sensitivity, found: Any) -> pd.DataFrame:
    names = [knob.name for knob in sensitivity.plan.knobs]
    rows = [
        (names[i], names[j], float(found["S2"][i, j]), float(found["S2_conf"][i, j]))
        for i in range(len(names))
        for j in range(i + 1, len(names))
    ]
    return pd.DataFrame(rows, columns=["parameter", "with", "S2", "S2_conf"])


def _remarks(table: pd.DataFrame) -> list[str]:
    """What the indices of any function obey, and these do not: they are too inexact then."""
    first, total = table["S1"], table["ST"]
    # The intervals of a sum are not independent; their sum is its widest possible one.
    found = [f"the indices of first order add up to {first.sum():.3g}, those of a sum without interactions to 1"]
    if first.sum() - table["S1_conf"].sum() > 1.0:
        found.append("they add up to more than 1: take more samples")
    if ((first + table["S1_conf"]) < 0.0).any() or ((first - table["S1_conf"]) > total + table["ST_conf"]).any():
        found.append("one is below zero, or above its total one: take more samples")
    if table["ST_conf"].max() > 0.1:
        found.append(f"the widest interval is ± {table['ST_conf'].max():.2g}: take more samples to tell less apart")
    return found
