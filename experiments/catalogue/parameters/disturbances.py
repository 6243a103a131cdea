"""Parameters of all disturbances of a standing human, and the disturbances that their values stand for.

Each group is off by default: a push without impulse, a platform without a motion, a load without mass. Directions are
angles seen from above: 0 pushes it forwards (the human towards −x), π/2 to its left.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from biped.disturbances import (
    Actuators,
    Disturbance,
    Force,
    Load,
    Patch,
    Platform,
    Push,
    Sensors,
    SwayReferenced,
    Throw,
    random_forces,
)
from biped.disturbances.sensors import PRESETS
from biped.errors import InputError
from biped.inputs.checks import whole, zero_or_above
from biped.model import Model
from biped.model.geometry import Vector3
from biped.model.legs import legs_of
from biped.model.strength import NOBODY, PEOPLE
from biped.signals import Signal
from contact import FloorError
from experiments.catalogue.parameters.floors import floor_from
from experiments.catalogue.parameters.initial import OURS
from experiments.catalogue.parameters.parameter import Parameter, Value, Values
from experiments.catalogue.parameters.signals import (
    NO_FILE,
    PERIODIC,
    SEEDED,
    WHOLE,
    from_record,
    of_file,
    sine,
    sum_of_sines,
    ternary,
)

MOTIONS = ("none", "step", "sine", "sum-of-sines", "ternary", "recorded", "sway-referenced")
PATTERNS = ("constant", "sine", "sum-of-sines", "ternary")

#: [N·m·s/rad] of tense muscles.
TENSE = 30.0
_AZIMUTH = (0.0, "rad", "direction seen from above: 0 drives it forwards, π/2 to its left")
_CENTRE = (0.0, 0.0, 0.0)

#: Of the senses, what each is of, and whether its delay is all of it.
_CHANNELS = (
    ("vestibular", "the {root}'s orientation and angular velocity", ", added to sensors.delay"),
    ("visual", "the {root}'s place and velocity", ", added to sensors.delay"),
    ("proprioceptive", "the joints", ", added to sensors.delay"),
    ("force", "the floor's forces and contacts", ""),
)

#: Default, unit and meaning by group and name; ``{root}``, ``{stands}`` and the default None depend on the model.
_ROWS: dict[str, dict[str, tuple[Value | None, str, str]]] = {
    "push": {
        "impulse": (0.0, "N·s", "impulse of the push; 0: none; below: the other way"),
        "azimuth": _AZIMUTH,
        "body": ("{root}", "", "body that is pushed"),
        "point": (_CENTRE, "m", "point of the body, from its centre of mass"),
        "start": (0.5, "s", "time at which it begins"),
        "duration": (0.1, "s", "how long it lasts"),
        "waveform": ("half-sine", "", "rectangle or half-sine"),
    },
    "force": {
        "size": (0.0, "N", "size of the force, or of each sine; 0: none"),
        "pattern": ("constant", "", f"of the force, one of: {', '.join(PATTERNS)}"),
        **PERIODIC,
        "rise": (0.5, "s", "sines: time in which they fade in and out"),
        "noise": (0.0, "N", "standard deviation of a random horizontal force, each component; 0: none"),
        "interval": (0.05, "s", "after which random or ternary ones change"),
        "seed": (0, "", f"of what is random; {SEEDED}"),
        "azimuth": _AZIMUTH,
        "body": ("{root}", "", "body on which the forces act"),
        "point": (_CENTRE, "m", "point of the body, from its centre of mass"),
        "start": (0.5, "s", "time at which they begin"),
        "duration": (1.0, "s", f"how long they last; {WHOLE}"),
        **of_file("force", "N"),
    },
    "platform": {
        "motion": ("none", "", f"of the floor, one of: {', '.join(MOTIONS)}"),
        "axis": ("x", "", f"along or about which, one of: {', '.join(Platform.AXES)}"),
        "size": (0.02, "m, rad", "step: its size; sines: amplitude of each; ternary: min to max; rad of turns"),
        **PERIODIC,
        "interval": (0.25, "s", "ternary: time of a constant rate"),
        "seed": (0, "", SEEDED),
        "start": (0.5, "s", "time at which it begins"),
        "duration": (10.0, "s", f"duration of sines; {WHOLE}"),
        "rise": (0.5, "s", "step: time in which it rises; sines: in which they fade in and out"),
        "gain": (1.0, "", "sway-referenced: of the floor's pitch over that of the body; it has no axis, size and time"),
        **of_file("platform", "m, rad"),
    },
    "patch": {
        "present": (0, "", "1 where a part of the floor is different"),
        "x": ((-10.0, 10.0), "m", "its min and max x"),
        "y": (None, "m", "its min and max y{stands}"),
        "mu_s": (0.1, "", "its coefficient of static friction"),
        "mu_d": (0.1, "", "its coefficient of dynamic friction"),
    },
    "load": {
        "mass": (0.0, "kg", "mass of a load, of which the controller knows nothing; 0: none; below: lighter"),
        "body": ("{root}", "", "body that carries it"),
        "position": ((0.2, 0.0, 0.1), "m", "its centre, from the body's centre of mass"),
    },
    "block": {
        "speed": (0.0, "m/s", "speed of a block as it arrives; 0: none"),
        "azimuth": _AZIMUTH,
        "mass": (1.8, "kg", "mass of the block"),
        "size": ((0.1216, 0.1216, 0.1216), "m", "its edges"),
        "point": (_CENTRE, "m", "aim, from the {root}'s centre of mass"),
        "target": ("{root}", "", "the body that it may hit, or all"),
        "flight": (0.4, "s", "time from start to arrival; it starts lower by g t²/2"),
        "restitution": (0.2, "", "restitution of its collisions"),
        "friction": (0.3, "", "coefficient of friction of its collisions"),
    },
    "sensors": {
        "preset": (NOBODY, "", f"whose senses: {', '.join((NOBODY, *PRESETS))}; what is set besides goes before it"),
        "delay": (0.0, "s", "delay with which the controller sees the state; whole control periods"),
        "position_noise": (0.0, "m", "standard deviation of the {root}'s place, at each tick"),
        "orientation_noise": (0.0, "rad", "noise of the {root}'s orientation"),
        "joint_noise": (0.0, "rad", "noise of the joint angles"),
        "velocity_noise": (0.0, "m/s", "noise of the {root}'s velocity"),
        "angular_velocity_noise": (0.0, "rad/s", "noise of the {root}'s angular velocity"),
        "joint_rate_noise": (0.0, "rad/s", "noise of the joint rates"),
        "force_noise": (0.0, "N", "noise of the floor's forces where it touches, along each axis"),
        **{f"{name}_delay": (0.0, "s", f"delay of {of}{more}") for name, of, more in _CHANNELS},
        **{f"{name}_time_constant": (0.0, "s", f"of the noise of {of}; 0: white") for name, of, _ in _CHANNELS},
        **{
            f"{name}_relative_noise": (0.0, "", f"noise of {of} as a share of the distance from the start")
            for name, of, _ in _CHANNELS
        },
        "position_threshold": (0.0, "m", "what is not felt of the {root}'s way from the start, along each axis"),
        "orientation_threshold": (0.0, "rad", "what is not felt of the {root}'s turn, about each axis"),
        "joint_threshold": (0.0, "rad", "what is not felt of the joint angles' way from the start"),
        "velocity_threshold": (0.0, "m/s", "what is not felt of the {root}'s velocity"),
        "angular_velocity_threshold": (0.0, "rad/s", "what is not felt of the {root}'s angular velocity"),
        "joint_rate_threshold": (0.0, "rad/s", "what is not felt of the joint rates"),
        "force_threshold": (0.0, "N", "what is not felt of the floor's forces"),
        "predict": (1, "", "1: laws that are told of the whole body see ahead by the delay; 0: none does"),
        "predict_stiffness": (300.0, "N*m/rad", "of tense muscles about the posture, where laws see ahead"),
        "predict_damping": (TENSE, "N*m*s/rad", "of tense muscles, likewise"),
        "seed": (0, "", "seed of the noise"),
    },
    "actuators": {
        "limit": (math.inf, "N·m", "max torque of a joint"),
        "strength": (NOBODY, "", f"of joints over angle and speed, one of: {', '.join((NOBODY, *PEOPLE))}"),
        "time_constant": (0.0, "s", "of a first-order lag of the torques"),
        "rate_limit": (math.inf, "N·m/s", "greatest rate at which a torque develops or ends"),
        "noise": (0.0, "N·m", "standard deviation of the torques, at each tick"),
        "relative_noise": (0.0, "", "noise as a share of the torque"),
        "seed": (0, "", "seed of the noise"),
    },
}  # fmt: skip


def disturbance_parameters(model: Model, strength: str = NOBODY) -> tuple[Parameter, ...]:
    """All of them, off but for ``strength``; the body that they act on is the root unless set otherwise."""
    half, stands = _left_half(model)

    def parameter(group: str, name: str, default: Value | None, unit: str, meaning: str) -> Parameter:
        value = half if default is None else words(default) if isinstance(default, str) else default
        value = strength if (group, name) == ("actuators", "strength") else value
        repeats = name == "size" and isinstance(value, tuple)
        return Parameter(
            f"{group}.{name}",
            value,
            unit,
            words(meaning),
            OURS,
            may_be_infinite=name in ("limit", "rate_limit", "end"),
            repeats=repeats,
        )

    def words(text: str) -> str:
        return text.format(root=model.root.name, stands=stands)

    return tuple(parameter(group, name, *row) for group, rows in _ROWS.items() for name, row in rows.items())


def _left_half(model: Model) -> tuple[tuple[float, float], str]:
    """[m] The half of the floor, along y, on which the left foot stands at home, and where that is in words."""
    if not legs_of(model):
        return (0.0, 10.0), ""
    y = round(float(model.home_positions[model.body_index(legs_of(model)[0].foot)][1]), 3)
    return (-10.0, 0.0) if y < 0.0 else (0.0, 10.0), f"; the left foot stands at {y:g}".replace("-", "−")


def disturbances_from(values: Values, trunk: Vector3, model: Model) -> tuple[Disturbance, ...]:
    """The disturbances of these values, for a robot whose root's centre of mass stands at ``trunk`` [m]."""
    for name in ("push.body", "force.body", "load.body"):  # also of what is off: a name that is wrong never was meant
        model.body_index(values.word(name))
    found: list[Disturbance] = [*_push(values, model.facing), *_forces(values, model.facing)]
    for make in (_platform, _patch, _load, _senses, _actuators):
        found += make(values)
    return (*found, *_block(values, trunk, model))


