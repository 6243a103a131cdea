"""Imperfect sensors between the simulated system and its controller, by human sensory channel."""

import math
from dataclasses import dataclass, field, fields, replace

import numpy as np

from biped.disturbances.disturbance import Disturbance, Record
from biped.disturbances.sensors.channel import (
    AnkleChannel,
    Channel,
    ForceChannel,
    ProprioceptiveChannel,
    VestibularChannel,
    VisualChannel,
)
from biped.disturbances.sensors.row import Row
from biped.errors import InputError
from biped.inputs.checks import integer, zero_or_above
from biped.inputs.fields import quantity, replaced
from biped.kernels.loop import measurement as kernels
from biped.model import Model
from biped.model.errors import unknown
from biped.model.geometry import Vector3
from contact.arrays import Floats, Integers

#: State estimator between sensors and controller.
AUTO, KALMAN, NO_ESTIMATOR = "auto", "kalman", "none"
#: Longest delay [control periods].
MOST_TICKS = 100_000


@dataclass(frozen=True)
class Sensors(Disturbance):
    """Sensors with delay, noise and dead zones between the simulated system and its controller.

    Each channel measures some components of the state. For a component x the measured value is

        x_0 + D(x + σ n − x_0),  σ = noise + relative_noise ``|x − x_0|``,

    where x is the component ``delay`` ago, x_0 its value at the start of the run (zero for forces), n standard normal
    noise, and D(y) a dead zone: zero for ``|y|`` up to the threshold, and y ∓ threshold outside. Before the delay has
    passed, x is x_0. For an orientation, x − x_0 is the rotation vector from the initial orientation, in world axes.

    With a ``time_constant`` T, a channel has coloured noise, n_{k+1} = a n_k + √(1 − a²) w_k, with a = e^{−Δt/T}, white
    noise w and control period Δt; its spectrum is flat up to 1/(2π T) Hz. With T = 0, n is new at each control tick.

    Raises:
        InputError: a number is negative or not finite.
    """

    delay: float = quantity("s", "Sensory delay of all channels except force, a whole number of control periods", 0.0)
    vestibular: VestibularChannel = field(default=VestibularChannel())
    visual: VisualChannel = field(default=VisualChannel())
    proprioceptive: ProprioceptiveChannel = field(default=ProprioceptiveChannel())
    ankles: AnkleChannel = field(default=AnkleChannel())
    force: ForceChannel = field(default=ForceChannel())
    seed: int = quantity("", "Seed of the sensor noise", 0)
    estimator: str = quantity(
        "", "State estimator between sensors and controller; auto: kalman, except for models of sensory feedback", AUTO,
        choices=(AUTO, KALMAN, NO_ESTIMATOR),
    )  # fmt: skip

    def __post_init__(self) -> None:
        zero_or_above(self.delay, "sensors.delay")
        integer(self.seed, "sensors.seed")
        if self.estimator not in (AUTO, KALMAN, NO_ESTIMATOR):
            raise unknown("sensors.estimator", self.estimator, (AUTO, KALMAN, NO_ESTIMATOR))
        for name, channel in self.channels.items():
            for number, value in vars(channel).items():
                zero_or_above(value, f"sensors.{name}.{number}")

    @property
    def channels(self) -> dict[str, Channel]:
        """Channels by name."""
        return {item.name: value for item in fields(self) if isinstance(value := getattr(self, item.name), Channel)}

    @staticmethod
    def preset(name: str, seed: int = 0) -> "Sensors":
        """Return sensors by the name of a preset.

        Delays and thresholds of ``eyes-open`` and ``eyes-closed`` are those with which the DEC model (Mergner and
        co-workers, 2015) balances as people do: 0.15 and 0.16 s, 0.03° and 0.07° of orientation in space, 0.20°/s and
        0.33°/s of its rate. Noise of the joint angles is near that of perceived sway (Fitzpatrick and McCloskey 1994).
        Signal-dependent noise is within published discrimination thresholds (Huang et al. 2023; Nouri and Karmali 2018;
        Nash et al. 2016). All else was fitted to the sway of people in quiet stance, with the controllers ``person``
        and ``postural`` (docs/sensors-and-actuators.md):

        - ``eyes-closed``: the visual channel has twice the noise of eyes open.
        - ``foam``: as eyes open, with eight times the visual, three times the vestibular and twice the proprioceptive
          noise, and a time constant of 0.7 s.
        - ``vestibular-loss``: as eyes open, with ten times the vestibular noise, its time constant 0.1 s, and
          thresholds of 5° and 5°/s; these are our choice.
        - ``young``: as eyes open.
        - ``old``: as eyes open, with 40 ms more delay, two and a half times the vestibular noise (Bermúdez Rey et al.
          2016), 1.25 times the visual and proprioceptive noise, and twice the thresholds (our choice).

        Raises:
            ModelError: no preset has this name.
        """
        if name not in PRESETS:
            raise unknown("sensor preset", name, PRESETS)
        return replace(PRESETS[name], seed=seed)

    @property
    def is_noisy(self) -> bool:
        """True if any channel has noise."""
        channels = self.channels.values()
        return any(value > 0.0 for group in channels for name, value in vars(group).items() if name.endswith("noise"))

    @property
    def is_imperfect(self) -> bool:
        """True if the measurements of the motion can differ from the present state."""
        channels = (channel for name, channel in self.channels.items() if name != "force")
        ideal = ("time_constant",)
        return self.delay > 0.0 or any(
            value > 0.0 for channel in channels for name, value in vars(channel).items() if name not in ideal
        )

    @classmethod
    def in_words(cls, record: Record, facing: Vector3) -> str:
        """Return a phrase with the common delay and the kinds of other imperfections."""
        numbers = [item for channel in record.values() if isinstance(channel, dict) for item in channel.items()]
        delay = f"sensors delayed by {1e3 * record['delay']:g} ms" if record["delay"] else ""
        parts = {
            "delay": "additional delays of single channels",
            "noise": "sensor noise",
            "threshold": "sensory thresholds",
        }
        rest = (text for end, text in parts.items() if any(value for name, value in numbers if name.endswith(end)))
        return " and ".join(filter(None, (delay, *rest)))

    def compile(self, model: Model, period: float, offset: Floats) -> kernels.SensorModel:
        """Return the sensor model for the kernels.

        Args:
            model: the simulated model.
            period: [s] between two control ticks.
            offset: (3,) [m] vector from the root's centre of mass to that which the controller assumes, root axes.

        Raises:
            InputError: a delay is not a whole number of control periods, or is too long.
        """
        row = Row(model)
        noise, share, constant, threshold = np.zeros((4, row.width))
        for channel in self.channels.values():
            for places, deviation, dead in channel.entries(row):
                noise[places] += deviation
                share[places] += channel.relative_noise
                constant[places] += channel.time_constant
                threshold[places] += dead
        kept = np.array([math.exp(-period / time) if time > 0.0 else 0.0 for time in constant])
        late = self._ticks(model, period)
        seed, depth = np.array([self.seed]), np.array([1 + late.max(initial=0)])
        return kernels.SensorModel(seed, depth, *row.kinds(), late, noise, share, kept, threshold, offset)

    def delays(self, model: Model) -> Floats:
        """Return the delays [s] of all numbers in a row: configuration, velocity, forces, contact states."""
        row = Row(model)
        total = np.zeros(row.width)
        for channel in self.channels.values():
            for places, _, _ in channel.entries(row):
                total[places] += channel.delay + (self.delay if channel.shares_delay else 0.0)
        return total

    def _ticks(self, model: Model, period: float) -> Integers:
        """Return the delays of all numbers in a row [control ticks]."""
        delays = {"delay": self.delay} | {f"{name}.delay": channel.delay for name, channel in self.channels.items()}
        for name, delay in delays.items():
            _check_ticks(name, delay, period)
        return np.round(self.delays(model) / period).astype(np.int64)


