"""Axes of a sweep: grids, parameters varied together, random samples."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from biped.model import population
from biped.model.anthropometry import TABLE
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Parameter, Value, is_in_degrees
from experiments.catalogue.parameters.robots import NAME as ROBOT
from experiments.studies.config import Config, is_number
from experiments.studies.grid import LOG, SCALES, interpolate, neat

METHODS = ("sobol", "latin-hypercube")


@dataclass(frozen=True)
class Axis:
    """An axis of a sweep: parameters that are varied together, and the points of their values."""

    kind: str  # ``"grid"``, ``"together"`` or ``"sample"``
    names: tuple[str, ...]  # names of the parameters
    points: tuple[tuple[Value, ...], ...]  # values in the order of the names
    logs: tuple[str, ...] = ()  # names of parameters on a log scale
    degrees: tuple[str, ...] = ()  # names of parameters whose values were given in degrees


def grid_axis(config: Config, name: str, spec: Any, experiment: Experiment) -> Axis:
    parameter = _parameter(config, name, experiment)
    is_range = isinstance(spec, Mapping)
    read = _range if is_range else _list
    points = tuple((value,) for value in read(config, parameter, spec, experiment))
    logs = (name,) if is_range and spec.get("scale") == LOG else ()
    return Axis("grid", (parameter.name,), points, logs, _in_degrees({parameter.name: spec}))


def together_axis(config: Config, experiment: Experiment) -> Axis:
    """Return an axis from lists of equal length, one for each parameter; values of the first list must differ."""
    lists: dict[str, list[Value]] = {}
    for name, spec in config.parameters().items():
        lists[name] = (_values if lists else _list)(config, _parameter(config, name, experiment), spec, experiment)
    if not lists:
        raise config.error(f"[{config.name('')[:-1]}] is empty: it needs lists of the same length")
    if len({len(values) for values in lists.values()}) > 1:
        lengths = ", ".join(f"{name} has {len(values)}" for name, values in lists.items())
        raise config.error(f"values that are varied together must be lists of the same length: {lengths}")
    return Axis(
        "together", tuple(lists), tuple(zip(*lists.values(), strict=True)), degrees=_in_degrees(config.parameters())
    )


def sample_axis(config: Config, experiment: Experiment, seed: int) -> Axis:
    """Return an axis of random points within ranges: Sobol's scrambled sequence, or a Latin hypercube."""
    from scipy.stats import qmc

    method = config.word("method", "sobol", METHODS)
    count = config.integer("count", least=1)
    if method == "sobol" and count & (count - 1):
        below = 1 << (count.bit_length() - 1)
        raise config.error(f"count = {count}: Sobol's sequence needs a power of two: {below} or {2 * below}", "count")
    specs = config.parameters(but=("method", "count"))
    if not specs:
        raise config.error("nothing to sample: name parameters, each with { from = …, to = … }")
    parameters = [_parameter(config, name, experiment) for name in specs]
    bounds = [
        _bounds(config, p, name, spec, experiment) for p, (name, spec) in zip(parameters, specs.items(), strict=True)
    ]
    sampler = (qmc.Sobol if method == "sobol" else qmc.LatinHypercube)(len(specs), rng=np.random.default_rng(seed))
    points = tuple(
        tuple(_sampled(p, *bound, float(u)) for p, bound, u in zip(parameters, bounds, row, strict=True))
        for row in sampler.random(count)
    )
    names = tuple(parameter.name for parameter in parameters)
    logs = tuple(name for name, (_, _, scale) in zip(names, bounds, strict=True) if scale == LOG)
    return Axis("sample", names, points, logs, _in_degrees(specs))


def subjects_axis(config: Config, experiment: Experiment, seed: int, count: int) -> Axis:
    """Return an axis of people, drawn as ``biped.population`` draws them, as values of the parameter ``robot``.

    With ``impulse_per_kg`` [m/s], the impulse of each person's push is this times the person's mass.
    """
    sex = config.word("sex", "", TABLE) or None
    age: float | None = config.get("age", float, None)
    kick: float = config.get("impulse_per_kg", float, 0.0)
    segments: list[str] = config.get("segments", list, [])
    people = config.within(lambda: population(count, seed, sex=sex, age=age, segments=segments))
    config.within(lambda: experiment.of_robot(people[0].name))
    names = (_parameter(config, ROBOT, experiment).name, *(["push.impulse"] if kick else []))
    return Axis("together", names, tuple((who.name, kick * who.mass)[: len(names)] for who in people))


