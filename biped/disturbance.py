"""What disturbs a model: pushes, and a thrown block."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from biped.checks import is_finite
from biped.errors import InputError
from biped.kernels.pushes import HALF_SINE, RECTANGLE, Pushes, new_pushes, waveform_integral
from biped.model import Model

Vector3 = tuple[float, float, float]
WAVEFORMS = {"rectangle": RECTANGLE, "half-sine": HALF_SINE}


def _numbers(value: Sequence[float], count: int, what: str) -> tuple[float, ...]:
    try:
        numbers = tuple(value)
    except TypeError:
        numbers = ()
    if len(numbers) != count or not all(is_finite(x) for x in numbers):
        raise InputError(f"{what} = {value!r}: it must be {count} finite numbers")
    return tuple(float(x) for x in numbers)


def _above_zero(value: float, what: str) -> None:
    if not is_finite(value) or value <= 0.0:
        raise InputError(f"{what} = {value!r}: it must be a finite number above zero")


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
        _numbers(self.direction, 3, "push.direction")
        _numbers(self.point, 3, "push.point")
        _above_zero(self.duration, "push.duration")
        _numbers((self.impulse, self.start), 2, "push: (impulse, start)")
        if not any(self.direction):
            raise InputError("push.direction is zero: give the direction in which to push")
        if self.waveform not in WAVEFORMS:
            raise InputError(f"push.waveform = {self.waveform!r}: waveforms are {', '.join(WAVEFORMS)}")

    @property
    def unit(self) -> NDArray[np.float64]:
        """(3,) the direction, of length one."""
        direction = np.asarray(self.direction, dtype=float)
        direction = direction / np.abs(direction).max()
        return direction / np.linalg.norm(direction)

    def delivered(self, begin: float, end: float) -> tuple[float, float, float]:
        """(3,) [N·s] its impulse between two times."""
        waveform = WAVEFORMS[self.waveform]
        after, before = (waveform_integral(waveform, self.duration, t - self.start) for t in (end, begin))
        x, y, z = (float(c) for c in self.peak * (after - before) * self.unit)
        return x, y, z

    @property
    def peak(self) -> float:
        """[N] the greatest force."""
        shape = np.pi / 2.0 if self.waveform == "half-sine" else 1.0
        return float(shape * self.impulse / self.duration)


@dataclass(frozen=True)
class Throw:
    """A solid box that flies freely, collides with the box of one body, and flies on.

    The collision impulse follows Mirtich (1996): Coulomb friction and an energetic coefficient of
    restitution, from the box's inertia and the model's articulated inertia at the point of contact.

    Attributes:
        mass: [kg].
        size: (3,) [m] edges.
        position: (3,) [m] of its centre at time zero.
        velocity: (3,) [m/s].
        orientation: unit quaternion, scalar first.
        angular_velocity: (3,) [rad/s], world axes.
        restitution: 0 … 1.
        friction: coefficient of friction in the collision.
        target: name of the body whose box it may hit.

    Raises:
        InputError: for a mass or an edge not above zero, or coefficients out of range.
    """

    mass: float
    size: Vector3
    position: Vector3
    velocity: Vector3
    orientation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    angular_velocity: Vector3 = (0.0, 0.0, 0.0)
    restitution: float = 0.2
    friction: float = 0.3
    target: str = "trunk"

    def __post_init__(self) -> None:
        _above_zero(self.mass, "throw.mass")
        for edge in _numbers(self.size, 3, "throw.size"):
            _above_zero(edge, "throw.size: each edge")
        for name in ("position", "velocity", "angular_velocity"):
            _numbers(getattr(self, name), 3, f"throw.{name}")
        _numbers(self.orientation, 4, "throw.orientation")
        if abs(float(np.linalg.norm(self.orientation)) - 1.0) > 1e-6:
            raise InputError(f"throw.orientation = {self.orientation!r}: it must be a unit quaternion")
        if not 0.0 <= self.restitution <= 1.0:
            raise InputError(f"throw.restitution = {self.restitution!r}: it must be from 0 to 1")
        if not (np.isfinite(self.friction) and self.friction >= 0.0):
            raise InputError(f"throw.friction = {self.friction!r}: it must be zero or above")


Disturbance = Push | Throw


def compile_pushes(model: Model, pushes: Sequence[Push]) -> Pushes:
    """The pushes as the kernels take them."""
    arrays = new_pushes(len(pushes))
    for j, push in enumerate(pushes):
        arrays.body[j] = model.body_index(push.body)
        arrays.offset[j] = push.point
        arrays.direction[j] = push.unit
        arrays.waveform[j] = WAVEFORMS[push.waveform]
        arrays.start[j] = push.start
        arrays.duration[j] = push.duration
        arrays.peak[j] = push.peak
    return arrays
