"""What is varied, and over which values: grids, values that go together, random samples."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from biped.errors import InputError
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Parameter, Value, parameter_named
from experiments.studies.store.config import Config, is_number

SCALES = ("linear", "log")
METHODS = ("sobol", "latin-hypercube")
#: Grid values are rounded to so many digits, so that 0.1 + 2 × 0.1 is 0.3.
DIGITS = 12


@dataclass(frozen=True)
class Axis:
    """Parameters that are varied together.

    Attributes:
        kind: grid, together or sample.
        names: of the parameters.
        points: the values, in the order of the names.
    """

    kind: str
    names: tuple[str, ...]
    points: tuple[tuple[Value, ...], ...]


def grid_axis(config: Config, name: str, spec: Any, experiment: Experiment) -> Axis:
    """One parameter over a list of values or a range."""
    parameter = _parameter(config, name, experiment)
    values = _range(config, parameter, name, spec) if isinstance(spec, Mapping) else _list(config, parameter, spec)
    return Axis("grid", (parameter.name,), tuple((value,) for value in values))


def together_axis(config: Config, experiment: Experiment) -> Axis:
    """Parameters whose lists are gone through side by side."""
    lists = {
        name: _list(config, _parameter(config, name, experiment), spec) for name, spec in config.parameters().items()
    }
    if not lists:
        raise config.error(f"[{config.name('')[:-1]}] is empty: it needs lists of the same length")
    lengths = {name: len(values) for name, values in lists.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise config.error(f"values that go together must be lists of the same length: {told}")
    return Axis("together", tuple(lists), tuple(zip(*lists.values(), strict=True)))


def sample_axis(config: Config, experiment: Experiment, seed: int) -> Axis:
    """Random points of a box, evenly spread: Sobol's sequence, scrambled, or a Latin hypercube."""
    method = config.word("method", "sobol", METHODS)
    count = config.whole("count", least=1)
    if method == "sobol" and count & (count - 1):
        below = 1 << (count.bit_length() - 1)
        raise config.error(
            f"count = {count}: Sobol's sequence is even at powers of two: {below} or {2 * below}", "count"
        )
    specs = config.parameters(but=("method", "count"))
    if not specs:
        raise config.error("nothing to sample: name parameters, each with { from = …, to = … }")
    parameters = [_parameter(config, name, experiment) for name in specs]
    bounds = [_bounds(config, p, name, spec) for p, (name, spec) in zip(parameters, specs.items(), strict=True)]
    units = unit_samples(method, len(parameters), count, seed)
    points = tuple(
        tuple(_at(parameter, *bound, float(u)) for parameter, bound, u in zip(parameters, bounds, row, strict=True))
        for row in units
    )
    return Axis("sample", tuple(parameter.name for parameter in parameters), points)


def unit_samples(method: str, dimensions: int, count: int, seed: int) -> Any:
    """(count, dimensions) points of the unit cube [0, 1)."""
    from scipy.stats import qmc

    rng = np.random.default_rng(seed)
    sampler = qmc.Sobol(dimensions, rng=rng) if method == "sobol" else qmc.LatinHypercube(dimensions, rng=rng)
    return sampler.random(count)


def _parameter(config: Config, name: str, experiment: Experiment) -> Parameter:
    try:
        return parameter_named(name, experiment.parameters)
    except InputError as error:
        raise config.error(str(error), name) from None


def _checked(config: Config, parameter: Parameter, value: Any) -> Value:
    try:
        return parameter.checked(tuple(value) if isinstance(value, list) else value)
    except InputError as error:
        raise config.error(str(error), parameter.name) from None