def heading(azimuth: float, facing: Vector3 = (-1.0, 0.0, 0.0)) -> Vector3:
    """(3,) the horizontal unit vector of an azimuth, for who looks along ``facing``; the human along −x."""
    x, y, _ = facing
    return (math.cos(azimuth) * x - math.sin(azimuth) * y, math.sin(azimuth) * x + math.cos(azimuth) * y, 0.0)


def _push(values: Values, facing: Vector3) -> list[Disturbance]:
    group = values.group("push")
    if group["impulse"] == 0.0:
        return []
    return [Push(direction=heading(group.pop("azimuth"), facing), **group)]


def _forces(values: Values, facing: Vector3) -> list[Disturbance]:
    group = values.group("force")
    where = {"body": group["body"], "point": group["point"]}
    when = {"start": group["start"], "duration": group["duration"]}
    found: list[Disturbance] = []
    signals = []
    whole(group["seed"], "force.seed")
    if group["pattern"] not in PATTERNS:
        raise InputError(f"force.pattern = {group['pattern']!r}: it must be one of {', '.join(PATTERNS)}")
    if group["size"] != 0.0:
        signals.append(_FORCES[group["pattern"]](group))
    if group["file"] != NO_FILE:
        signals.append(from_record("force", group, lambda how, record: how.force(record, group["column"], "N")))
    found += [Force(direction=heading(group["azimuth"], facing), signal=signal, **where) for signal in signals]
    zero_or_above(group["noise"], "force.noise")
    if group["noise"] != 0.0:
        found += random_forces(
            deviation=group["noise"], seed=group["seed"], interval=group["interval"], **when, **where
        )
    return found


