"""Disturbances drawn at random: does anything break, and what does a controller do that was not made for them?"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from biped.checks import above_zero
from biped.disturbances import Actuators, Disturbance, Force, Load, Patch, Platform, Push, Sensors, Throw, random_forces
from biped.signals import Signal
from biped.simulation.clock import DEFAULT_PERIOD
from contact import RUBBER

Random = np.random.Generator

#: Each kind is drawn with this probability.
SHARE = 0.35
BODIES = ("trunk", "left_thigh", "right_thigh", "left_shank", "right_shank", "left_foot", "right_foot")


class Times(NamedTuple):
    """How long a run lasts, and its controller's period [s]."""

    duration: float
    period: float


def random_disturbances(
    seed: int, present: Sequence[Disturbance] = (), duration: float = 3.0, period: float = DEFAULT_PERIOD
) -> tuple[Disturbance, ...]:
    """Some disturbances of a human that stands for ``duration`` [s], from harmless to hopeless; the same for a seed.

    A kind of which there can be one only is left out where there is one among the ``present`` ones. Delays are whole
    numbers of the controller's ``steps_per_tick`` [s].
    """
    above_zero(duration, "duration of random disturbances")
    random = np.random.default_rng(seed)
    found: list[Disturbance] = []
    for make in (_push, _push, _force, _noise, _platform, _patch, _load, _throw, _sensors, _actuators):
        wanted = random.random() < SHARE
        drawn = make(random, Times(duration, period))
        if wanted and not any(isinstance(d, type(drawn[0])) and isinstance(d, SINGLE) for d in present):
            found += drawn
    return tuple(found)


SINGLE = (Platform, Throw, Sensors, Actuators)


def _direction(random: Random) -> tuple[float, float, float]:
    x, y, z = (float(c) for c in random.normal(size=3))
    return x, y, z


def _point(random: Random) -> tuple[float, float, float]:
    x, y, z = (float(c) for c in random.uniform(-0.1, 0.1, 3))
    return x, y, z


def _size(random: Random, least: float, most: float) -> float:
    """Evenly distributed in its logarithm."""
    return float(math.exp(random.uniform(math.log(least), math.log(most))))


def _push(random: Random, times: Times) -> list[Disturbance]:
    body = str(random.choice(BODIES))
    waveform = ("rectangle", "half-sine")[int(random.integers(2))]
    size, start, span = _size(random, 0.3, 60.0), float(random.uniform(0.0, times.duration)), _size(random, 1e-3, 0.5)
    return [Push(body, _direction(random), size, start, span, waveform, _point(random))]  # type: ignore[arg-type]


def _force(random: Random, times: Times) -> list[Disturbance]:
    signal = Signal.rectangle(
        _size(random, 1.0, 200.0), float(random.uniform(0.0, times.duration)), _size(random, 0.05, 3.0)
    )
    return [Force(str(random.choice(BODIES)), _direction(random), signal, _point(random))]


def _noise(random: Random, times: Times) -> list[Disturbance]:
    size, seed = _size(random, 1.0, 80.0), int(random.integers(2**31))
    return list(random_forces("trunk", size, seed, interval=_size(random, 2e-3, 0.2), duration=times.duration))


def _platform(random: Random, times: Times) -> list[Disturbance]:
    start = float(random.uniform(0.0, times.duration / 2.0))
    signals: dict[str, Any] = {}
    for axis in Platform.AXES:
        if random.random() < 0.4:
            size = _size(random, 1e-3, 0.15)
            kind = int(random.integers(3))
            if kind == 0:
                signals[axis] = Signal.step(size, start, _size(random, 0.05, 1.0))
            elif kind == 1:
                signals[axis] = Signal.sine(
                    size, _size(random, 0.1, 5.0), start, times.duration, fade=0.1 * times.duration
                )
            else:
                seed = int(random.integers(26))
                signals[axis] = Signal.ternary(size, _size(random, 0.02, 0.3), 3, start, 1, seed)
    return [Platform(**(signals or {"x": Signal.step(0.01, start, 0.2)}))]


def _patch(random: Random, _: Times) -> list[Disturbance]:
    x, y = float(random.uniform(-0.3, 0.1)), float(random.uniform(-0.4, 0.2))
    mu = _size(random, 0.005, 0.5)
    floor = RUBBER.with_(mu_s=mu, mu_d=mu, k_n=RUBBER.k_n * _size(random, 0.3, 3.0))
    return [Patch((x, x + _size(random, 0.05, 1.0)), (y, y + _size(random, 0.05, 1.0)), floor)]


def _load(random: Random, _: Times) -> list[Disturbance]:
    return [Load(str(random.choice(BODIES)), _size(random, 0.1, 30.0), _point(random))]


def _throw(random: Random, _: Times) -> list[Disturbance]:
    azimuth, mass = float(random.uniform(0.0, 2.0 * math.pi)), _size(random, 0.2, 10.0)
    edge = (mass / 1000.0) ** (1.0 / 3.0)
    point = (0.0, float(random.uniform(-0.1, 0.1)), float(random.uniform(0.9, 1.3)))
    way = (math.cos(azimuth), math.sin(azimuth), 0.0)
    speed, flight = _size(random, 1.0, 15.0), float(random.uniform(0.35, 0.4))
    return [Throw.at(point, speed, way, mass=mass, size=(edge, edge, edge), flight=flight)]


def _sensors(random: Random, times: Times) -> list[Disturbance]:
    sizes = {name: _size(random, 1e-5, 1e-2) for name in ("position_noise", "orientation_noise", "joint_noise")}
    rates = {name: _size(random, 1e-3, 0.3) for name in ("velocity_noise", "joint_rate_noise")}
    return [Sensors(delay=times.period * int(random.integers(12)), seed=int(random.integers(2**31)), **sizes, **rates)]


def _actuators(random: Random, _: Times) -> list[Disturbance]:
    sizes = {"limit": _size(random, 20.0, 400.0), "noise": _size(random, 0.01, 20.0)}
    return [Actuators(**sizes, relative_noise=_size(random, 1e-3, 0.3), seed=int(random.integers(2**31)))]
