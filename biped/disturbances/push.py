"""Forces at points of bodies: a push of a given impulse, and a force that follows a signal."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from biped.errors import InputError
from biped.inputs.checks import above_zero, numbers, whole
from biped.kernels.state.pushes import Pushes, new_pushes
from biped.model import Model
from biped.model.geometry import Vector3
from biped.signals import Signal, compile_signals

WAVEFORMS = ("rectangle", "half-sine")


def _unit(direction: Vector3, what: str) -> NDArray[np.float64]:
    """(3,) a direction, of length one."""
    array = np.asarray(numbers(direction, 3, what), dtype=float)
    largest = np.abs(array).max()
    if largest == 0.0:
        raise InputError(f"{what} is zero: give the direction in which to push")
    array = array / largest
    unit: NDArray[np.float64] = array / np.linalg.norm(array)
    return unit


def _along(unit: NDArray[np.float64], size: float) -> Vector3:
    x, y, z = (float(c) for c in size * unit)
    return x, y, z


@lru_cache(maxsize=64)
def _unit_impulse(waveform: str, duration: float) -> Signal:
    """[N·s] what a push of one newton-second has given, from its start."""
    make = Signal.half_sine if waveform == "half-sine" else Signal.rectangle
    integral = make(1.0, 0.0, duration).integral()
    return integral.scaled(1.0 / float(integral.coefficients[-1, 0]))


@dataclass(frozen=True)
class Push:
    """A force at a point of a body, in a direction fixed in the world.

    Its impulse is exact whatever the step: each step takes the waveform's integral over that step.

    Attributes:
        body: name of the body.
        direction: (3,) world axes; its length does not matter.
        impulse: [N·s] of the whole push.
        start: [s].
        duration: [s].
        waveform: ``"rectangle"`` or ``"half-sine"``.
        point: (3,) [m] from the body's centre of mass, home axes.

    Raises:
        InputError: for an unknown waveform, a zero direction or a duration that is not above zero.
    """

    body: str
    direction: Vector3
    impulse: float
    start: float = 0.0
    duration: float = 0.1
    waveform: Literal["rectangle", "half-sine"] = "rectangle"
    point: Vector3 = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        _unit(self.direction, "push.direction")
        numbers(self.point, 3, "push.point")
        above_zero(self.duration, "push.duration")
        numbers((self.impulse, self.start), 2, "push: (impulse, start)")
        if self.waveform not in WAVEFORMS:
            raise InputError(f"push.waveform = {self.waveform!r}: waveforms are {', '.join(WAVEFORMS)}")

    @property
    def unit(self) -> NDArray[np.float64]:
        """(3,) the direction, of length one."""
        return _unit(self.direction, "push.direction")

    @cached_property
    def given(self) -> Signal:
        """[N·s] the impulse that it has given up to a time."""
        return _unit_impulse(self.waveform, self.duration).scaled(self.impulse).shifted(self.start)

    @property
    def begins(self) -> float:
        """The time [s] at which it begins."""
        return self.start

    @property
    def ends(self) -> float:
        """The time [s] at which it ends."""
        return self.start + self.duration

    def delivered(self, begin: float, end: float) -> Vector3:
        """(3,) [N·s] its impulse between two times."""
        before, after = self.given([begin, end])
        return _along(self.unit, float(after - before))

    @property
    def peak(self) -> float:
        """[N] the greatest force."""
        shape = np.pi / 2.0 if self.waveform == "half-sine" else 1.0
        return float(shape * self.impulse / self.duration)


@dataclass(frozen=True)
class _Driven:
    """What follows a signal along a direction fixed in the world."""

    body: str
    direction: Vector3
    signal: Signal

    def __post_init__(self) -> None:
        signal: object = self.signal
        what = type(self).__name__.lower()
        _unit(self.direction, f"{what}.direction")
        if not isinstance(signal, Signal):
            example = "Signal.rectangle(30.0, 1.0, 5.0)"
            raise InputError(f"{what}.signal = {signal!r}: it must be a Signal, such as {example}")
        signal.integral()

    @property
    def unit(self) -> NDArray[np.float64]:
        """(3,) the direction, of length one."""
        return _unit(self.direction, f"{type(self).__name__.lower()}.direction")

    @cached_property
    def given(self) -> Signal:
        """[N·s; of a torque N·m·s] the impulse that it has given up to a time."""
        return self.signal.integral()

    @property
    def begins(self) -> float:
        """The time [s] at which it begins."""
        return self.signal.begins

    @property
    def ends(self) -> float:
        """The time [s] at which it ends."""
        return self.signal.ends

    def delivered(self, begin: float, end: float) -> Vector3:
        """(3,) [N·s; of a torque N·m·s] its impulse between two times."""
        before, after = self.given([begin, end])
        return _along(self.unit, float(after - before))


@dataclass(frozen=True)
class Force(_Driven):
    """A force at a point of a body that follows a signal, along a direction fixed in the world.

    ``Signal.rectangle`` makes a constant one, ``Signal.noise`` a random one, ``Signal.from_csv`` a recorded one. Its
    impulse is exact whatever the step, as that of a push.

    Attributes:
        body: name of the body.
        direction: (3,) world axes; its length does not matter.
        signal: [N]; it must end at zero.
        point: (3,) [m] from the body's centre of mass, home axes.

    Raises:
        InputError: for a zero direction, or a signal that does not begin and end at zero.
    """

    point: Vector3 = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        numbers(self.point, 3, "force.point")


@dataclass(frozen=True)
class Torque(_Driven):
    """A torque on a body of an assembly that follows a signal, about a direction fixed in the world.

    Attributes:
        body: name of the body.
        direction: (3,) world axes; its length does not matter.
        signal: [N·m]; it must end at zero.

    Raises:
        InputError: for a zero direction, or a signal that does not begin and end at zero.
    """


def random_forces(
    body: str,
    deviation: float,
    seed: int,
    *,
    interval: float = 0.05,
    start: float = 0.0,
    duration: float = 1.0,
    point: Vector3 = (0.0, 0.0, 0.0),
) -> tuple[Force, ...]:
    """A random horizontal force: along x and y independent normal values, drawn anew after each interval.

    Args:
        body: name of the body.
        deviation: [N] standard deviation of each component.
        seed: of the random numbers.
        interval: [s].
        start: [s].
        duration: [s].
        point: (3,) [m] from the body's centre of mass, home axes.
    """
    axes: tuple[Vector3, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    seeds = np.random.SeedSequence(whole(seed, "seed of random forces")).generate_state(len(axes))
    return tuple(
        Force(body, axis, Signal.noise(deviation, interval, start, duration, int(own)), point)
        for axis, own in zip(axes, seeds, strict=True)
    )


def compile_pushes(model: Model, pushes: Sequence[Push | Force]) -> Pushes:
    """The forces as the kernels take them."""
    arrays = new_pushes(len(pushes), compile_signals([push.given for push in pushes]))
    for j, push in enumerate(pushes):
        arrays.body[j] = model.body_index(push.body)
        arrays.offset[j] = push.point
        arrays.direction[j] = push.unit
    return arrays
