"""Descriptions of policies: TOML files that say what a network observes and how its outputs move the joints."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from biped.errors import InputError
from biped.inputs.checks import is_finite
from biped.model import Model
from biped.model.actuator import Actuator
from biped.model.errors import ModelError, unknown
from biped.model.importing.options import by_joint
from contact.arrays import Floats, Integers
from controllers.policy.networks import load_network, values_in
from controllers.policy.observations import ALIASES, TERMS, Gait, Imu, Term

#: Keys of a description, and the entries of an ONNX file's metadata that stand for them if they are absent (mjlab,
#: holosoma).
KEYS: Mapping[str, tuple[str, ...]] = {
    "network": (), "period": (), "joints": ("joint_names", "dof_names"), "default": ("default_joint_pos",),
    "kp": ("joint_stiffness", "kp"), "kd": ("joint_damping", "kd"), "action_scale": ("action_scale",),
    "action_limit": (), "clamp": (), "observation": ("observation_names",), "observation_limit": (), "imu": (),
    "gait": (),
}  # fmt: skip
#: [s] Time between two actions, unless a description gives another.
PERIOD = 0.02


@dataclass(frozen=True)
class Servo:
    """Servos of the policy's joints: torque kp (target − q) − kd v."""

    kp: Floats  # (n,) [N·m/rad]
    kd: Floats  # (n,) [N·m·s/rad]
    lower: Floats  # (n,) [rad] least target
    upper: Floats  # (n,) [rad] greatest target
    coordinates: Integers  # (n,) indices of the joints in a configuration
    dofs: Integers  # (n,) indices in a velocity


@dataclass(frozen=True)
class Description:
    """A policy on a model; ``read`` documents the file."""

    network: Path
    period: float  # [s] between two actions
    default: Floats  # (n,) [rad] posture that an action of zero commands
    action_scale: Floats  # (n,) [rad]
    action_limit: float  # greatest absolute value of an output; inf: unlimited
    observation_limit: float  # greatest absolute value of a scaled number of the observation
    terms: tuple[Term, ...]
    imu: Imu
    gait: Gait | None
    servo: Servo


def read(path: Path, model: Model) -> Description:
    """Return the description in a TOML file (docs/evaluate-a-policy.md), for a model.

    Raises:
        InputError: the file cannot be read, or a key or value is unknown, missing or of the wrong length.
        MissingExtraError: the package that loads the network is not installed.
    """
    table = Table(path)
    joints = table.joints(model)
    servos = {
        actuator.joint: actuator for actuator in model.actuators if actuator.bias[1] < 0.0 and actuator.gear == 1.0
    }
    file_kp = [servos[name].gain if name in servos else math.nan for name in joints]
    file_kd = [-servos[name].bias[2] if name in servos else 0.0 for name in joints]
    posture = [dict(model.posture).get(name, 0.0) for name in joints]
    kp = table.by_joint("kp", joints, file_kp, 0.0)
    if np.isnan(kp).any():
        lacking = ", ".join(name for name, value in zip(joints, kp, strict=True) if math.isnan(value))
        raise table.error("kp", f"give stiffness [N·m/rad]; the robot's file has no position actuators for {lacking}")
    bounds = np.array([_bounds(model, name, servos, table.switch("clamp")) for name in joints])
    return Description(
        network=table.network,
        period=table.number("period", PERIOD),
        default=table.by_joint("default", joints, posture),
        action_scale=table.by_joint("action_scale", joints, [1.0] * len(joints)),
        action_limit=table.number("action_limit", math.inf),
        observation_limit=table.number("observation_limit", math.inf),
        terms=table.terms(),
        imu=table.imu(model),
        gait=table.gait(),
        servo=Servo(
            kp, table.by_joint("kd", joints, file_kd, 0.0), bounds[:, 0], bounds[:, 1],
            np.array([model.coordinate(name) for name in joints]), np.array([model.dof(name) for name in joints]),
        ),
    )  # fmt: skip


def network_of(path: Path) -> Path:
    """Return the file of the network that a description names; raises InputError as ``read``."""
    return Table(path).network


