"""Randomization of replicas: initial states, times of disturbances, floors.

The random values of a replica depend on the study's seed, the replica's number and the parameters' names only. So all
conditions, and studies with equal seeds, have equal replicas and can be compared replica by replica.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from biped.errors import InputError
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value, value_under
from experiments.studies.seeds import seed_of

KINDS: dict[str, str] = {
    "factor": "multiplied by exp(width × normal), with one factor for all numbers of all its parameters",
    "normal": "plus width × normal, drawn for each number",
    "uniform": "plus uniform from 0 to width, drawn for each number",
    "seed": "a random whole number, without a width",
}


@dataclass(frozen=True)
class Randomization:
    """Random values of some parameters, different in each replica (repetition) of a study.

    Attributes:
        parameters: names of the parameters.
        kind: kind of randomization, a key of ``KINDS``: ``"factor"``, ``"normal"``, ``"uniform"`` or ``"seed"``.
        width: for ``"factor"``, standard deviation of its logarithm; for ``"normal"``, standard deviation of the
            addition, and for ``"uniform"``, its upper bound, in the parameters' unit; for ``"seed"``, zero.

    Raises:
        InputError: the kind is unknown, the width is invalid, or no parameter is given.
    """

    parameters: tuple[str, ...]
    kind: str
    width: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", tuple(self.parameters))
        if self.kind not in KINDS:
            raise InputError(f"randomization: kind = {self.kind!r}: it must be one of {', '.join(KINDS)}")
        if not self.parameters:
            raise InputError("randomization: name at least one parameter")
        names = ", ".join(self.parameters)
        if self.kind == "seed" and self.width != 0.0:
            raise InputError(f"randomization of {names}: width = {self.width:g}: a seed has no width; leave it out")
        if self.kind != "seed" and not (math.isfinite(self.width) and self.width > 0.0):
            raise InputError(f"randomization of {names}: width = {self.width:g}: it must be above zero and finite")

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"parameters": list(self.parameters)}


def check(randomizations: Sequence[Randomization], experiment: Experiment) -> None:
    """Raise InputError if a parameter is unknown, cannot be randomized, or is randomized twice."""
    seen: set[str] = set()
    for randomization in randomizations:
        for name in randomization.parameters:
            default = experiment.parameter(name).default
            if isinstance(default, str):
                raise InputError(f"randomization of {name}: this parameter is text, not a number: leave it out")
            if isinstance(default, int) and randomization.kind != "seed":
                raise InputError(f"randomization of {name}: this parameter is an integer: use kind = 'seed'")
            if not isinstance(default, int) and randomization.kind == "seed":
                raise InputError(f"randomization of {name}: not an integer: use kind = factor, normal or uniform")
            if name in seen:
                raise InputError(f"randomization of {name}: this parameter is randomized twice; leave one out")
            seen.add(name)


def replica_changes(
    randomizations: Sequence[Randomization],
    experiment: Experiment,
    changes: Mapping[str, Value],
    seed: int,
    replica: int,
) -> dict[str, Value]:
    """Return random values of the parameters for one replica, drawn about their values under the changes."""
    drawn: dict[str, Value] = {}
    for randomization in randomizations:
        rng = np.random.default_rng(seed_of(seed, "replica", replica, *randomization.parameters))
        factor = math.exp(randomization.width * float(rng.normal())) if randomization.kind == "factor" else 1.0
        for name in randomization.parameters:
            value = value_under(name, changes, experiment.parameters)
            drawn[name] = _drawn(randomization, value, factor, rng)
    return drawn


def _drawn(randomization: Randomization, value: Value, factor: float, rng: np.random.Generator) -> Value:
    if randomization.kind == "seed":
        return int(rng.integers(2**31))
    if isinstance(value, tuple):
        return tuple(_number(randomization, number, factor, rng) for number in value)
    assert not isinstance(value, str)
    return _number(randomization, float(value), factor, rng)


def _number(randomization: Randomization, number: float, factor: float, rng: np.random.Generator) -> float:
    if randomization.kind == "factor":
        return number * factor
    draw = rng.normal() if randomization.kind == "normal" else rng.uniform()
    return number + randomization.width * float(draw)
