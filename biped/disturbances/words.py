"""Recorded disturbances of a run, in words."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from biped.model.geometry import Vector3
from biped.model.strength import NOBODY

#: Where a horizontal push drives the model, from the way that it looks on in steps of 45° to its left.
DIRECTIONS = (
    "forwards", "forwards and left", "to the left", "backwards and left", "backwards", "backwards and right",
    "to the right", "forwards and right",
)  # fmt: skip
Record = Mapping[str, Any]


def in_words(disturbances: Iterable[Record], facing: Vector3) -> list[str]:
    """One phrase for each kind of disturbance, in the order in which they are recorded.

    Args:
        disturbances: as ``Run.disturbances``.
        facing: of the model.
    """
    phrases = (_WORDS[record["kind"]](record, facing) for record in disturbances)
    return list(dict.fromkeys(phrase for phrase in phrases if phrase))


def direction_in_words(direction: Iterable[float], facing: Vector3) -> str:
    """A direction in the world: ``forwards``, ``to the left``, … of a model that looks along ``facing``."""
    x, y, z = direction
    if abs(z) > math.hypot(x, y):
        return "upwards" if z > 0.0 else "downwards"
    forwards, left = x * facing[0] + y * facing[1], y * facing[0] - x * facing[1]
    angle = math.degrees(math.atan2(left, forwards)) % 360.0
    near = round(angle / 45.0) % 8
    off = angle - 45.0 * round(angle / 45.0)
    return DIRECTIONS[near] if abs(off) < 0.5 else f"at {angle:.0f}° from forwards to the left"


def _push(push: Record, facing: Vector3) -> str:
    where = direction_in_words(push["direction"], facing)
    return f"a push of {push['impulse']:g} N·s {where} at {push['start']:g} s, for {push['duration']:g} s"


def _force(force: Record, facing: Vector3) -> str:
    signal = force["signal"]
    span = f"from {signal['begins']:g} to {signal['ends']:g} s"
    if signal["least"] < 0.0 < signal["most"]:
        return f"a varying force {span}"
    size = max(signal["most"], -signal["least"])
    sign = 1.0 if signal["most"] > 0.0 else -1.0
    return f"a force of {size:g} N {direction_in_words([sign * c for c in force['direction']], facing)} {span}"


def _platform(platform: Record, _: Vector3) -> str:
    """A platform's motion in words, along the axes that move; displacements in mm, rotations in degrees."""
    parts = []
    for axis in ("x", "y", "z", "roll", "pitch", "yaw"):
        signal = platform[axis]
        if signal is not None:
            least, most = signal["least"], signal["most"]
            if len(axis) == 1:
                text = f"{_travel(1e3 * least, 1e3 * most, ' mm')} along {axis}"
            else:
                text = f"{_travel(math.degrees(least), math.degrees(most), '°')} of {axis}"
            parts.append(f"{text} from {signal['begins']:g} to {signal['ends']:g} s")
    return f"a floor that moves by {', '.join(parts)}"


def _sway_referenced(floor: Record, _: Vector3) -> str:
    gain = "" if floor["gain"] == 1.0 else f", {floor['gain']:g} times as far"
    return f"a floor that turns with the body{gain}"


def _travel(least: float, most: float, unit: str) -> str:
    """How far from where it was: to one side, as far to both, or between two ends."""
    if math.isclose(-least, most, rel_tol=1e-3):
        return f"±{most:.4g}{unit}"
    if least * most == 0.0:
        return f"{most or least:.4g}{unit}"
    return f"{least:.4g} … {most:.4g}{unit}"


def _throw(throw: Record, facing: Vector3) -> str:
    speed = math.hypot(*throw["velocity"])
    x, y, _ = throw["velocity"]
    where = direction_in_words((x, y, 0.0), facing)
    return f"a block of {throw['mass']:g} kg thrown {where} at {speed:.3g} m/s"


def _patch(patch: Record, _: Vector3) -> str:
    return f"a patch of floor with friction {patch['floor']['mu_s']:g}"


def _load(load: Record, _: Vector3) -> str:
    return f"a load of {load['mass']:g} kg on the {load['body'].replace('_', ' ')}"


def _sensors(sensors: Record, _: Vector3) -> str:
    noisy = any(value for name, value in sensors.items() if name.endswith("_noise"))
    own = any(value for name, value in sensors.items() if name.endswith("_delay"))
    blunt = any(value for name, value in sensors.items() if name.endswith("_threshold"))
    delay = f"sensors delayed by {1e3 * sensors['delay']:g} ms" if sensors["delay"] else ""
    parts = (
        delay, "channels with delays of their own" if own else "", "sensor noise" if noisy else "",
        "thresholds of the senses" if blunt else "",
    )  # fmt: skip
    return " and ".join(filter(None, parts))


def _actuators(actuators: Record, _: Vector3) -> str:
    limit = actuators["limit"]
    limited = f"torques limited to {limit:g} N·m" if isinstance(limit, (int, float)) else "limited torques"
    noisy = actuators["noise"] or actuators["relative_noise"]
    people, lag = actuators.get("strength", NOBODY), actuators.get("time_constant", 0.0)
    strength = "" if people == NOBODY else f"the strength of {people.replace('-', ' ')}"
    late = f"torques with a lag of {1e3 * lag:g} ms" if lag else ""
    parts = ("" if limit == "inf" else limited, strength, late, "noisy torques" if noisy else "")
    return " and ".join(filter(None, parts))


_WORDS: dict[str, Callable[[Record, Vector3], str]] = {
    "push": _push, "force": _force, "platform": _platform, "swayreferenced": _sway_referenced, "throw": _throw,
    "patch": _patch, "load": _load, "sensors": _sensors, "actuators": _actuators,
}  # fmt: skip
