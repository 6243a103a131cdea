"""The floor: its parameters, validated, with the thesis's rubber floor as preset."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from contact.errors import BipedError
from contact.point_law import FloorParameters

#: What a point does that is clipped to its friction cone; ``Floor`` says more.
Friction = Literal["yielding", "printed"]


class FloorError(BipedError, ValueError):
    """A floor parameter that no floor can have."""


@dataclass(frozen=True, kw_only=True)
class Floor:
    """A horizontal floor at height zero: a spring and a damper under each contact point, and friction.

    The defaults are the rubber floor of Wendlandt 1997, section 5.3, with the friction coefficient of
    its balancing experiments (section 4.3).

    Attributes:
        k_n: normal stiffness of a point [N/m].
        b_n: normal damping of a point [N·s/m].
        k_t: tangential stiffness of a sticking point [N/m].
        b_t: tangential damping of a sticking point [N·s/m].
        mu_s: coefficient of static friction.
        mu_d: coefficient of dynamic friction.
        stiction_velocity: tangential speed at or below which a sliding point sticks [m/s].
        friction: what becomes of a sticking point that asks for more than static friction gives. ``yielding``: it drags
            its anchor along and slides once it is faster than ``stiction_velocity``, so that it never drops its load.
            ``printed``: the state machine of Wendlandt 1997, figure 5.1, to the letter: it slides at once (state 5) and
            its anchor is released, to be set anew where it stops (state 3). Loaded points then creep. Steps in which a
            point lands are still taken in parts, as with either, unless ``integrator.landing_depth`` is infinite.

    Raises:
        FloorError: for a value that is not finite, a negative one, a zero ``k_n`` or ``stiction_velocity``, or
            ``mu_d`` above ``mu_s``; for a ``friction`` that is neither.
    """

    k_n: float = 75_000.0
    b_n: float = 2_000.0
    k_t: float = 75_000.0
    b_t: float = 2_000.0
    mu_s: float = 0.3
    mu_d: float = 0.3
    stiction_velocity: float = 1e-3
    friction: Friction = "yielding"

    def __post_init__(self) -> None:
        kinds: tuple[str, ...] = get_args(Friction)
        if self.friction not in kinds:
            raise FloorError(f"floor.friction = {self.friction!r}: it must be one of {', '.join(kinds)}")
        for field in fields(self):
            if field.name == "friction":
                continue
            value = getattr(self, field.name)
            if not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0.0:
                raise FloorError(f"floor.{field.name} = {value!r}: it must be a finite number, zero or above")
            object.__setattr__(self, field.name, float(value))
        for name in ("k_n", "stiction_velocity"):
            if getattr(self, name) == 0.0:
                raise FloorError(f"floor.{name} = 0: it must be above zero")
        if self.mu_d > self.mu_s:
            raise FloorError(
                f"floor.mu_d = {self.mu_d:g} exceeds floor.mu_s = {self.mu_s:g}: "
                "dynamic friction is at most static friction; set both"
            )

    def with_(self, **changes: Any) -> "Floor":
        """This floor with some parameters changed."""
        return replace(self, **changes)

    @property
    def parameters(self) -> FloorParameters:
        """The compiled law's parameters."""
        numbers = {name: getattr(self, name) for name in FloorParameters._fields if name != "printed"}
        return FloorParameters(**numbers, printed=float(self.friction == "printed"))


#: Wendlandt 1997, section 5.3: "chosen to loosely model a rubber floor".
RUBBER = Floor()
