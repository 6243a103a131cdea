"""Forces at points of bodies: pushes of a given impulse, and forces that follow a signal."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from biped.disturbances import disturbance as base
from biped.errors import InputError
from biped.inputs.checks import above_zero, integer, numbers
from biped.inputs.fields import inline, quantity
from biped.kernels.state.pushes import Pushes, new_pushes
from biped.model import Model
from biped.model.geometry import Vector3
from biped.signals import Signal, compile_signals

WAVEFORMS = ("rectangle", "half-sine")


def _unit(direction: Vector3, what: str) -> NDArray[np.float64]:
    """Return a direction as a unit vector (3,); ``what`` names it in messages."""
    array = np.asarray(numbers(direction, 3, what), dtype=float)
    largest = np.abs(array).max()
    if largest == 0.0:
        raise InputError(f"{what} is zero: it must be a vector in the direction of the force")
    array = array / largest
    unit: NDArray[np.float64] = array / np.linalg.norm(array)
    return unit


def _along(unit: NDArray[np.float64], size: float) -> Vector3:
    x, y, z = (float(c) for c in size * unit)
    return x, y, z


@lru_cache(maxsize=64)
def _unit_impulse(waveform: str, duration: float) -> Signal:
    """Return the impulse [N·s] delivered by a push of 1 N·s, over the time since its start."""
    make = Signal.half_sine if waveform == "half-sine" else Signal.rectangle
    integral = make(1.0, 0.0, duration).integral()
    return integral.scaled(1.0 / float(integral.coefficients[-1, 0]))


@dataclass(frozen=True)
class Push(base.Disturbance):
    """A force of given impulse at a point of a body, in a direction fixed in the world.

    The impulse is exact for any time step: each step takes the integral of the waveform over that step.

    Raises:
        InputError: the waveform is unknown, the direction is zero, or the duration is not above zero.
    """

    body: str = quantity("", "Body that the force acts on")
    direction: Vector3 = quantity("", "Direction of the push: vector of any length, world axes", parameter=False)
    impulse: float = quantity("N·s", "Impulse of the push; 0: no push; negative: opposite direction")
    start: float = quantity("s", "Start of the push", 0.0)
    duration: float = quantity("s", "Duration of the push", 0.1)
    waveform: Literal["rectangle", "half-sine"] = quantity("", "Waveform of the push", "rectangle")
    point: Vector3 = base.point_field()

    acts_as: ClassVar[str] = "a push"
    words: ClassVar[str] = "a push of {impulse:g} N·s {where} at {start:g} s, for {duration:g} s"

    def __post_init__(self) -> None:
        _unit(self.direction, "push.direction")
        numbers(self.point, 3, "push.point")
        above_zero(self.duration, "push.duration")
        numbers((self.impulse, self.start), 2, "push: (impulse, start)")
        if self.waveform not in WAVEFORMS:
            raise InputError(f"push.waveform = {self.waveform!r}: it must be one of {', '.join(WAVEFORMS)}")

    @property
    def unit(self) -> NDArray[np.float64]:
        """Unit vector of the direction, (3,)."""
        return _unit(self.direction, "push.direction")

    @cached_property
    def given(self) -> Signal:
        """Impulse [N·s] delivered up to a time, as a signal."""
        return _unit_impulse(self.waveform, self.duration).scaled(self.impulse).shifted(self.start)

    def forces(self, model: Model) -> tuple["Push"]:
        """Return the push itself."""
        return (self,)

    @property
    def begins(self) -> float:
        """Start time [s]."""
        return self.start

    @property
    def ends(self) -> float:
        """End time [s]."""
        return self.start + self.duration

    def delivered(self, begin: float, end: float) -> Vector3:
        """Return the impulse (3,) [N·s] between two times [s], world axes."""
        before, after = self.given([begin, end])
        return _along(self.unit, float(after - before))

    @property
    def peak(self) -> float:
        """Greatest force [N], negative if the impulse is."""
        shape = np.pi / 2.0 if self.waveform == "half-sine" else 1.0
        return float(shape * self.impulse / self.duration)


@dataclass(frozen=True)
class PushParameters(base.ParameterGroup):
    """Parameters of a push."""

    push: Push = inline(Push("{root}", (1.0, 0.0, 0.0), 0.0, start=0.5, waveform="half-sine"))
    azimuth: float = base.azimuth_field()

    switches: ClassVar[tuple[str, ...]] = ("impulse",)

    def disturbances(self, place: base.Place) -> tuple[Push, ...]:
        """Return the push, or none if its impulse is zero."""
        push = replace(self.push, direction=base.heading(self.azimuth, place.model.facing))
        return (push,) if push.impulse else ()


@dataclass(frozen=True)
class _Driven:
    """Base class of forces and torques that follow a signal, in a direction fixed in the world."""

    body: str = quantity("", "Body that the force acts on")
    direction: Vector3 = quantity("", "Direction of the force or torque: vector of any length, world axes")
    signal: Signal = quantity("N (torque: N·m)", "Force or torque over time; it must end at zero")

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
        """Unit vector of the direction, (3,)."""
        return _unit(self.direction, f"{type(self).__name__.lower()}.direction")

    @cached_property
    def given(self) -> Signal:
        """Impulse [N·s; torque: N·m·s] delivered up to a time, as a signal."""
        return self.signal.integral()

    @property
    def begins(self) -> float:
        """Start time [s]."""
        return self.signal.begins

    @property
    def ends(self) -> float:
        """End time [s]."""
        return self.signal.ends

    def delivered(self, begin: float, end: float) -> Vector3:
        """Return the impulse (3,) [N·s; torque: N·m·s] between two times [s], world axes."""
        before, after = self.given([begin, end])
        return _along(self.unit, float(after - before))


@dataclass(frozen=True)
class Force(_Driven, base.Disturbance):
    """A force at a point of a body that follows a signal, in a direction fixed in the world.

    ``Signal.rectangle`` makes a constant force, ``Signal.noise`` a random one, and ``Signal.from_csv`` a recorded one.
    The impulse is exact for any time step.

    Raises:
        InputError: the direction is zero, or the signal does not end at zero.
    """

    point: Vector3 = base.point_field()

    acts_as: ClassVar[str] = "a force"

    def __post_init__(self) -> None:
        super().__post_init__()
        numbers(self.point, 3, "force.point")

    def forces(self, model: Model) -> tuple["Force"]:
        """Return the force itself."""
        return (self,)

    @classmethod
    def in_words(cls, record: base.Record, facing: Vector3) -> str:
        """Return a phrase with times, size and direction of the force; only times if the force changes its sign."""
        signal = record["signal"]
        span = f"from {signal['begins']:g} to {signal['ends']:g} s"
        if signal["least"] < 0.0 < signal["most"]:
            return f"a varying force {span}"
        size = max(signal["most"], -signal["least"])
        sign = 1.0 if signal["most"] > 0.0 else -1.0
        return (
            f"a force of {size:g} N {base.direction_in_words([sign * c for c in record['direction']], facing)} {span}"
        )


@dataclass(frozen=True)
class Torque(_Driven):
    """A torque on a body of an assembly that follows a signal, about an axis fixed in the world.

    Raises:
        InputError: the direction is zero, or the signal does not end at zero.
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
    """Return a random horizontal force as two forces along x and y, with independent normally distributed values.

    Args:
        body: name of the body.
        deviation: [N] standard deviation of each component.
        seed: seed of the random numbers.
        interval: [s] time for which a value is held.
        start: [s] start time.
        duration: [s] duration.
        point: (3,) [m] point from the centre of mass, in axes fixed to the body (world axes in the home configuration).
    """
    axes: tuple[Vector3, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    seeds = np.random.SeedSequence(integer(seed, "seed of random forces")).generate_state(len(axes))
    return tuple(
        Force(body, axis, Signal.noise(deviation, interval, start, duration, int(axis_seed)), point)
        for axis, axis_seed in zip(axes, seeds, strict=True)
    )


def compile_pushes(model: Model, pushes: Sequence[Push | Force]) -> Pushes:
    """Return pushes and forces as arrays for the compiled kernels."""
    arrays = new_pushes(len(pushes), compile_signals([push.given for push in pushes]))
    for j, push in enumerate(pushes):
        arrays.body[j] = model.body_index(push.body)
        arrays.offset[j] = push.point
        arrays.direction[j] = push.unit
    return arrays