def shared_delay(sensors: kernels.SensorModel) -> int:
    """Return the common delay [control ticks] of configuration and velocity.

    Raises:
        InputError: delays differ, or a channel has a threshold, so that the closed loop is not differentiable.
    """
    if sensors.late.size == 0:
        return 0
    motion = sensors.late.size - 4 * np.count_nonzero(sensors.kind == kernels.FORCE) // 3
    late = sensors.late[:motion]
    if (late != late[0]).any() or sensors.threshold[:motion].any():
        raise InputError(
            "a control loop with sensory thresholds or different delays has no derivative: set one delay, no threshold"
        )
    return int(late[0])


def is_noisy(sensors: kernels.SensorModel) -> bool:
    """Return True if the sensor model adds noise to the measurements."""
    return bool(sensors.noise.any() or sensors.share.any())


def _check_ticks(name: str, delay: float, period: float) -> None:
    ticks = round(delay / period)
    if ticks > MOST_TICKS:
        raise InputError(f"sensors.{name} = {delay:g} s: it must be at most {MOST_TICKS} control periods")
    if abs(ticks * period - delay) > 1e-9 * max(period, delay):
        low = int(delay / period)
        raise InputError(
            f"sensors.{name} = {delay:g} s: it must be a whole number of control periods of {period:g} s; "
            f"use {low * period:g} or {(low + 1) * period:g} s"
        )