def _platform(values: Values) -> list[Disturbance]:
    group = values.group("platform")
    if group["motion"] not in MOTIONS:
        raise InputError(f"platform.motion = {group['motion']!r}: it must be one of {', '.join(MOTIONS)}")
    if group["axis"] not in Platform.AXES:
        raise InputError(f"platform.axis = {group['axis']!r}: it must be one of {', '.join(Platform.AXES)}")
    whole(group["seed"], "platform.seed")
    if group["motion"] == "none":
        return []
    if group["motion"] == "sway-referenced":
        return [SwayReferenced(group["gain"])]
    moves: dict[str, Any] = {group["axis"]: _SIGNALS[group["motion"]](group)}
    return [Platform(**moves)]


def _recorded(group: dict[str, Any]) -> Signal:
    if group["file"] == NO_FILE:
        raise InputError("platform.motion = recorded needs platform.file, such as a CSV file with a column time [s]")
    unit = "rad" if group["axis"] in ("roll", "pitch", "yaw") else "m"
    return from_record("platform", group, lambda how, record: how.displacement(record, group["column"], unit))


_SIGNALS: dict[str, Callable[[dict[str, Any]], Signal]] = {
    "step": lambda of: Signal.step(of["size"], of["start"], of["rise"]),
    "sine": sine,
    "sum-of-sines": partial(sum_of_sines, "platform"),
    "ternary": partial(ternary, "platform", Signal.ternary),
    "recorded": _recorded,
}
_FORCES: dict[str, Callable[[dict[str, Any]], Signal]] = {
    "constant": lambda of: Signal.rectangle(of["size"], of["start"], of["duration"]),
    "sine": sine,
    "sum-of-sines": partial(sum_of_sines, "force"),
    "ternary": partial(ternary, "force", Signal.ternary_steps),
}


