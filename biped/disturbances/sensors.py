"""Imperfect senses, between the simulated system and its controller, by channel as people have them."""

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from biped.errors import InputError
from biped.inputs.checks import whole, zero_or_above
from biped.kernels.loop import measurement as kernels
from biped.model import Model
from biped.model.errors import unknown

#: Control periods in a delay.
MOST_TICKS = 100_000
#: In the order in which the kernels have them.
CHANNELS = ("vestibular", "visual", "proprioceptive", "force")
_QUANTITIES = ("position", "orientation", "joint", "velocity", "angular_velocity", "joint_rate", "force")
_DEGREE = math.pi / 180.0


@dataclass(frozen=True)
class Sensors:
    """Senses that show the controller the state late, with noise, and not at all within a threshold.

    There are four channels: *vestibular*, the orientation and angular velocity of a floating root; *visual*, its place
    and velocity; *proprioceptive*, the joints, those of the ankles against the floor that the feet stand on; and
    *force*, the floor's forces on the contact points, and where it touches them. A root that does not float has the
    last two. Of each number x a channel shows

        x_0 + D(x + σ n − x_0),  σ = noise + relative_noise ``|x − x_0|``,

    with x of ``delay`` ago, x_0 what was shown at the start of the run (zero for forces), n standard normal noise, and
    D(y) = y ∓ threshold, zero between. Orientations are turned by rotation vectors, each component of which is such a
    number.

    With a ``time_constant`` T the noise of a channel is coloured: n_{k+1} = a n_k + √(1 − a²) w_k with a = e^{−Δt/T}
    and w white; its spectrum is flat up to 1/(2π T) Hz. Without one it is white, drawn anew at each control tick.

    Attributes:
        delay: [s] a whole number of control periods, of all channels but force; before it has passed, the state at the
            start is seen.
        position_noise: [m] standard deviation, of a floating root's place along each axis.
        orientation_noise: [rad] about each axis.
        joint_noise: [rad or m].
        velocity_noise: [m/s] along each axis.
        angular_velocity_noise: [rad/s] about each axis.
        joint_rate_noise: [rad/s or m/s].
        force_noise: [N] along each axis, at contact points that the floor pushes.
        seed: of the noise.
        vestibular_delay: [s] the channel's own, added to ``delay``.
        visual_delay: [s] likewise.
        proprioceptive_delay: [s] likewise.
        force_delay: [s] all of the channel's, to which ``delay`` is not added.
        vestibular_time_constant: [s] of the channel's noise; zero: white.
        visual_time_constant: [s] likewise.
        proprioceptive_time_constant: [s] likewise.
        force_time_constant: [s] likewise.
        vestibular_relative_noise: standard deviation as a share of the distance from the start.
        visual_relative_noise: likewise.
        proprioceptive_relative_noise: likewise.
        force_relative_noise: as a share of the force.
        position_threshold: [m] what of a number's distance from the start is not felt, along each axis.
        orientation_threshold: [rad] about each axis.
        joint_threshold: [rad or m].
        velocity_threshold: [m/s] along each axis.
        angular_velocity_threshold: [rad/s] about each axis.
        joint_rate_threshold: [rad/s or m/s].
        force_threshold: [N] along each axis.

    Raises:
        InputError: a number is negative or not finite.
    """

    delay: float = 0.0
    position_noise: float = 0.0
    orientation_noise: float = 0.0
    joint_noise: float = 0.0
    velocity_noise: float = 0.0
    angular_velocity_noise: float = 0.0
    joint_rate_noise: float = 0.0
    seed: int = 0
    force_noise: float = 0.0
    vestibular_delay: float = 0.0
    visual_delay: float = 0.0
    proprioceptive_delay: float = 0.0
    force_delay: float = 0.0
    vestibular_time_constant: float = 0.0
    visual_time_constant: float = 0.0
    proprioceptive_time_constant: float = 0.0
    force_time_constant: float = 0.0
    vestibular_relative_noise: float = 0.0
    visual_relative_noise: float = 0.0
    proprioceptive_relative_noise: float = 0.0
    force_relative_noise: float = 0.0
    position_threshold: float = 0.0
    orientation_threshold: float = 0.0
    joint_threshold: float = 0.0
    velocity_threshold: float = 0.0
    angular_velocity_threshold: float = 0.0
    joint_rate_threshold: float = 0.0
    force_threshold: float = 0.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name != "seed":
                zero_or_above(value, f"sensors.{name}")
        whole(self.seed, "sensors.seed")

    @classmethod
    def preset(cls, name: str, seed: int = 0) -> Self:
        """The senses of a person, by name.

        Delays and thresholds of ``eyes-open`` and ``eyes-closed`` are those with which disturbance estimation stands as
        people do (Mergner and co-workers' DEC, 2015): 0.15 and 0.16 s, 0.03° and 0.07° of orientation in space, 0.20°/s
        and 0.33°/s of its rate. Graviception is ten times as noisy as proprioception (van der Kooij and Peterka 2011);
        the sizes of noise themselves, its colour and shares are our choice, and so is all else:

        - ``eyes-closed``: the visual channel has five times the noise.
        - ``foam``: eyes open; proprioception is as noisy as graviception.
        - ``vestibular-loss``: eyes open; the vestibular channel has ten times the noise, and thresholds of 5° and 5°/s.
        - ``young``: eyes open.
        - ``old``: eyes open; 40 ms later, twice the noise and the thresholds.

        Raises:
            ModelError: there is none of this name.
        """
        if name not in _PRESETS:
            raise unknown("sense preset", name, _PRESETS)
        return replace(cls(**_PRESETS[name]), seed=seed)

    @property
    def is_noisy(self) -> bool:
        """Whether there is any noise."""
        return any(value > 0.0 for name, value in vars(self).items() if name.endswith("_noise"))

    @property
    def longest_delay(self) -> float:
        """[s] of all channels but force."""
        return self.delay + max(self.vestibular_delay, self.visual_delay, self.proprioceptive_delay)

    @property
    def has_one_delay(self) -> bool:
        """Whether all channels but force are as late."""
        return self.vestibular_delay == self.visual_delay == self.proprioceptive_delay

    def ticks(self, period: float) -> tuple[int, ...]:
        """The delays of all channels in control ticks.

        Raises:
            InputError: one is no whole number of them, or has too many.
        """
        shared = _ticks("delay", self.delay, period)
        own = {name: _ticks(f"{name}_delay", getattr(self, f"{name}_delay"), period) for name in CHANNELS}
        return tuple(ticks if name == "force" else shared + ticks for name, ticks in own.items())

    def room(self, model: Model, period: float) -> tuple[int, int]:
        """The shape of ``SimulationState.past``: the ticks of the longest delay, each as long as what is kept of it.

        Raises:
            InputError: as ``ticks``.
        """
        depth, width = 1 + max(self.ticks(period)), model.nq + model.nv
        if not self._has_channels:
            return depth, width
        # The start and the noise have rows of their own: the latter, a number for each that is drawn.
        return depth + 2, width + model.nv + 4 * model.nc

    def compile(self, period: float, offset: NDArray[np.float64]) -> kernels.SensorModel:
        """The kernels' sensor model; ``offset`` (3,) [m]: where the controller believes the root's centre of mass."""
        late = self.ticks(period)
        how = np.zeros(kernels.HOW, dtype=np.int64)
        how[kernels.SEED], how[kernels.LATE : kernels.LATE + len(late)] = self.seed, late
        how[kernels.DEPTH], how[kernels.BY_CHANNEL] = 1 + max(late), self._has_channels
        constants = self._of_channels("time_constant")
        kept = [math.exp(-period / constant) if constant > 0.0 else 0.0 for constant in constants]
        noise = [getattr(self, f"{name}_noise") for name in _QUANTITIES]
        threshold = [getattr(self, f"{name}_threshold") for name in _QUANTITIES]
        numbers = np.array([*noise, *self._of_channels("relative_noise"), *kept, *threshold], dtype=float)
        return kernels.SensorModel(how, numbers, offset)

    @property
    def _has_channels(self) -> bool:
        """Whether more is to be kept than the states that one delay has yet to show."""
        plain = ("delay", "seed", *(f"{name}_noise" for name in _QUANTITIES if name != "force"))
        return any(value for name, value in vars(self).items() if name not in plain)

    def _of_channels(self, what: str) -> list[float]:
        return [getattr(self, f"{name}_{what}") for name in CHANNELS]