def _in_degrees(specs: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of parameters that have a value in degrees, such as ``45deg``."""
    return tuple(name for name, spec in specs.items() if any(map(is_in_degrees, _written(spec))))


def _written(spec: Any) -> Iterable[Any]:
    return spec.values() if isinstance(spec, Mapping) else spec


def _parameter(config: Config, name: str, experiment: Experiment) -> Parameter:
    return config.within(lambda: experiment.parameter(name), name)


def _list(config: Config, parameter: Parameter, spec: Any, experiment: Experiment) -> list[Value]:
    values = _values(config, parameter, spec, experiment)
    if len(set(values)) < len(values):
        raise config.error(f"{parameter.name}: a value is given twice; leave one out", parameter.name)
    return values


def _values(config: Config, parameter: Parameter, spec: Any, experiment: Experiment) -> list[Value]:
    if isinstance(spec, str) or not isinstance(spec, (list, tuple, np.ndarray)) or not len(spec):
        raise config.error(
            f"{parameter.name} = {spec!r}: it must be a list of values or {{ from = …, to = …, count = … }}",
            parameter.name,
        )
    items = spec.tolist() if isinstance(spec, np.ndarray) else spec
    return [config.value(experiment, parameter.name, value) for value in items]


def _range(config: Config, parameter: Parameter, spec: Mapping[str, Any], experiment: Experiment) -> list[Value]:
    name = parameter.name
    low, high, scale = _bounds(config, parameter, name, spec, experiment, extra=("count", "step"))
    if ("count" in spec) == ("step" in spec):
        raise config.error(f"{name}: a range needs either count or step", name)
    if "count" in spec:
        count = spec["count"]
        if not isinstance(count, int) or isinstance(count, bool) or count < 2:
            raise config.error(f"{name}: count = {count!r}: it must be a whole number, 2 or above", name)
        numbers = np.geomspace(low, high, count) if scale == LOG else np.linspace(low, high, count)
    else:
        step = _angle(config, experiment, parameter, spec["step"])
        numbers = _stepped(config, name, low, high, step, scale)
    is_integer = isinstance(parameter.default, int)
    rounded = [round(neat(number)) if is_integer else neat(number) for number in numbers.tolist()]
    values = [config.value(experiment, parameter.name, value) for value in rounded]
    if len(set(values)) < len(values):
        raise config.error(f"{name}: count = {len(values)}: the range has fewer whole numbers; reduce count", name)
    return values


def _stepped(config: Config, name: str, low: float, high: float, step: Any, scale: str) -> Any:
    if scale == LOG or not is_number(step) or step == 0.0 or (high - low) * step < 0.0:
        raise config.error(f"{name}: step = {step!r}: it must have the sign of 'to' − 'from' (scale: linear)", name)
    count = round((high - low) / step)
    if not math.isclose(count * step, high - low, rel_tol=1e-9):
        raise config.error(f"{name}: steps of {step:g} from {low:g} do not end at {high:g}", name)
    return np.linspace(low, high, count + 1)


def _bounds(
    config: Config, parameter: Parameter, name: str, spec: Any, experiment: Experiment, extra: tuple[str, ...] = ()
) -> tuple[float, float, str]:
    if not isinstance(spec, Mapping):
        raise config.error(f"{name} = {spec!r}: it must be {{ from = …, to = … }}", name)
    known = ("from", "to", "scale", *extra)
    for key in spec:
        if key not in known:
            raise config.error(f"{name}: unknown key {key!r}; keys of a range are {', '.join(known)}", name)
    if isinstance(parameter.default, (str, tuple)):
        kind = "texts" if isinstance(parameter.default, str) else f"several numbers: name one, such as {name}[0]"
        raise config.error(f"{name} cannot have a range, since its values are {kind}", name)
    low, high = (_angle(config, experiment, parameter, spec.get(end)) for end in ("from", "to"))
    if not is_number(low) or not is_number(high) or low == high:
        raise config.error(f"{name}: from = {low!r}, to = {high!r}: they must be two different numbers", name)
    scale = spec.get("scale", "linear")
    if scale not in SCALES:
        raise config.error(f"{name}: scale = {scale!r}: it must be {' or '.join(SCALES)}", name)
    if scale == LOG and not (low > 0.0 and high > 0.0):
        raise config.error(f"{name}: a log scale needs both ends above zero", name)
    for end in (low, high):
        config.value(experiment, name, end)
    return float(low), float(high), scale


def _angle(config: Config, experiment: Experiment, parameter: Parameter, value: Any) -> Any:
    """Return an angle with a unit in radians, and any other value unchanged."""
    is_text = isinstance(value, str) and parameter.is_angle
    return config.value(experiment, parameter.name, value) if is_text else value


def _sampled(parameter: Parameter, low: float, high: float, scale: str, u: float) -> Value:
    """Return the value at a fraction ``u`` of a range; whole numbers are equally likely."""
    if not isinstance(parameter.default, int):
        return interpolate(low, high, u, scale)
    low, high = min(low, high) - 0.5, max(low, high) + 0.5
    return int(min(max(round(interpolate(low, high, u, scale)), math.ceil(low)), math.floor(high)))
