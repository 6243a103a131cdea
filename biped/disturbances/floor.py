"""Disturbances of the floor: it moves, or is different in places."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biped.errors import InputError
from biped.inputs.checks import numbers
from biped.model import Model
from biped.model.geometry import Vector3
from biped.signals import Displacement
from contact import Floor
from contact.ground import Ground, resting_frames
from contact.numbers import numbers_in
from contact.piecewise import no_signals

#: [m or rad] a position may jump by this, for rounding, and no more.
JUMP = 1e-9


@dataclass(frozen=True)
class Platform(Displacement):
    """The floor moves, as a whole: a support surface that is translated and tilted.

    Its motion is what the signals say, whatever stands on it. At each end of each step its pose is exact. The floor's
    frame is turned by the rotation vector (roll, pitch, yaw) about the pivot, then displaced by (x, y, z). It must not
    have moved when a run starts; a run that is continued needs the same platform.

    Attributes:
        x: [m] displacement.
        y: [m].
        z: [m].
        roll: [rad] about x; positive lowers the human's left side.
        pitch: [rad] about y; positive raises the toes, since the human faces −x.
        yaw: [rad] about z.
        pivot: (3,) [m] the point about which it turns.

    Raises:
        InputError: nothing moves, a signal is not zero at its start, or it jumps.
    """

    pivot: Vector3 = (0.0, 0.0, 0.0)

    WHAT: ClassVar[str] = "platform"

    def __post_init__(self) -> None:
        numbers(self.pivot, 3, "platform.pivot")
        if not self.signals:
            raise InputError("platform: nothing moves; give one of x, y, z, roll, pitch, yaw a Signal")
        super().__post_init__()
        for axis, signal in self.signals.items():
            if abs(float(signal.coefficients[0, 0])) > JUMP:
                start = f"{signal.coefficients[0, 0]:.9g}"
                remedy = f"subtract {start} from all of its values"
                raise InputError(
                    f"platform.{axis} starts at {start}: it must start at zero, from where it is; {remedy}"
                )
            if signal.largest_jump() > JUMP:
                raise InputError(f"platform.{axis} jumps by {signal.largest_jump():g}: a floor cannot; let it rise")


@dataclass(frozen=True)
class Patch:
    """A rectangle of the floor with other parameters; where patches overlap, the last one counts.

    Which part of the floor a contact point stands on is decided at the start of a step. Where stiffness changes, what
    the springs hold changes as a point passes the edge: the ledger books it with what the contacts dissipate.

    Attributes:
        x: (2,) [m] least and most, in the floor's frame.
        y: (2,) [m].
        floor: its parameters.

    Raises:
        InputError: it has no area.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    floor: Floor

    def __post_init__(self) -> None:
        for name in ("x", "y"):
            least, most = numbers(getattr(self, name), 2, f"patch.{name}")
            if not least < most:
                raise InputError(f"patch.{name} = ({least:g}, {most:g}): the first must be less than the second")
        if not isinstance(self.floor, Floor):
            raise InputError(f"patch.floor = {self.floor!r}: it must be a Floor, such as Floor(mu_s=0.05, mu_d=0.05)")


def compile_ground(
    floor: Floor, model: Model, platform: Platform | None = None, patches: Sequence[Patch] = ()
) -> Ground:
    """Return the floor as the kernels take it.

    Raises:
        InputError: a patch has another contact law than the floor.
    """
    parts = [floor.parameters, *(patch.floor.parameters for patch in patches)]
    if len({type(part.normal) for part in parts}) > 1:
        raise InputError("patch.floor has another contact law than the floor: give both the same class of Floor")
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
