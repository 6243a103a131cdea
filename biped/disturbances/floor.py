"""Disturbances of the floor: motion of the whole floor, and patches with different parameters."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from biped.disturbances.disturbance import Disturbance, ParameterGroup, Place, Record
from biped.disturbances.patterns import NO_FILE, SIGNALS, Pattern, Recorded
from biped.disturbances.sway import SwayReferenced
from biped.errors import InputError
from biped.inputs.checks import numbers
from biped.inputs.fields import inline, like, quantity
from biped.model import Model
from biped.model.geometry import Vector3
from biped.model.legs import legs_of
from biped.signals import Displacement, Signal
from contact import Floor, FloorError
from contact.ground import Ground, resting_frames
from contact.numbers import numbers_in
from contact.piecewise import no_signals

#: [m or rad] Largest jump of the floor's position that counts as rounding error.
JUMP = 1e-9
#: Values of the parameter ``motion`` of a moving floor.
MOTIONS = ("step", *SIGNALS, "recorded", "sway-referenced")


@dataclass(frozen=True)
class Platform(Displacement, Disturbance):
    """Motion of the floor as a whole: a support surface that is translated and tilted.

    The motion is exact at both ends of each time step, and bodies on the floor do not influence it. The floor's frame
    is turned by the rotation vector (roll, pitch, yaw) about the pivot, then displaced by (x, y, z). All signals must
    start at zero. To continue a run, give its platform again.

    Raises:
        InputError: there is no signal, or a signal does not start at zero, or jumps.
    """

    pivot: Vector3 = quantity("m", "Point about which the floor rotates, world axes", (0.0, 0.0, 0.0))

    WHAT: ClassVar[str] = "platform"
    acts_as: ClassVar[str] = "the floor's motion"

    def __post_init__(self) -> None:
        numbers(self.pivot, 3, "platform.pivot")
        if not self.signals:
            raise InputError("platform: nothing moves: give a Signal for x, y, z, roll, pitch or yaw")
        super().__post_init__()
        for axis, signal in self.signals.items():
            if abs(float(signal.coefficients[0, 0])) > JUMP:
                start = f"{signal.coefficients[0, 0]:.9g}"
                remedy = f"subtract {start} from all of its values"
                raise InputError(f"platform.{axis} starts at {start}: it must start at zero; {remedy}")
            if signal.largest_jump() > JUMP:
                jump = f"{signal.largest_jump():g} {'m' if len(axis) == 1 else 'rad'}"
                raise InputError(f"platform.{axis} jumps by {jump}: its motion must be continuous")

    @classmethod
    def in_words(cls, record: Record, facing: Vector3) -> str:
        """Return a phrase with the axes that move, their displacements in mm and rotations in degrees."""
        parts = []
        for axis in (axis for axis in Displacement.AXES if record[axis]):
            factor, unit, way = (1e3, " mm", "along") if len(axis) == 1 else (180.0 / math.pi, "°", "of")
            signal = record[axis]
            travel = _travel(factor * signal["least"], factor * signal["most"], unit)
            parts.append(f"{travel} {way} {axis} from {signal['begins']:g} to {signal['ends']:g} s")
        return f"a floor that moves by {', '.join(parts)}"


def _travel(least: float, most: float, unit: str) -> str:
    """Return a range as text: ``±`` for a symmetric one, one number if it starts or ends at zero, else both ends."""
    if math.isclose(-least, most, rel_tol=1e-3):
        return f"±{most:.4g}{unit}"
    if least * most == 0.0:
        return f"{most or least:.4g}{unit}"
    return f"{least:.4g} … {most:.4g}{unit}"


@dataclass(frozen=True)
class PlatformParameters(ParameterGroup):
    """Parameters of a floor that moves."""

    motion: str = quantity("", "Motion of the floor; none: the floor is at rest", "none", choices=("none", *MOTIONS))
    axis: str = quantity("", "Axis of the floor's translation or rotation", "x", choices=Displacement.AXES)
    pattern: Pattern = inline(Pattern(size=0.02, interval=0.25, duration=10.0))
    gain: float = quantity("", "Sway-referenced motion: ratio of floor pitch to sway (axis and size: no effect)", 1.0)
    recorded: Recorded = inline(Recorded())

    switches: ClassVar[tuple[str, ...]] = ("motion",)
    unit: ClassVar[str] = "m, rad"

    def disturbances(self, place: Place) -> "tuple[Platform | SwayReferenced, ...]":
        """Return the motion of the floor, or none for ``motion = none``."""
        if self.motion == "none":
            return ()
        if self.motion == "sway-referenced":
            return (SwayReferenced(self.gain),)
        moves: dict[str, Any] = {self.axis: self._signal()}
        return (Platform(**moves),)

    def _signal(self) -> Signal:
        pattern, recorded = self.pattern, self.recorded
        if self.motion == "step":
            return Signal.step(pattern.size, pattern.start, pattern.rise)
        if self.motion != "recorded":
            return pattern.signal(self.motion, Signal.ternary)
        if recorded.file == NO_FILE:
            raise InputError(
                "platform.motion = recorded: set platform.file, such as a CSV file with columns time [s] and value"
            )
        unit = "rad" if self.axis in ("roll", "pitch", "yaw") else "m"
        return recorded.signal(pattern.start, lambda how, record: how.displacement(record, recorded.column, unit))


@dataclass(frozen=True)
class Patch(Disturbance):
    """A rectangle of the floor with parameters of its own; where patches overlap, the last one applies.

    A contact point has the parameters of its location at the start of a time step. If the stiffness changes where a
    point crosses an edge, so does the energy of its springs; the energy balance counts this as contact dissipation.

    Raises:
        InputError: the patch has no area, or ``floor`` is not a ``Floor``.
    """

    x: tuple[float, float] = quantity("m", "Smallest and largest x of the patch, in the floor's frame")
    y: tuple[float, float] = quantity("m", "Smallest and largest y of the patch, in the floor's frame{stands}")
    floor: Floor = quantity("", "Floor parameters within the patch")

    words: ClassVar[str] = "a patch of floor with friction {floor[mu_s]:g}"

    def __post_init__(self) -> None:
        for name in ("x", "y"):
            least, most = numbers(getattr(self, name), 2, f"patch.{name}")
            if not least < most:
                raise InputError(f"patch.{name} = ({least:g}, {most:g}): the first must be less than the second")
        if not isinstance(self.floor, Floor):
            raise InputError(f"patch.floor = {self.floor!r}: it must be a Floor, such as Floor(mu_s=0.05, mu_d=0.05)")


@dataclass(frozen=True)
class PatchParameters(ParameterGroup):
    """Parameters of a floor patch with different friction."""

    present: int = quantity("", "Patch of different friction; 1: present, 0: none", 0)
    x: tuple[float, float] = like(Patch, "x", (-10.0, 10.0))
    y: tuple[float, float] = like(Patch, "y", (0.0, 10.0))
    mu_s: float = quantity("", "Coefficient of static friction of the patch", 0.1)
    mu_d: float = quantity("", "Coefficient of dynamic friction of the patch", 0.1)

    switches: ClassVar[tuple[str, ...]] = ("present",)

    @classmethod
    def usual(cls, model: Model) -> Self:
        """Return the default patch: the half of the floor on which the left foot stands in the home posture."""
        at = left_foot_of(model)
        return cls(y=(-10.0, 0.0)) if at is not None and at < 0.0 else cls()

    def disturbances(self, place: Place) -> tuple[Patch, ...]:
        """Return the patch, or none if ``present`` is 0."""
        if self.present not in (0, 1):
            raise InputError(f"present = {self.present}: it must be 0 (no patch) or 1 (patch)")
        if not self.present:
            return ()
        try:
            floor = place.floor.with_(mu_s=self.mu_s, mu_d=self.mu_d)
        except FloorError as error:
            raise InputError(f"mu_s = {self.mu_s:g}, mu_d = {self.mu_d:g}: {error}") from None
        return (Patch(self.x, self.y, floor),)


def left_foot_of(model: Model) -> float | None:
    """Return the y coordinate [m] of the left foot in the home posture; None if the model has no legs."""
    legs = legs_of(model)
    return round(float(model.home_positions[model.body_index(legs[0].foot)][1]), 3) if legs else None


def compile_ground(
    floor: Floor, model: Model, platform: Platform | None = None, patches: Sequence[Patch] = ()
) -> Ground:
    """Return the data of the floor, its motion and its patches for the compiled kernels.

    Raises:
        InputError: a patch has another contact law than the floor.
    """
    parts = [floor.parameters, *(patch.floor.parameters for patch in patches)]
    if len({type(part.normal) for part in parts}) > 1:
        raise InputError("patch.floor and the floor have different contact laws: use one class of Floor for both")
    ground = Ground(
        like=parts[0],
        law=np.array([list(numbers_in(part)) for part in parts]),
        bounds=np.array([(0.0,) * 4, *((*patch.x, *patch.y) for patch in patches)]),
        region=np.zeros(model.nc, dtype=np.int64),
        motion=no_signals(),
        pivot=np.zeros(3),
        frame=resting_frames(),
    )
    if platform is not None:
        ground = ground._replace(motion=platform.compiled(), pivot=np.asarray(platform.pivot, dtype=float))
    return ground