def shared_delay(sensors: kernels.SensorModel) -> int:
    """[control ticks] by which configuration and velocity are shown late.

    Raises:
        InputError: they are not all as late, or are not shown within a threshold: no derivative of a closed loop knows.
    """
    late = sensors.how[kernels.LATE : kernels.LATE + kernels.FORCE]
    if sensors.how[kernels.PERFECT] == 1:
        return 0
    if (late != late[0]).any() or sensors.noise[kernels.THRESHOLD : kernels.THRESHOLD + kernels.PRESSURE].any():
        raise InputError(
            "senses with delays of their own or thresholds have no derivative: give all channels one delay"
        )
    return int(late[0])


def is_noisy(sensors: kernels.SensorModel) -> bool:
    """Whether what is shown is no function of the state."""
    return bool(sensors.noise[: kernels.KEPT].any())


def _ticks(name: str, delay: float, period: float) -> int:
    ticks = round(delay / period)
    if ticks > MOST_TICKS:
        raise InputError(f"sensors.{name} = {delay:g} s is more than {MOST_TICKS} control periods")
    if abs(ticks * period - delay) > 1e-9 * max(period, delay):
        low = int(delay / period)
        raise InputError(
            f"sensors.{name} = {delay:g} s is no whole number of control periods of {period:g} s; "
            f"the nearest: {low * period:g} or {(low + 1) * period:g} s"
        )
    return ticks


