"""The person of all rows, its thresholds, and published numbers compared with the means of ours.

The person has one set of parameters, which was not fitted to any of the published numbers. A row adds the disturbance
and the controller, with that controller's defaults.
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

#: [s] sensory delay: muscles respond to a floor motion after about this time (Nashner 1976).
LATE = 0.1
#: Changes of the experiment ``balance``: upright, with the sensors of closed eyes.
PERSON: Mapping[str, Value] = MappingProxyType({
    "initial.stance": "upright",
    "initial.jitter": 0.0,  # replicas differ in their noise alone
    "initial.settle": 10.0,
    "run.step": 2e-3,
    "sensors.preset": "eyes-closed",
    "sensors.delay": LATE,
    "sensors.force.delay": LATE,
})  # fmt: skip
#: The person's sensors with the same delay, without noise and thresholds, for controllers that cannot handle these.
EXACT: Mapping[str, Value] = MappingProxyType({"sensors.preset": "none"})
#: Sensors without delay, for control periods longer than the delay.
AT_ONCE: Mapping[str, Value] = MappingProxyType({**EXACT, "sensors.delay": 0.0, "sensors.force.delay": 0.0})
#: Controller of the ankle strategy, and its one parameter without the default value: with it all people but those
#: without a vestibular sense stand in the studies of quiet stance (``examples/quiet-stance.toml``).
ANKLES, WEIGHT = "postural", 0.2
BY_ANKLES: Mapping[str, Value] = MappingProxyType({"controller.weight": WEIGHT})
#: Text for the page.
TOLD = (
    "one person for all simulated rows: the human, upright, with the sensors of closed eyes and a delay of 100 ms; the "
    "controller is postural, with its defaults except a proprioceptive weight of 0.2, as in the project's studies of "
    "quiet stance; nothing was fitted to any row"
)


def compared(quantity: str, published: float, margin: float, ours: Mean, why: str, *, lost: int = 0) -> Finding:
    """Compare the mean or median of trials without a fall; it agrees within a margin if no trial fell.

    The margin is the published spread, or an assumed one if none is known.
    """
    near = ours.of > 0 and lost == 0 and abs(ours.value - published) <= margin
    return stated(quantity, published, shown(ours, lost), when(f"{published:.4g} ± {margin:.2g}", near), why=why)


def mean_ratio(ours: ArrayLike, theirs: ArrayLike) -> Mean:
    """Return the geometric mean of ratios (n,), with its interval, which is symmetric in ours and theirs."""
    logs = mean_of(np.log(np.asarray(ours, dtype=float) / np.asarray(theirs, dtype=float)))
    return Mean(math.exp(logs.value), logs.of, math.exp(logs.low), math.exp(logs.high))


def shown(ours: Mean, lost: int = 0) -> str:
    """Return our mean in words, with its interval, and the number of falls."""
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
    return np.array([(one.value - one.low, one.high - one.value) for one in means]).T


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
    """Return each condition's thresholds, replica by replica; replica k has the same seed in every condition.

    Replicas differ by the seed ``scattered``. With ``count_stepping`` trials that step without a fall count as
    recovered.
    """
    plan = Threshold(
        experiment_named("balance").driven_by(law), swept, grid,
        tuple(Condition(own, {NAME: name}) for name, own in conditions.items()), dict(changes),
        (Randomization((scattered,), "seed"),), replicas, count_stepping=count_stepping,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, open_study(plan, Path(folder) / "study") as study:
        found: Findings = run_study(plan, study, progress=lambda done: progress(min(1.0, done / plan.likely_trials)))
    return {str(one.condition.labels[NAME]): one.brackets for one in found.conditions}


def median(brackets: Sequence[Bracket], scale: float = 1.0) -> Mean:
    """Return the median, with its interval, times a scale."""
    lows = [scale * one.low for one in brackets]
    return _as_mean(median_interval(lows, lows, [scale * one.high for one in brackets]), len(brackets))


def ratio(ours: Sequence[Bracket], theirs: Sequence[Bracket]) -> Mean:
    """Return the median over replicas of ours over theirs, with its interval."""
    pairs = list(zip(ours, theirs, strict=True))
    values = [a.low / b.low for a, b in pairs]
    found = median_interval(values, [a.low / b.high for a, b in pairs], [a.high / b.low for a, b in pairs])
    return _as_mean(found, len(pairs))


def _as_mean(found: Interval, count: int) -> Mean:
    return Mean(found.value, count, found.low, found.high)
