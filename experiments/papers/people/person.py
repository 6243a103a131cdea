"""Simulated person of all items, its thresholds, and the comparison of published numbers with our means.

The person has one set of parameters, which was not fitted to any of the published numbers. An item adds the disturbance
and the controller, with the controller's defaults.
"""

import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.registry import experiment_named
from experiments.papers.criteria import stated, when
from experiments.papers.item import Finding, Progress
from experiments.studies.grid import Grid
from experiments.studies.mean import Mean, mean_of
from experiments.studies.randomization import Randomization
from experiments.studies.run import open_study, run_study
from experiments.studies.threshold.findings import Findings
from experiments.studies.threshold.search import Bracket
from experiments.studies.threshold.statistics import Interval, median_interval
from experiments.studies.threshold.threshold import Condition, SweptParameter, Threshold

#: Sensory delay [s]: muscles respond to a floor motion after about this time (Nashner 1976).
LATE = 0.1
#: Changes of the experiment ``balance``: upright, with the sensors of closed eyes.
PERSON: Mapping[str, Value] = MappingProxyType({
    "initial.stance": "upright",
    "initial.jitter": 0.0,  # replicas differ only in their noise
    "initial.settle": 10.0,
    "run.step": 2e-3,
    "sensors.preset": "eyes-closed",
    "sensors.delay": LATE,
    "sensors.force.delay": LATE,
})  # fmt: skip
#: Changes to sensors without noise and thresholds, with the delay, for controllers that do not tolerate these.
EXACT: Mapping[str, Value] = MappingProxyType({"sensors.preset": "none"})
#: Changes to sensors without noise, thresholds and delay, for control periods longer than the delay.
AT_ONCE: Mapping[str, Value] = MappingProxyType({**EXACT, "sensors.delay": 0.0, "sensors.force.delay": 0.0})
#: Controller of the ankle strategy, and its only parameter that is not the default: with it all simulated people except
#: those without a vestibular sense stand in the studies of quiet stance (``examples/quiet-stance.toml``).
ANKLES, WEIGHT = "postural", 0.2
BY_ANKLES: Mapping[str, Value] = MappingProxyType({"controller.weight": WEIGHT})
#: Assumption for the page.
PERSON_TEXT = (
    "one simulated person for all statements: the human, upright, with the sensors of closed eyes and a delay of "
    "100 ms; the controller is postural, with its defaults except a proprioceptive weight of 0.2, as in the project's "
    "studies of quiet stance; nothing was fitted to any statement"
)


def compared(quantity: str, published: float, margin: float, ours: Mean, why: str, *, lost: int = 0) -> Finding:
    """Compare a published value with our mean or median; it agrees within ``margin`` if no trial fell.

    The margin is the published spread, or an assumed margin if no spread is known. ``lost``: number of falls.
    """
    near = ours.of > 0 and lost == 0 and abs(ours.value - published) <= margin
    return stated(quantity, published, shown(ours, lost), when(f"{published:.4g} ± {margin:.2g}", near), why=why)


def mean_ratio(ours: ArrayLike, theirs: ArrayLike) -> Mean:
    """Return the geometric mean of the ratios ours / theirs (n,), with its confidence interval."""
    logs = mean_of(np.log(np.asarray(ours, dtype=float) / np.asarray(theirs, dtype=float)))
    return Mean(math.exp(logs.value), logs.of, math.exp(logs.low), math.exp(logs.high))


def shown(ours: Mean, lost: int = 0) -> str:
    """Return our mean as text, with its interval and the number of falls."""
    fell = f"{lost} of {lost + ours.of} fall" if lost else ""
    if ours.of == 0:
        return fell
    interval = f" ({ours.low:.4g} … {ours.high:.4g})" if ours.of > 1 else ""
    return f"{ours.value:.4g}{interval}" + (f"; {fell}" if fell else "")


def ends(mean: Mean) -> tuple[float, float, float]:
    """Return a mean and the ends of its interval, as cells of a table."""
    return mean.value, mean.low, mean.high


def reaches(means: Iterable[Mean]) -> NDArray[np.float64]:
    """Return the lengths (2, n) of intervals below and above their means, for ``errorbar``."""
    return np.array([(mean.value - mean.low, mean.high - mean.value) for mean in means]).T


Changes = Mapping[str, Value]
NAME = "name"


def thresholds(
    law: str,
    swept: SweptParameter,
    grid: Grid,
    conditions: Mapping[str, Changes],
    changes: Changes,
    *,
    replicas: int,
    progress: Progress,
    scattered: str = "sensors.seed",
    count_stepping: bool = False,
) -> dict[str, list[Bracket]]:
    """Return the thresholds of each condition, one for each replica; replica k has the same seed in every condition.

    ``scattered`` is the parameter with the seed that differs between replicas. If ``count_stepping``, trials that step
    without a fall count as recovered.
    """
    plan = Threshold(
        experiment_named("balance").driven_by(law), swept, grid,
        tuple(Condition(altered, {NAME: name}) for name, altered in conditions.items()), dict(changes),
        (Randomization((scattered,), "seed"),), replicas, count_stepping=count_stepping,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, open_study(plan, Path(folder) / "study") as study:
        results: Findings = run_study(plan, study, progress=lambda done: progress(min(1.0, done / plan.likely_trials)))
    return {str(result.condition.labels[NAME]): result.brackets for result in results.conditions}


def median(brackets: Sequence[Bracket], scale: float = 1.0) -> Mean:
    """Return the median threshold with its confidence interval, multiplied by ``scale``."""
    lows, highs = [scale * bracket.low for bracket in brackets], [scale * bracket.high for bracket in brackets]
    return _as_mean(median_interval(lows, lows, highs), len(brackets))


def ratio(ours: Sequence[Bracket], theirs: Sequence[Bracket]) -> Mean:
    """Return the median of the ratios ours / theirs of all replicas, with its confidence interval."""
    pairs = list(zip(ours, theirs, strict=True))
    values = [a.low / b.low for a, b in pairs]
    interval = median_interval(values, [a.low / b.high for a, b in pairs], [a.high / b.low for a, b in pairs])
    return _as_mean(interval, len(pairs))


def _as_mean(interval: Interval, count: int) -> Mean:
    return Mean(interval.value, count, interval.low, interval.high)