def _patch(values: Values) -> list[Disturbance]:
    group = values.group("patch")
    if group["present"] not in (0, 1):
        raise InputError(f"patch.present = {group['present']}: it must be 0 or 1")
    if not group["present"]:
        return []
    around = floor_from(values)
    try:
        floor = around.with_(mu_s=group["mu_s"], mu_d=group["mu_d"])
    except FloorError as error:
        raise InputError(
            f"patch.mu_s = {group['mu_s']:g}, patch.mu_d = {group['mu_d']:g}: as of a floor, {error}"
        ) from None
    return [Patch(x=group["x"], y=group["y"], floor=floor)]


def _load(values: Values) -> list[Disturbance]:
    group = values.group("load")
    return [Load(**group)] if group["mass"] != 0.0 else []


def _block(values: Values, trunk: Vector3, model: Model) -> list[Disturbance]:
    group = values.group("block")
    if group["speed"] == 0.0:
        return []
    x, y, z = (float(c) for c in np.add(trunk, group.pop("point")))
    way = heading(group.pop("azimuth"), model.facing)
    return [Throw.at((x, y, z), group.pop("speed"), way, **group)]


def _senses(values: Values) -> list[Disturbance]:
    group = values.group("sensors")
    name = group.pop("preset")
    if (predict := group.pop("predict")) not in (0, 1):
        raise InputError(f"sensors.predict = {predict}: it must be 0 or 1")
    del group["predict_stiffness"], group["predict_damping"]
    person = Sensors() if name == NOBODY else Sensors.preset(name)
    sensors = replace(person, **{field: value for field, value in group.items() if value != getattr(Sensors, field)})
    return [] if sensors == Sensors(seed=sensors.seed) else [sensors]


def _actuators(values: Values) -> list[Disturbance]:
    group = values.group("actuators")
    actuators = Actuators(**group)
    return [] if actuators == Actuators(seed=actuators.seed) else [actuators]