def _late(delay: float) -> dict[str, float]:
    return {"delay": delay, "force_delay": delay}


#: Of eyes open: sources in ``Sensors.preset``.
_NOISE = {
    "position_noise": 5e-4, "velocity_noise": 2e-3, "orientation_noise": 1e-3, "angular_velocity_noise": 2e-3,
    "joint_noise": 1e-4, "joint_rate_noise": 2e-4, "force_noise": 1.0,
    **{f"{channel}_relative_noise": 0.1 for channel in CHANNELS[:3]}, "force_relative_noise": 0.01,
}  # fmt: skip
_COLOUR = {f"{channel}_time_constant": 0.1 for channel in CHANNELS}
_THRESHOLDS = {"orientation_threshold": 0.03 * _DEGREE, "angular_velocity_threshold": 0.20 * _DEGREE}
_OPEN = _late(0.15) | {**_NOISE, **_COLOUR, **_THRESHOLDS}


def _times(factor: float, names: tuple[str, ...]) -> dict[str, float]:
    return {name: factor * _OPEN[name] for name in names}


_PRESETS: dict[str, dict[str, Any]] = {
    "eyes-open": _OPEN,
    "eyes-closed": _OPEN
    | _late(0.16)
    | {"orientation_threshold": 0.07 * _DEGREE, "angular_velocity_threshold": 0.33 * _DEGREE}
    | _times(5.0, ("position_noise", "velocity_noise")),
    "foam": _OPEN | _times(10.0, ("joint_noise", "joint_rate_noise")),
    "vestibular-loss": _OPEN
    | _times(10.0, ("orientation_noise", "angular_velocity_noise"))
    | {"orientation_threshold": 5.0 * _DEGREE, "angular_velocity_threshold": 5.0 * _DEGREE},
    "young": _OPEN,
    "old": _OPEN | _times(2.0, (*_NOISE, *_THRESHOLDS)) | _late(0.19),
}
#: Of ``Sensors.preset``.
PRESETS = tuple(_PRESETS)
