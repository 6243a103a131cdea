"""Simulated person of the items, its thresholds, and the comparison of published numbers with our means.

The noise of the sensor presets was fitted to people's quiet stance; nothing was fitted to other published numbers. An
item adds the disturbance and the controller: postural with ``PERSON``, or person with its defaults.
"""

import math
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biped import Sensors
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.registry import experiment_named
from experiments.papers.criteria import stated, when
from experiments.papers.item import Finding, Half, Outcome, Progress
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
#: Weight of proprioception with which all simulated people except those without a vestibular sense stand in the
#: studies of quiet stance (``examples/quiet-stance.toml``).
WEIGHT = 0.2
#: Controller of the person, and its parameters that are not the defaults.
ANKLES, BY_ANKLES = "postural", MappingProxyType({"controller.weight": WEIGHT})
#: Effects of age.
PARTS = ("strength", "delay", "noise")


def ages() -> dict[str, dict[str, Value]]:
    """Return changes of the person by name: young, young with one effect of age, and old."""
    late = {age: Sensors.preset(age).delay for age in ("young", "old")}

    def aged(*old: str) -> dict[str, Value]:
        of = {part: "old" if part in old else "young" for part in PARTS}
        delay = late[of["delay"]]
        return {
            "sensors.preset": of["noise"], "sensors.delay": delay, "sensors.force.delay": delay,
            "actuators.strength": f"{of['strength']}-men",
        }  # fmt: skip

    return {"young": aged(), **{part: aged(part) for part in PARTS}, "old": aged(*PARTS)}


def conditions() -> dict[tuple[str, str, str], dict[str, Value]]:
    """Return changes of the person by age group, eyes and surface, in quiet stance."""
    seeing, closed, foam = (Sensors.preset(name) for name in ("eyes-open", "eyes-closed", "foam"))
    dimmed = closed.visual.position_noise / seeing.visual.position_noise
    in_the_dark: dict[str, Value] = {
        "sensors.delay": closed.delay, "sensors.force.delay": closed.force.delay,
        "sensors.vestibular.orientation_threshold": closed.vestibular.orientation_threshold,
        "sensors.vestibular.angular_velocity_threshold": closed.vestibular.angular_velocity_threshold,
        "sensors.visual.position_noise": dimmed * foam.visual.position_noise,
        "sensors.visual.velocity_noise": dimmed * foam.visual.velocity_noise,
    }  # fmt: skip
    return {
        ("young", "open", "firm"): {"sensors.preset": "eyes-open"},
        ("young", "closed", "firm"): {"sensors.preset": "eyes-closed"},
        ("young", "open", "foam"): {"sensors.preset": "foam"},
        ("young", "closed", "foam"): {"sensors.preset": "foam", **in_the_dark},
        ("old", "open", "firm"): ages()["old"],
    }


#: Assumption for the page.
PERSON_TEXT = (
    "one simulated person for all statements of the item: the human, upright, with the sensors of closed eyes and a "
    "delay of 100 ms; the controller is postural, with its defaults except a proprioceptive weight of 0.2, as in the "
    "project's studies of quiet stance; nothing was fitted to a statement of the item"
)


#: Assumption of items with the controller person.
BY_PERSON_TEXT = "the controller is person with its defaults, the person's stance and its muscles"

#: Halves of the statements of an item, in their order on the page: the first four, the next four, …
HALVES: tuple[Half, ...] = ("training", "held-out", "held-out", "training")
HALVES_TEXT = (
    "halves: of each four successive statements, the first and the fourth are for training, to which parameters may be "
    "fitted; the second and the third are held out"
)


def divided(produce: Callable[[bool, Progress], Outcome]) -> Callable[[bool, Progress], Outcome]:
    """Return the function of an item with its statements divided by ``HALVES``, except those not in the source."""

    def both(quick: bool, progress: Progress) -> Outcome:
        outcome, number = produce(quick, progress), count()
        halved = (f if f.kind == "ours" else replace(f, half=HALVES[next(number) % 4]) for f in outcome.findings)
        return replace(outcome, findings=tuple(halved), assumptions=(*outcome.assumptions, HALVES_TEXT))

    return both


def compared(
    quantity: str, published: float, margin: float, ours: Mean, why: str, *, lost: int = 0, error: float | None = None
) -> Finding:
    """Compare a published value with our mean or median; it agrees within ``margin`` if no trial fell.

    The margin is the published standard deviation between people, or an assumed margin if none is known. ``lost``:
    number of falls. ``error``: standard error of the published mean, if known; two of them are a second, closer limit.
    """
    apart = abs(ours.value - published) if ours.of > 0 and lost == 0 else math.inf
    spread, close = (f"{float(f'{size:.2g}'):g}" for size in (margin, 2.0 * (error or 0.0)))
    limit = f"{published:.4g} ± {spread}" + ("" if error is None else f" (2 SE: {close})")
    finding = stated(quantity, published, shown(ours, lost), when(limit, bool(apart <= margin)), why=why)
    return finding if error is None else replace(finding, within_two_errors=bool(apart <= 2.0 * error))


def mean_ratio(ours: ArrayLike, theirs: ArrayLike) -> Mean:
    """Return the geometric mean of the ratios ours / theirs (n,), with its confidence interval."""
    logs = mean_of(np.log(np.asarray(ours, dtype=float) / np.asarray(theirs, dtype=float)))
    return Mean(math.exp(logs.value), logs.of, math.exp(logs.low), math.exp(logs.high))


def shown(ours: Mean, lost: int = 0) -> str:
    """Return our mean as text, with its interval and the number of falls; ``undefined`` if it is NaN."""
    fell = f"{lost} of {lost + ours.of} fall" if lost else ""
    if ours.of == 0:
        return fell
    if math.isnan(ours.value):
        return "undefined" + (f"; {fell}" if fell else "")
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
