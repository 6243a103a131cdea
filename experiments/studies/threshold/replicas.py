"""What tells one replica of a trial from another: its start, the time of its disturbance, its floor.

A replica's draws come from the study's seed, the replica's number and the parameters' names alone. The same replicas
meet all conditions, so that conditions, and studies with the same seed, are compared replica by replica.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from biped.errors import InputError
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value, parameter_named, value_under
from experiments.studies.seeds import seed_of

Kind = Literal["factor", "normal", "uniform", "seed"]
KINDS: dict[str, str] = {
    "factor": "times exp(width × a normal number), one factor for all numbers of all its parameters",
    "normal": "plus width × a normal number, one for each number",
    "uniform": "plus up to width, evenly, one for each number",
    "seed": "a whole number, without a width",
}


@dataclass(frozen=True)
class Scatter:
    """How some parameters differ between replicas.

    Attributes:
        parameters: their names.
        kind: one of ``KINDS``.
        width: without unit for a factor, else in the parameters' unit; above zero, but none for a seed.

    Raises:
        InputError: for an unknown kind, a width that is none, or no parameter.
    """

    parameters: tuple[str, ...]
    kind: Kind
    width: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", tuple(self.parameters))
        if self.kind not in KINDS:
            raise InputError(f"scatter of kind {self.kind!r}: kinds are {', '.join(KINDS)}")
        if not self.parameters:
            raise InputError("scatter: name at least one parameter")
        names = ", ".join(self.parameters)
        if self.kind == "seed" and self.width != 0.0:
            raise InputError(f"scatter of {names}: width = {self.width:g}: a seed has none; leave it out")
        if self.kind != "seed" and not (math.isfinite(self.width) and self.width > 0.0):
            raise InputError(
                f"scatter of {names}: width = {self.width:g}: it must be above zero, or all replicas are alike"
            )

    def as_json(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self) | {"parameters": list(self.parameters)}


def check(scatters: Sequence[Scatter], experiment: Experiment) -> None:
    """Whether the experiment has these parameters, and each of them is scattered once and can be.

    Raises:
        InputError: it has not, or it cannot.
    """
    seen: set[str] = set()
    for scatter in scatters:
        for name in scatter.parameters:
            default = parameter_named(name, experiment.parameters).default
            whole = isinstance(default, int)
            if isinstance(default, str) or whole != (scatter.kind == "seed"):
                raise InputError(
                    f"scatter of {name}: it cannot be by {scatter.kind}: a seed is a whole number, and alone"
                )
            if name in seen:
                raise InputError(f"scatter of {name}: it is scattered twice")
            seen.add(name)


def replica_changes(
    scatters: Sequence[Scatter], experiment: Experiment, changes: Mapping[str, Value], seed: int, replica: int
) -> dict[str, Value]:
    """The values of the scattered parameters in a replica.

    Args:
        scatters: what is scattered, and how.
        experiment: whose parameters they are.
        changes: under which they are scattered.
        seed: of the study.
        replica: its number.
    """
    drawn: dict[str, Value] = {}
    for scatter in scatters:
        rng = np.random.default_rng(seed_of(seed, "replica", replica, *scatter.parameters))
        factor = math.exp(scatter.width * float(rng.normal())) if scatter.kind == "factor" else 1.0
        for name in scatter.parameters:
            value = value_under(name, changes, experiment.parameters)
            drawn[name] = _drawn(scatter, value, factor, rng)
    return drawn


def _drawn(scatter: Scatter, value: Value, factor: float, rng: np.random.Generator) -> Value:
    if scatter.kind == "seed":
        return int(rng.integers(2**31))
    if isinstance(value, tuple):
        return tuple(_number(scatter, number, factor, rng) for number in value)
    assert not isinstance(value, str)
    return _number(scatter, float(value), factor, rng)


def _number(scatter: Scatter, number: float, factor: float, rng: np.random.Generator) -> float:
    if scatter.kind == "factor":
        return number * factor
    draw = rng.normal() if scatter.kind == "normal" else rng.uniform()
    return number + scatter.width * float(draw)
