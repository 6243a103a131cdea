"""Floor parameters with checks, and the thesis's rubber floor as a preset."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

import numpy as np

from contact.arrays import Floats
from contact.errors import BipedError
from contact.point_law import FloorParameters, SpringDamper, pressure, pressure_energy, pressure_slopes

#: Behaviour of a contact point at the limit of its friction cone; see ``Floor``.
Friction = Literal["yielding", "printed"]
#: [m] Depth at which the search for a static depth starts.
SHALLOW = 1e-3
#: Relative tolerance of a static load, and greatest number of steps of the search.
BALANCED, MOST_STEPS = 1e-12, 100


class FloorError(BipedError, ValueError):
    """A floor parameter is invalid."""


def law_number(default: float, unit: str, title: str, **metadata: Any) -> Any:
    """Return a dataclass field for a floor parameter: zero or above; with ``above=0.0`` in ``metadata``: above zero."""
    return field(default=default, metadata={"unit": unit, "title": title, **metadata})


_THESIS = {"source": "Wendlandt 1997, 5.3"}


@dataclass(frozen=True, kw_only=True)
class Floor:
    """A horizontal floor at height zero: a spring and a damper under each contact point, and friction.

    The defaults are the rubber floor of Wendlandt 1997, section 5.3, with the friction coefficient of
    its balancing experiments (section 4.3). A floor with another law of the normal force derives from
    this class and overrides ``normal``, as ``contact.HuntCrossley`` does.

    Attributes:
        k_n: normal stiffness of a point [N/m].
        b_n: normal damping of a point [N·s/m].
        k_t: tangential stiffness of a sticking point [N/m].
        b_t: tangential damping of a sticking point [N·s/m].
        mu_s: coefficient of static friction.
        mu_d: coefficient of dynamic friction.
        stiction_velocity: tangential speed at or below which a sliding point sticks [m/s].
        friction: behaviour of a sticking point at the limit of static friction. ``yielding``: it drags the anchor of
            its tangential spring, and slides when it is faster than ``stiction_velocity``. ``printed``: as printed in
            Wendlandt 1997, figure 5.1: the point slides immediately (state 5), and its anchor is released and set again
            where it stops (state 3), so that loaded points creep.

    Raises:
        FloorError: a value is negative or not finite, ``k_n`` or ``stiction_velocity`` is zero, ``mu_d`` is above
            ``mu_s``, or ``friction`` is unknown.
    """

    k_n: float = law_number(75e3, "N/m", "Normal stiffness of a contact point", **_THESIS, above=0.0, range=(5e3, 3e5))
    b_n: float = law_number(2e3, "N·s/m", "Normal damping of a contact point", **_THESIS, range=(0.0, 1e4))
    k_t: float = law_number(75e3, "N/m", "Tangential stiffness of a sticking point", **_THESIS, range=(0.0, 3e5))
    b_t: float = law_number(2e3, "N·s/m", "Tangential damping of a sticking point", **_THESIS, range=(0.0, 1e4))
    mu_s: float = law_number(0.3, "", "Coefficient of static friction", range=(0.0, 1.5))
    mu_d: float = law_number(0.3, "", "Coefficient of dynamic friction", range=(0.0, 1.5))
    stiction_velocity: float = law_number(
        1e-3, "m/s", "Sliding speed at or below which a contact point sticks", **_THESIS, above=0.0
    )
    friction: Friction = field(
        default="yielding",
        metadata={
            "title": "Slip at friction limit: yielding (drags spring anchor); printed (as in Wendlandt 1997, fig. 5.1)",
            "source": "this project",
        },
    )

    def __post_init__(self) -> None:
        kinds: tuple[str, ...] = get_args(Friction)
        if self.friction not in kinds:
            raise FloorError(f"floor.friction = {self.friction!r}: it must be one of {', '.join(kinds)}")
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(item.default, str) or not item.init:
                continue
            if not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0.0:
                raise FloorError(f"floor.{item.name} = {value!r}: it must be a finite number, zero or above")
            if value == item.metadata.get("above"):
                raise FloorError(f"floor.{item.name} = {value:g}: it must be above zero")
            object.__setattr__(self, item.name, float(value))
        if self.mu_d > self.mu_s:
            raise FloorError(
                f"floor.mu_d = {self.mu_d:g} exceeds floor.mu_s = {self.mu_s:g}: "
                "dynamic friction is at most static friction; set both"
            )

    def with_(self, **changes: Any) -> "Floor":
        """Return this floor with some parameters changed."""
        return replace(self, **changes)

    @property
    def normal(self) -> Any:
        """Parameters of the normal force law, as a named tuple whose class selects the law's kernels."""
        return SpringDamper(self.k_n, self.b_n)

    @property
    def parameters(self) -> FloorParameters:
        """Parameters of the floor for the kernels.

        Raises:
            FloorError: one of the three kernels of the normal force law is missing.
        """
        law, kernels = type(self.normal), (pressure, pressure_slopes, pressure_energy)
        lacking = [kernel.__name__ for kernel in kernels if law not in kernel.table.implementations]
        if lacking:
            raise FloorError(f"contact law {law.__name__} has no kernel for {' and '.join(lacking)}: register it")
        numbers = {name: getattr(self, name) for name in FloorParameters._fields[1:-1]}
        return FloorParameters(self.normal, **numbers, printed=float(self.friction == "printed"))

    def slopes_at(self, depth: float) -> tuple[float, float]:
        """Return the stiffness [N/m] and the damping [N·s/m] of a point that rests at this depth [m]."""
        by_height, by_climb = pressure_slopes(self.normal, -depth, 0.0)
        return -float(by_height), -float(by_climb)

    def sink(self, load: float, points: int = 1) -> float:
        """Return the static depth [m] of ``points`` at one height that share a load [N]; raises as ``lowered``."""
        return self._carrying(load, np.zeros(points), lambda stiffness: load / (points * stiffness))

    def lowered(self, load: float, heights: Floats) -> float:
        """Return the distance [m] by which points at these heights [m] descend until they carry a load [N] at rest.

        Raises:
            FloorError: the normal force law cannot carry the load.
        """
        lowest_first = np.sort(heights)
        return self._carrying(load, lowest_first, lambda stiffness: _lowered_on_springs(lowest_first, load / stiffness))

    def _carrying(self, load: float, lowest_first: Floats, on_springs: Callable[[float], float]) -> float:
        """Return the distance at which the points' force equals the load, by Newton's method from linear springs."""
        shallow = self.slopes_at(SHALLOW)[0]
        depth = on_springs(shallow) if shallow > 0.0 else SHALLOW
        for _ in range(MOST_STEPS):
            depths = depth - lowest_first[lowest_first < depth]
            missing = load - sum(max(pressure(self.normal, -point_depth, 0.0), 0.0) for point_depth in depths)
            stiffness = sum(self.slopes_at(point_depth)[0] for point_depth in depths)
            if load <= 0.0 or abs(missing) <= BALANCED * load:
                return depth
            if not stiffness > 0.0:
                break
            depth += missing / stiffness
        raise FloorError(f"{type(self).__name__} cannot carry {load:g} N at rest: change its parameters")


def _lowered_on_springs(lowest_first: Floats, spring: float) -> float:
    """Return the distance [m] by which points descend until the sum of their depths below zero is ``spring`` [m]."""
    counts = np.arange(1, len(lowest_first) + 1)
    depths = (spring + np.cumsum(lowest_first)) / counts  # if 1, 2, … points carry the load
    carrying = np.append(depths[:-1] <= lowest_first[1:], True)
    return float(depths[np.argmax(carrying)])


#: Wendlandt 1997, section 5.3: "chosen to loosely model a rubber floor".
RUBBER = Floor()
