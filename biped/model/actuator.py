"""Actuators from a robot's file: they convert controls to joint forces as the file's own simulator does."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from biped.model.errors import ModelError
from biped.model.geometry import name_of, number, vector3
from contact.arrays import Floats

Range = tuple[float, float]


@dataclass(frozen=True)
class Actuator:
    """An actuator without dynamics on a joint with one degree of freedom, like MuJoCo's ``<actuator>``.

    With the control u, joint position q and joint rate v, the torque or force on the joint is gear · f, where
    f = gain · u + bias₀ + bias₁ · gear · q + bias₂ · gear · v is clipped to ``force_range``, and u to ``ctrl_range``.

    Attributes:
        name: name of the actuator.
        joint: name of the joint.
        gain: factor on u: stiffness kp of a position actuator, damping kv of a velocity actuator, 1 of a motor.
        bias: (bias₀, bias₁, bias₂) in f; (0, −kp, −kv) for a position actuator.
        gear: ratio of the actuator's length to q, and of the force on the joint to f.
        ctrl_range: smallest and largest u; None: unlimited. Joints of a model are at zero in the file's reference pose
            (joint positions ``ref``), so u of a position actuator is the file's control minus gear · ``ref``.
        force_range: [N·m or N] smallest and largest f; None: unlimited.

    Raises:
        ModelError: a number is not finite, or the first number of a range exceeds the second.
    """

    name: str
    joint: str
    gain: float = 1.0
    bias: tuple[float, float, float] = (0.0, 0.0, 0.0)
    gear: float = 1.0
    ctrl_range: Range | None = None
    force_range: Range | None = None

    def __post_init__(self) -> None:
        name_of(self.joint, "an actuator: the joint")
        what = f"actuator {self.name!r}:"
        for field in ("gain", "gear"):
            object.__setattr__(self, field, number(getattr(self, field), f"{what} {field}"))
        object.__setattr__(self, "bias", vector3(self.bias, f"{what} bias"))
        for field in ("ctrl_range", "force_range"):
            if getattr(self, field) is not None:
                low, high = (number(bound, f"{what} {field}") for bound in getattr(self, field))
                if low > high:
                    raise ModelError(f"{what} {field} = {(low, high)}: the first number must not exceed the second")
                object.__setattr__(self, field, (low, high))

    @property
    def max_effort(self) -> float:
        """Largest force on the joint [N·m or N] in either direction; infinite if unlimited."""
        force = math.inf if self.force_range is None else max(map(abs, self.force_range))
        if not any(self.bias) and self.ctrl_range is not None:
            force = min(force, abs(self.gain) * max(map(abs, self.ctrl_range)))
        return abs(self.gear) * force if self.gear else 0.0

    def clamped(self, control: ArrayLike) -> Floats:
        """Return ``control``, of any shape, clipped to ``ctrl_range``."""
        return _within(self.ctrl_range, np.asarray(control, dtype=np.float64))

    def share_beyond(self, control: ArrayLike) -> float:
        """Return the share (0 to 1) of the controls that are clipped because they lie outside ``ctrl_range``."""
        return float(np.mean(self.clamped(control) != control))

    def effort(self, control: ArrayLike, position: ArrayLike = 0.0, rate: ArrayLike = 0.0) -> Floats:
        """Return the joint force [N·m or N] for a control, joint position [rad or m] and rate; shapes broadcast."""
        constant, stiffness, damping = self.bias
        length, speed = self.gear * np.asarray(position), self.gear * np.asarray(rate)
        force = self.gain * self.clamped(control) + constant + stiffness * length + damping * speed
        return self.gear * _within(self.force_range, force)


def _within(bounds: Range | None, values: Floats) -> Floats:
    return values if bounds is None else np.clip(values, *bounds)