def _list(config: Config, parameter: Parameter, spec: Any) -> list[Value]:
    if isinstance(spec, str) or not isinstance(spec, (list, tuple, np.ndarray)) or not len(spec):
        raise config.error(
            f"{parameter.name} = {spec!r}: it must be a list of values or {{ from = …, to = …, count = … }}",
            parameter.name,
        )
    values = [_checked(config, parameter, value) for value in (spec.tolist() if isinstance(spec, np.ndarray) else spec)]
    if len(set(values)) < len(values):
        raise config.error(f"{parameter.name}: a value is there twice", parameter.name)
    return values


def _range(config: Config, parameter: Parameter, name: str, spec: Mapping[str, Any]) -> list[Value]:
    """Values of a range, both ends among them."""
    low, high, log = _bounds(config, parameter, name, spec, extra=("count", "step"))
    if ("count" in spec) == ("step" in spec):
        raise config.error(f"{name}: a range needs either count or step", name)
    if "count" in spec:
        count = spec["count"]
        if not isinstance(count, int) or isinstance(count, bool) or count < 2:
            raise config.error(f"{name}: count = {count!r}: it must be a whole number, 2 or above", name)
        numbers = np.geomspace(low, high, count) if log else np.linspace(low, high, count)
    else:
        numbers = _stepped(config, name, low, high, spec["step"], log)
    neat = [float(f"{number:.{DIGITS}g}") for number in numbers.tolist()]
    whole = isinstance(parameter.default, int)
    values = [_checked(config, parameter, round(number) if whole else number) for number in neat]
    if len(set(values)) < len(values):
        raise config.error(f"{name}: {len(values)} values are more than there are whole numbers in the range", name)
    return values


def _stepped(config: Config, name: str, low: float, high: float, step: Any, log: bool) -> Any:
    if log or not is_number(step) or step == 0.0 or (high - low) * step < 0.0:
        raise config.error(f"{name}: step = {step!r}: it must lead from {low:g} to {high:g}, on a linear scale", name)
    count = round((high - low) / step)
    if not math.isclose(count * step, high - low, rel_tol=1e-9):
        raise config.error(f"{name}: steps of {step:g} from {low:g} do not meet {high:g}", name)
    return np.linspace(low, high, count + 1)


def _bounds(
    config: Config, parameter: Parameter, name: str, spec: Any, extra: tuple[str, ...] = ()
) -> tuple[float, float, bool]:
    """Both ends of a range, and whether its scale is logarithmic."""
    if not isinstance(spec, Mapping):
        raise config.error(f"{name} = {spec!r}: it must be {{ from = …, to = … }}", name)
    known = ("from", "to", "scale", *extra)
    for key in spec:
        if key not in known:
            raise config.error(f"{name}: unknown key {key!r}; keys of a range are {', '.join(known)}", name)
    if isinstance(parameter.default, (str, tuple)):
        kind = "words" if isinstance(parameter.default, str) else "several numbers; name one of them, such as [0]"
        raise config.error(f"{name}: no range, since its values are {kind}", name)
    low: Any = spec.get("from")
    high: Any = spec.get("to")
    if not is_number(low) or not is_number(high) or low == high:
        raise config.error(f"{name}: from = {low!r}, to = {high!r}: they must be two different numbers", name)
    scale = spec.get("scale", "linear")
    if scale not in SCALES:
        raise config.error(f"{name}: scale = {scale!r}: it must be {' or '.join(SCALES)}", name)
    if scale == "log" and not (low > 0.0 and high > 0.0):
        raise config.error(f"{name}: a log scale needs both ends above zero", name)
    for end in (low, high):
        _checked(config, parameter, end)
    return float(low), float(high), scale == "log"


def _at(parameter: Parameter, low: float, high: float, log: bool, u: float) -> Value:
    """The value at a share ``u`` of a range; of whole numbers, each as likely as any other."""
    if isinstance(parameter.default, int):
        low, high = min(low, high) - 0.5, max(low, high) + 0.5
    value = low * (high / low) ** u if log else low + u * (high - low)
    if isinstance(parameter.default, int):
        return int(min(max(round(value), math.ceil(low)), math.floor(high)))
    return value
