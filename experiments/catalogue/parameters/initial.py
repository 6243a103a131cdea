"""Where an experiment starts: the posture's parameters, and its scatter by a seed.

``initial.seed`` and ``initial.jitter`` go together: the initial joint angles (of a model without joints, its
orientation) are scattered by a normal distribution with this standard deviation, drawn with this seed.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from biped.errors import InputError
from biped.model import Model
from biped.runs.postures import CROUCHING_ANGLES, CROUCHING_TILT, CROUCHING_TRUNK, with_loops_closed
from biped.runs.state import State
from experiments.catalogue.parameters.parameter import Parameter, Value, Values

#: [rad] what a seed alone scatters by.
SCATTER = 0.01

OURS = "this project"


def scatter_parameters(what: str) -> tuple[Parameter, ...]:
    return (
        Parameter("initial.jitter", 0.0, "rad", f"standard deviation of the scatter of {what}", OURS),
        Parameter("initial.seed", 0, "", f"seed of the scatter; alone it sets initial.jitter to {SCATTER:g}", OURS),
    )


def scattered_by_seed(changes: Mapping[str, Value]) -> dict[str, Value]:
    """The changes; where they have a seed but no jitter, with a jitter, so that the seed does what it says."""
    if "initial.seed" not in changes:
        return dict(changes)
    if changes.get("initial.jitter") == 0.0:
        raise InputError("initial.seed does nothing where initial.jitter = 0: leave one of them out")
    return {"initial.jitter": SCATTER} | dict(changes)


def generator_of(values: Values) -> np.random.Generator:
    for name in ("initial.seed", "initial.jitter"):
        if values.number(name) < 0.0:
            raise InputError(f"{name} = {values[name]}: it must be zero or above")
    return np.random.default_rng(values.whole("initial.seed"))


def posture_parameters(
    model: Model,
    source: str,
    place: tuple[float, float, float] = CROUCHING_TRUNK,
    tilt: float = CROUCHING_TILT,
    posture: Mapping[str, float] = CROUCHING_ANGLES,
) -> tuple[Parameter, ...]:
    """Place, tilt and joint angles: the thesis's, unless others are given, by joint or for both sides at once."""
    root = model.root.name
    angles = {joint: posture.get(joint, posture.get(joint.partition("_")[2], 0.0)) for joint in model.joint_names}
    return (
        *(
            Parameter(f"initial.body_{axis}", at, "m", f"centre of mass of the {root} along {axis}", source)
            for axis, at in zip("xyz", place, strict=True)
        ),
        Parameter("initial.tilt", tilt, "rad", f"rotation of the {root} about {_to_the_left(model)}", source),
        *(Parameter(f"initial.{joint}", angle, "rad", "joint angle", source) for joint, angle in angles.items()),
        Parameter("initial.velocity", (0.0, 0.0, 0.0), "m/s", "of the whole body: all of it moves alike", source),
        *scatter_parameters("the joint angles"),
    )


def initial_state(model: Model, values: Values) -> State:
    position = [values.number(f"initial.body_{axis}") for axis in "xyz"]
    half = values.number("initial.tilt") / 2.0
    noise = generator_of(values).normal(0.0, values.number("initial.jitter"), len(model.joint_names))
    angles: dict[str, Any] = {
        joint: values.number(f"initial.{joint}") + extra for joint, extra in zip(model.joint_names, noise, strict=True)
    }
    x, y, _ = (math.sin(half) * part for part in model.left)
    velocity = np.zeros(model.nv)
    velocity[:3] = values.group("initial")["velocity"]
    q = model.configuration(position, (math.cos(half), x + 0.0, y, 0.0), angles)
    return State.at(model, with_loops_closed(model, q), velocity)


def _to_the_left(model: Model) -> str:
    """The axis about which a turn is forwards."""
    x, y, _ = model.left
    return "its left" if x and y else f"{'−' if x + y < 0.0 else '+'}{'x' if x else 'y'}"