_DEGREE = math.pi / 180.0
#: Joints: perceived sway of 3 mrad at 75 % correct is 0.67 SD (Fitzpatrick and McCloskey 1994). Relative noise: Nash
#: et al. (2016), Nouri and Karmali (2018), Huang et al. (2023). Others of vision, graviception and proprioception:
#: fitted to people's quiet stance; those of the force are our choice.
_NOISE = {
    "visual.position_noise": 9e-3, "visual.velocity_noise": 2.5e-3,
    "vestibular.orientation_noise": 2.5e-3, "vestibular.angular_velocity_noise": 1.5e-3,
    "proprioceptive.joint_noise": 5e-3, "proprioceptive.joint_rate_noise": 3e-3, "force.noise": 1.0,
    "visual.relative_noise": 0.08, "vestibular.relative_noise": 0.05, "proprioceptive.relative_noise": 0.04,
    "force.relative_noise": 0.01, "force.time_constant": 0.1,
}  # fmt: skip


def _slow(time: float) -> dict[str, float]:
    return {f"{channel}.time_constant": time for channel in ("visual", "vestibular", "proprioceptive")}


def _thresholds(angle: float, rate: float) -> dict[str, float]:
    return {
        "vestibular.orientation_threshold": angle * _DEGREE, "vestibular.angular_velocity_threshold": rate * _DEGREE,
    }  # fmt: skip


def _late(delay: float) -> dict[str, float]:
    return {"delay": delay, "force.delay": delay}


def _times(factor: float, *names: str) -> dict[str, float]:
    return {name: factor * _OPEN[name] for name in names}


_OPEN = _late(0.15) | _NOISE | _slow(2.0) | _thresholds(0.03, 0.20)
_SIGHT = ("visual.position_noise", "visual.velocity_noise")
_JOINTS = ("proprioceptive.joint_noise", "proprioceptive.joint_rate_noise")
_TURNS = ("vestibular.orientation_noise", "vestibular.angular_velocity_noise")

#: Sensors of people by preset; ``Sensors.preset`` gives the sources.
PRESETS: dict[str, Sensors] = {
    name: replaced(Sensors(), _OPEN | changes)
    for name, changes in {
        "eyes-open": {},
        "eyes-closed": _late(0.16) | _thresholds(0.07, 0.33) | _times(2.0, *_SIGHT),
        "foam": _times(8.0, *_SIGHT) | _times(3.0, *_TURNS) | _times(2.0, *_JOINTS) | _slow(0.7),
        "vestibular-loss": _times(10.0, *_TURNS) | _thresholds(5.0, 5.0) | {"vestibular.time_constant": 0.1},
        "young": {},
        "old": _times(1.25, *_SIGHT, *_JOINTS)
        | _times(2.5, *_TURNS)
        | _times(2.0, *_thresholds(0.0, 0.0))
        | _late(0.19),
    }.items()
}