class Table:
    """The keys of a description's file, completed by the metadata of its network."""

    def __init__(self, path: Path) -> None:
        try:
            self._given: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InputError(f"{path} cannot be read as the description of a policy: {error}") from error
        self._path = path
        for key in self._given:
            self.known(key, KEYS, "key")
        if not isinstance(self._given.get("network"), str):
            raise self.error("network", "name the file of the network, .onnx or .pt")
        self.network = path.parent / self._given["network"]
        metadata = load_network(self.network).metadata
        for key, names in KEYS.items():
            for name in names:
                if name in metadata:
                    self._given.setdefault(key, values_in(metadata[name]))

    def error(self, key: str, meaning: str) -> InputError:
        """Return an error about the value of a key."""
        value = self._given.get(key, [])
        given = "" if isinstance(value, list) else f" = {value!r}"  # lists are long
        return InputError(f"{self._path}: {key}{given}: {meaning}")

    def known(self, name: Any, names: Any, what: str) -> str:
        """Return a name that is in ``names``; raises InputError for any other."""
        if name not in names:
            raise InputError(f"{self._path}: {unknown(what, str(name), names)}")
        return str(name)

    def joints(self, model: Model) -> list[str]:
        """Return the names of all joints, in the order of the network."""
        given = self._given.get("joints", list(model.joint_names))
        if not isinstance(given, list):
            raise self.error("joints", "it must be a list of the names of all joints")
        names = [self.known(name, model.joint_names, "joint") for name in given]
        wrong = {name: names.count(name) for name in model.joint_names if names.count(name) != 1}
        if wrong:
            counts = ", ".join(f"{name} ({count} times)" for name, count in [*wrong.items()][:3])
            more = ", …" * (len(wrong) > 3)
            raise self.error("joints", f"it must name each joint of {model.name!r} once, but has {counts}{more}")
        return names

    def switch(self, key: str) -> bool | None:
        """Return true, false or None for an absent key."""
        value = self._given.get(key, None)
        if value is not None and not isinstance(value, bool):
            raise self.error(key, "it must be true or false")
        return value

    def table(self, key: str, keys: tuple[str, ...]) -> dict[str, Any]:
        """Return a table that has some of these keys; empty if it is absent."""
        value = self._given.get(key, {})
        if not isinstance(value, Mapping):
            raise self.error(key, f"it must be a table with {', '.join(keys)}")
        for name in value:
            self.known(name, keys, f"key of {key}")
        return dict(value)

    def numbers(self, key: str, value: Any, count: int | None = None) -> Floats:
        """Return a list of numbers, ``count`` if given."""
        values = value if isinstance(value, list | tuple) else [value]
        if not all(map(is_finite, values)) or count not in (None, len(values)):
            what = "numbers" if count is None else f"{count} numbers"
            raise self.error(key, f"{value!r}: it must be {what}")
        return np.array(values, dtype=np.float64)

    def number(self, key: str, default: float) -> float:
        """Return a number above zero."""
        value = self._given.get(key, default)
        if value is not default and not (is_finite(value) and value > 0.0):
            raise self.error(key, "it must be a finite number above zero")
        return float(value)

    def by_joint(self, key: str, joints: list[str], default: list[float], least: float = -math.inf) -> Floats:
        """Return a number for each joint: from one number, a list, or a table with patterns; later ones win."""
        value = self._given.get(key, default)
        if isinstance(value, Mapping):
            try:
                resolved = by_joint(value, key, joints)
            except ModelError as error:
                raise InputError(f"{self._path}: {error}") from error
            lacking = [joint for joint in joints if joint not in resolved]
            if lacking:
                raise self.error(key, f"no pattern fits {', '.join(lacking)}; add them")
            value = [resolved[joint] for joint in joints]
        values = np.array(value if isinstance(value, list) else [value] * len(joints), dtype=object)
        if value is not default and (len(values) != len(joints) or not all(map(is_finite, values))):
            raise self.error(key, f"it must be a number, {len(joints)} numbers, or a table with one for each joint")
        if (values < least).any():
            raise self.error(key, f"it must not be below {least:g}")
        return values.astype(np.float64)

    def terms(self) -> tuple[Term, ...]:
        """Return the terms of the observation."""
        given = self._given.get("observation", None)
        if not isinstance(given, list) or not given:
            raise self.error("observation", f"list its terms: {', '.join(TERMS)}")
        terms = []
        for item in given:
            fields = item if isinstance(item, Mapping) else {"term": item}
            for key in fields:
                self.known(key, ("term", "scale", "history"), "key of a term")
            name = ALIASES.get(str(fields.get("term")), str(fields.get("term")))
            history = fields.get("history", 1)
            if type(history) is not int or history < 1:
                raise self.error("observation", f"{name}: history must be a whole number above zero")
            scale = self.numbers("observation", fields.get("scale", 1.0))
            terms.append(Term(self.known(name, TERMS, "term"), scale, history))
        if any(term.name.startswith("phase") for term in terms) and "gait" not in self._given:
            raise self.error("gait", "the terms phase_… need it: { period = 0.8, offsets = [0.0, 0.5] }")
        return tuple(terms)

    def imu(self, model: Model) -> Imu:
        """Return the inertial measurement unit: by default the origin of the model's root."""
        given = self.table("imu", ("body", "point"))
        body = self.known(given.get("body", model.root.name), model.body_names, "body")
        place = self.numbers("imu", given.get("point", (0.0, 0.0, 0.0)), 3)
        return Imu(body, place - np.array(model.bodies[model.body_index(body)].com))

    def gait(self) -> Gait | None:
        """Return the clock of the gait; None without one."""
        given = self.table("gait", ("period", "offsets", "standing"))
        if "gait" not in self._given:
            return None
        if not is_finite(given.get("period")) or given["period"] <= 0.0:
            raise self.error("gait", "it needs period, a number of seconds above zero")
        offsets = self.numbers("gait", given.get("offsets", [0.0]))
        standing = self.numbers("gait", given["standing"], len(offsets)) if "standing" in given else None
        return Gait(given["period"], offsets, standing)


def _bounds(model: Model, joint: str, servos: Mapping[str, Actuator], clamp: bool | None) -> tuple[float, float]:
    """Return the least and the greatest target of a joint: its range, that of its servo's control, or no limits."""
    if clamp:
        of = model.bodies[model.joint_index(joint)].joint
        return of.lower, of.upper
    limits = servos[joint].ctrl_range if clamp is None and joint in servos else None
    return limits or (-math.inf, math.inf)
