"""Actuators of a robot's file: what force one exerts for its control, for laws that are to do as the file's own."""

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
    """An actuator without dynamics of its own on a joint of one degree of freedom, as MuJoCo's ``<actuator>``.

    With the joint's position q and rate v as the model has them, and the control u, it exerts
    gear · (gain · u + bias₀ + bias₁ · gear · q + bias₂ · gear · v), its control and its force within their ranges.

    Attributes:
        name: of the actuator.
        joint: name of the joint.
        gain: of the control: a position actuator's kp, a velocity actuator's kv, 1 of a motor.
        bias: the constant, and factors of the length and of its rate: (0, −kp, −kv) of a position actuator.
        gear: length per joint position, and force on the joint per force of the actuator.
        ctrl_range: least and greatest control; None: any. A position actuator's controls are positions of the model's
            joint, which is at zero where the file draws it: those of the file less ``gear · ref``.
        force_range: [N·m or N] least and greatest force before the gear; None: any.

    Raises:
        ModelError: a number is not finite, or a range leaves no room.
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
                    raise ModelError(f"{what} {field} leaves no room, got {low!r} > {high!r}")
                object.__setattr__(self, field, (low, high))

    @property
    def max_effort(self) -> float:
        """[N·m or N] The greatest force on the joint, of either sign; infinite where nothing bounds it."""
        force = math.inf if self.force_range is None else max(map(abs, self.force_range))
        if not any(self.bias) and self.ctrl_range is not None:
            force = min(force, abs(self.gain) * max(map(abs, self.ctrl_range)))
        return abs(self.gear) * force if self.gear else 0.0

    def clamped(self, control: ArrayLike) -> Floats:
        """Return controls within ``ctrl_range``, of any shape."""
        return _within(self.ctrl_range, np.asarray(control, dtype=np.float64))

    def share_beyond(self, control: ArrayLike) -> float:
        """Return the share of controls beyond ``ctrl_range``, which it does not follow."""
        return float(np.mean(self.clamped(control) != control))

    def effort(self, control: ArrayLike, position: ArrayLike = 0.0, rate: ArrayLike = 0.0) -> Floats:
        """Return the force on the joint [N·m or N] at its position [rad or m] and rate; shapes broadcast."""
        constant, stiffness, damping = self.bias
        length, speed = self.gear * np.asarray(position), self.gear * np.asarray(rate)
        force = self.gain * self.clamped(control) + constant + stiffness * length + damping * speed
        return self.gear * _within(self.force_range, force)


def _within(bounds: Range | None, values: Floats) -> Floats:
    return values if bounds is None else np.clip(values, *bounds)
