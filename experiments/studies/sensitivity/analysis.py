"""Sensitivity indices with intervals, from the metrics at the points of a design."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from biped.inputs.extras import need
from contact.arrays import Floats
from experiments.studies.counting import FALLS, WITHOUT_RESULT
from experiments.studies.proportion import CONFIDENCE
from experiments.studies.tuning.objective import MEASURED, PROPORTIONS, Reading, Sample

MORRIS, SOBOL = "morris", "sobol"
_RESAMPLED: dict[str, Any] = {"num_resamples": 1000, "conf_level": CONFIDENCE}
#: Least number of trajectories from which indices are computed, if others are dropped.
LEAST = 4


@dataclass(frozen=True)
class Design:
    """Design of a sensitivity analysis: the points to run."""

    names: tuple[str, ...]  # names of the variables
    method: str  # ``"morris"``, along random trajectories; or ``"sobol"``, Saltelli's matrices
    samples: int  # number of trajectories, or of Sobol's base samples, a power of two
    levels: int = 4  # number of levels of Morris's grid
    second_order: bool = False  # True to compute Sobol's indices of pairs

    @property
    def problem(self) -> dict[str, Any]:
        """Problem in SALib's form, in fractions of each variable's range."""
        return {"num_vars": len(self.names), "names": list(self.names), "bounds": [[0.0, 1.0]] * len(self.names)}

    @property
    def block(self) -> int:
        """Number of points of a trajectory (Morris), or of a row of all matrices (Sobol)."""
        count = len(self.names)
        if self.method == MORRIS:
            return count + 1
        return 2 * count + 2 if self.second_order else count + 2


@dataclass(frozen=True)
class Measure:
    """A metric to analyze, and the treatment of trials that fell, failed or lack the metric."""

    reading: Reading  # metric, and the values that count for such trials
    drops: bool = False  # True to leave out trajectories with such a trial (Morris only)

    @property
    def name(self) -> str:
        return self.reading.metric


@dataclass(frozen=True)
class Indices:
    """Indices of one metric."""

    metric: str
    #: a row for each parameter. Morris: ``mu``, ``mu_star``, ``mu_star_conf``, ``sigma``, changes of the metric over
    #: the parameter's range. Sobol: ``S1``, ``S1_conf``, ``ST``, ``ST_conf``. ``_conf``: half-width of the 95 %
    #: interval. None if no index can be computed.
    table: pd.DataFrame | None
    pairs: pd.DataFrame | None = None  # Sobol's second order, a row for each pair: ``S2``, ``S2_conf``; else None
    counted: str = ""  # sentence on the counting of trials that fell, failed or lack the metric
    remarks: tuple[str, ...] = field(default=())  # reasons to doubt the indices


def analyze(
    design: Design, measure: Measure, points: Floats, samples: Sequence[Sequence[Sample]], seed: int
) -> Indices:
    """Return the sensitivity indices of a metric.

    ``points`` (points, variables) are fractions of the variables' ranges. ``samples`` has the trials of each point.
    """
    values, counted = _values(measure, samples)
    used = np.array([np.isfinite(block).all() for block in values.reshape(-1, design.block)])
    if not used.all():
        counted = f"{counted}; {(~used).sum()} of {len(used)} trajectories are left out"
        if used.sum() < LEAST:
            return Indices(measure.name, None, None, counted, (f"fewer than {LEAST} trajectories remain: no indices",))
        rows = np.repeat(used, design.block)
        points, values = points[rows], values[rows]
    if np.ptp(values) <= 1e-12 * max(1.0, float(np.abs(values).max())):
        return Indices(measure.name, None, None, counted, (f"it is {values[0]:.6g} at all points: it has no indices",))
    if design.method == MORRIS:
        return _morris(design, measure.name, points, values, counted, seed)
    return _sobol(design, measure.name, values, counted, seed)


def _values(measure: Measure, samples: Sequence[Sequence[Sample]]) -> tuple[Floats, str]:
    """Return the metric's mean over each point's trials, (points,), NaN if dropped, and a remark on the counting."""
    trials = [sample for mine in samples for sample in mine]
    counts = {
        "fell": sum(sample.result["verdict"] in FALLS for sample in trials),
        "failed": sum(sample.result["verdict"] in WITHOUT_RESULT for sample in trials),
        "lack it": sum(_lacks(measure, sample) for sample in trials),
    }
    values = [
        math.nan if measure.drops and any(_is_bad(measure, s) for s in mine) else _mean(measure, mine)
        for mine in samples
    ]
    counts_text = [f"{count} {what}{_as(measure, what)}" for what, count in counts.items() if count]
    return np.array(values), f"of {len(trials)} trials {', '.join(counts_text) or 'none fell or failed'}"


def _mean(measure: Measure, samples: Sequence[Sample]) -> float:
    return math.fsum(measure.reading.value(sample) for sample in samples) / len(samples)


def _lacks(measure: Measure, sample: Sample) -> bool:
    reading = measure.reading
    if reading.metric in PROPORTIONS or sample.result["verdict"] in WITHOUT_RESULT:
        return False
    if sample.result["verdict"] in FALLS and reading.fell != MEASURED and not measure.drops:
        return False
    value = sample.result.get(reading.metric)
    return not (isinstance(value, (int, float)) and math.isfinite(value))


def _is_bad(measure: Measure, sample: Sample) -> bool:
    return sample.result["verdict"] in (*FALLS, *WITHOUT_RESULT) or _lacks(measure, sample)


def _as(measure: Measure, what: str) -> str:
    reading = measure.reading
    if measure.drops:
        return ""
    if reading.metric in PROPORTIONS:
        return " (0)"
    value = reading.fell
    if what != "fell" and (reading.failed is not None or value == MEASURED):
        value = reading.failed
    if what == "lack it" and reading.missing is not None:
        value = reading.missing
    return f" (as {value})" if value == MEASURED else f" (as {value:g})"


def _morris(design: Design, metric: str, points: Floats, values: Floats, counted: str, seed: int) -> Indices:
    need("SALib")
    from SALib.analyze import morris

    effects = morris.analyze(design.problem, points, values, num_levels=design.levels, seed=seed, **_RESAMPLED)
    return Indices(metric, _frame(design, effects, ("mu", "mu_star", "mu_star_conf", "sigma")), None, counted)


def _sobol(design: Design, metric: str, values: Floats, counted: str, seed: int) -> Indices:
    need("SALib")
    from SALib.analyze import sobol

    indices = sobol.analyze(design.problem, values, calc_second_order=design.second_order, seed=seed, **_RESAMPLED)
    table = _frame(design, indices, ("S1", "S1_conf", "ST", "ST_conf"))
    pairs = _pairs(design.names, indices) if design.second_order else None
    return Indices(metric, table, pairs, counted, tuple(_remarks(table)))


def _frame(design: Design, indices: Any, columns: Sequence[str]) -> pd.DataFrame:
    numbers = {name: np.asarray(indices[name], dtype=float) for name in columns}
    return pd.DataFrame({"parameter": list(design.names), **numbers})


def _pairs(names: Sequence[str], indices: Any) -> pd.DataFrame:
    rows = [
        (names[i], names[j], float(indices["S2"][i, j]), float(indices["S2_conf"][i, j]))
        for i, j in combinations(range(len(names)), 2)
    ]
    return pd.DataFrame(rows, columns=["parameter", "with", "S2", "S2_conf"])


def _remarks(table: pd.DataFrame) -> list[str]:
    """Return remarks on the indices, with those that are impossible and show that there are too few samples."""
    first, total = table["S1"], table["ST"]
    # The indices are not independent: the sum of their intervals is the widest possible interval of their sum.
    remarks = [f"the first-order indices add up to {first.sum():.3g}; without interactions they would add up to 1"]
    if first.sum() - table["S1_conf"].sum() > 1.0:
        remarks.append("the first-order indices add up to more than 1: take more samples")
    if ((first + table["S1_conf"]) < 0.0).any() or ((first - table["S1_conf"]) > total + table["ST_conf"]).any():
        remarks.append("a first-order index is below zero, or above the parameter's total index: take more samples")
    if table["ST_conf"].max() > 0.1:
        remarks.append(f"the widest interval is ± {table['ST_conf'].max():.2g}: take more samples")
    return remarks
