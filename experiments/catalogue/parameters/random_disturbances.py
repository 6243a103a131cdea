"""Random disturbances, to test controllers and the simulation under unforeseen conditions."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from biped.disturbances import Actuators, Disturbance, Force, Load, Patch, Platform, Push, Sensors, Throw, random_forces
from biped.disturbances.sensors import ProprioceptiveChannel, VestibularChannel, VisualChannel
from biped.inputs.checks import above_zero
from biped.model import Model, human
from biped.runs.postures import STANDING_TRUNK
from biped.signals import Signal
from biped.simulation.clock import DEFAULT_PERIOD
from contact import RUBBER

Random = np.random.Generator

#: Probability of each disturbance.
SHARE = 0.35
#: Least mass of a disturbed body, as a share of the whole mass.
HEAVY = 0.01


class Case(NamedTuple):
    """Model to be disturbed, height of its root's centre of mass [m], duration of the run [s], control period [s]."""

    model: Model
    height: float
    duration: float
    period: float

    @property
    def root(self) -> str:
        return self.model.root.name

    @property
    def bodies(self) -> list[str]:
        """Names of the bodies that may be disturbed, the heaviest first."""
        heavy = [body for body in self.model.bodies if body.mass >= HEAVY * self.model.total_mass]
        return [body.name for body in sorted(heavy, key=lambda body: -body.mass)]


def random_disturbances(
    seed: int,
    present: Sequence[Disturbance] = (),
    duration: float = 3.0,
    period: float = DEFAULT_PERIOD,
    model: Model | None = None,
    height: float = STANDING_TRUNK[2],
) -> tuple[Disturbance, ...]:
    """Return random disturbances of a standing model, from harmless to hopeless; reproducible by the seed.

    A kind that may occur only once is left out if ``present`` has it; blocks are left out if the root has no box to
    hit. Delays are multiples of the controller's ``period`` [s]. The default model is the human; the root of another
    model stands at ``height`` [m].
    """
    above_zero(duration, "duration of random disturbances")
    random = np.random.default_rng(seed)
    case = Case(model or human(), height, duration, period)
    absent = () if any(shape.body == case.root for shape in case.model.shapes) else (Throw,)
    chosen: list[Disturbance] = []
    for make in (_push, _push, _force, _noise, _platform, _patch, _load, _throw, _sensors, _actuators):
        is_chosen = random.random() < SHARE
        drawn = make(random, case)
        taken = any(isinstance(d, type(drawn[0])) and isinstance(d, SINGLE) for d in present)
        if is_chosen and not taken and not isinstance(drawn[0], absent):
            chosen += drawn
    return tuple(chosen)


SINGLE = (Platform, Throw, Sensors, Actuators)


def _direction(random: Random) -> tuple[float, float, float]:
    x, y, z = (float(c) for c in random.normal(size=3))
    return x, y, z


def _point(random: Random) -> tuple[float, float, float]:
    x, y, z = (float(c) for c in random.uniform(-0.1, 0.1, 3))
    return x, y, z


def _size(random: Random, least: float, most: float) -> float:
    """Return a random size, uniform in its logarithm."""
    return float(math.exp(random.uniform(math.log(least), math.log(most))))


def _push(random: Random, case: Case) -> list[Disturbance]:
    body = str(random.choice(case.bodies))
    waveform = ("rectangle", "half-sine")[int(random.integers(2))]
    size, start, span = _size(random, 0.3, 60.0), float(random.uniform(0.0, case.duration)), _size(random, 1e-3, 0.5)
    return [Push(body, _direction(random), size, start, span, waveform, _point(random))]  # type: ignore[arg-type]


def _force(random: Random, case: Case) -> list[Disturbance]:
    signal = Signal.rectangle(
        _size(random, 1.0, 200.0), float(random.uniform(0.0, case.duration)), _size(random, 0.05, 3.0)
    )
    return [Force(str(random.choice(case.bodies)), _direction(random), signal, _point(random))]


def _noise(random: Random, case: Case) -> list[Disturbance]:
    size, seed = _size(random, 1.0, 80.0), int(random.integers(2**31))
    return list(random_forces(case.root, size, seed, interval=_size(random, 2e-3, 0.2), duration=case.duration))


def _platform(random: Random, case: Case) -> list[Disturbance]:
    start = float(random.uniform(0.0, case.duration / 2.0))
    signals: dict[str, Any] = {}
    for axis in Platform.AXES:
        if random.random() < 0.4:
            size = _size(random, 1e-3, 0.15)
            kind = int(random.integers(3))
            if kind == 0:
                signals[axis] = Signal.step(size, start, _size(random, 0.05, 1.0))
            elif kind == 1:
                signals[axis] = Signal.sine(
                    size, _size(random, 0.1, 5.0), start, case.duration, fade=0.1 * case.duration
                )
            else:
                seed = int(random.integers(26))
                signals[axis] = Signal.ternary(size, _size(random, 0.02, 0.3), 3, start, 1, seed)
    return [Platform(**(signals or {"x": Signal.step(0.01, start, 0.2)}))]


def _patch(random: Random, _: Case) -> list[Disturbance]:
    x, y = float(random.uniform(-0.3, 0.1)), float(random.uniform(-0.4, 0.2))
    mu = _size(random, 0.005, 0.5)
    floor = RUBBER.with_(mu_s=mu, mu_d=mu, k_n=RUBBER.k_n * _size(random, 0.3, 3.0))
    return [Patch((x, x + _size(random, 0.05, 1.0)), (y, y + _size(random, 0.05, 1.0)), floor)]


def _load(random: Random, case: Case) -> list[Disturbance]:
    return [Load(str(random.choice(case.bodies)), _size(random, 0.1, 30.0), _point(random))]


def _throw(random: Random, case: Case) -> list[Disturbance]:
    azimuth, mass = float(random.uniform(0.0, 2.0 * math.pi)), _size(random, 0.2, 10.0)
    edge = (mass / 1000.0) ** (1.0 / 3.0)
    point = (0.0, float(random.uniform(-0.1, 0.1)), float(random.uniform(0.9, 1.3)) * (case.height / STANDING_TRUNK[2]))
    way = (math.cos(azimuth), math.sin(azimuth), 0.0)
    speed, flight = _size(random, 1.0, 15.0), float(random.uniform(0.35, 0.4))
    return [Throw.at(point, speed, way, mass=mass, size=(edge, edge, edge), flight=flight, target=case.root)]


def _sensors(random: Random, case: Case) -> list[Disturbance]:
    position, orientation, joint = (_size(random, 1e-5, 1e-2) for _ in range(3))
    velocity, joint_rate = (_size(random, 1e-3, 0.3) for _ in range(2))
    return [
        Sensors(
            delay=case.period * int(random.integers(12)),
            seed=int(random.integers(2**31)),
            vestibular=VestibularChannel(orientation_noise=orientation),
            visual=VisualChannel(position_noise=position, velocity_noise=velocity),
            proprioceptive=ProprioceptiveChannel(joint_noise=joint, joint_rate_noise=joint_rate),
        )
    ]


def _actuators(random: Random, _: Case) -> list[Disturbance]:
    limit, noise, share = _size(random, 20.0, 400.0), _size(random, 0.01, 20.0), _size(random, 1e-3, 0.3)
    return [Actuators(limit=limit, noise=noise, relative_noise=share, seed=int(random.integers(2**31)))]
