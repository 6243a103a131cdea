"""Motion of a controller's set point: by signals, a recorded table, or a simple shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from biped.errors import InputError
from biped.inputs.checks import above_zero, numbers, zero_or_above
from biped.model.geometry import Vector3
from biped.records.read import Reading
from biped.signals import Displacement, Signal
from contact.arrays import Floats
from controllers.parameter import parameter

Shape = Literal["none", "step", "return", "sine", "recorded"]
NO_FILE = "none"
_AS_IT_IS = Reading()
#: Columns of a recorded table in addition to ``time``: position [m], and optionally a unit quaternion, scalar first.
PLACE, TURN = ("x", "y", "z"), ("qw", "qx", "qy", "qz")


@dataclass(frozen=True)
class SetPointPath(Displacement):
    """Displacement and rotation of a controller's set point over time, in world axes.

    The set point (p_0, R_0) of the controller moves to the position p_0 + (x, y, z) and orientation exp(φ̂) R_0, with
    the rotation vector φ = (roll, pitch, yaw). Velocities and accelerations are the derivatives of the signals; both
    are zero where value or slope jumps. A signal is zero before its first knot, and constant after its last knot.
    """

    WHAT: ClassVar[str] = "set point"

    @property
    def path(self) -> SetPointPath:
        """This path; for a ``SetPointMotion``, the path made from its numbers."""
        return self

    @property
    def moves(self) -> bool:
        """True if any signal is given."""
        return bool(self.signals)

    def end(self) -> Floats:
        """Return the displacement (6,) at the end of the motion."""
        return self.at(self.ends)

    @classmethod
    def recorded(
        cls, times: ArrayLike, positions: ArrayLike, orientations: ArrayLike | None = None, start: float = 0.0
    ) -> SetPointPath:
        """Return the path of a recorded body relative to its first row, by cubic splines.

        Args:
            times: (n,) [s] ascending times; the first one is shifted to ``start``.
            positions: (n, 3) [m] positions, world axes.
            orientations: (n, 4) unit quaternions, scalar first, body to world; None: no rotation.
            start: [s] start of the motion in the run.

        Raises:
            InputError: a shape is wrong, a number is not finite, times do not ascend, or a quaternion is not unit.
        """
        at, place = np.asarray(times, dtype=float), np.asarray(positions, dtype=float)
        if at.ndim != 1 or place.shape != (len(at), 3):
            raise InputError(
                f"recorded set point: shape of times {at.shape}, of positions {place.shape}: use (n,) and (n, 3)"
            )
        turned = np.zeros((len(at), 3)) if orientations is None else _turns(at, np.asarray(orientations, dtype=float))
        table = np.column_stack([place - place[:1], turned])
        since = start + at - at[:1]
        return cls(*(Signal.sampled(since, column, "cubic") if column.any() else None for column in table.T))

    @classmethod
    def from_csv(cls, path: str | Path, start: float = 0.0, reading: Reading = _AS_IT_IS) -> SetPointPath:
        """Return ``recorded`` for a CSV file with columns time [s], x, y, z [m] and, for rotations, qw, qx, qy, qz.

        Raises:
            InputError: the file has no such table; the message gives the file and the line or column.
            OSError: the file cannot be read.
        """
        record = reading.read(path)
        turns = [name for name in TURN if name in record.columns]
        if turns and len(turns) != len(TURN):
            raise InputError(f"{path}: it must have all or no columns {', '.join(TURN)}, but has {', '.join(turns)}")
        table = np.column_stack([record.signal(name)(record.time) for name in (*PLACE, *turns)])
        try:
            return cls.recorded(record.time, table[:, :3], table[:, 3:] if turns else None, start)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None


def _turns(times: Floats, orientations: Floats) -> Floats:
    """Return the rotation vectors (n, 3) [rad] from the first orientation, without jumps by whole turns."""
    if orientations.shape != (len(times), 4) or not np.all(np.isfinite(orientations)):
        raise InputError(f"recorded set point: orientations {orientations.shape}: use ({len(times)}, 4) finite numbers")
    if np.any(np.abs(np.linalg.norm(orientations, axis=1) - 1.0) > 1e-3):
        raise InputError("recorded set point: orientations must be unit quaternions, scalar first")
    from scipy.spatial.transform import Rotation  # importing it takes a fifth of a command's start

    turns = Rotation.from_quat(orientations, scalar_first=True)
    vectors: Floats = (turns * turns[0].inv()).as_rotvec()
    if np.any(np.linalg.norm(vectors, axis=1) > 0.9 * np.pi):
        raise InputError("recorded set point: it turns by more than 160° from its first row: use SetPointPath signals")
    return vectors


@dataclass(frozen=True)
class SetPointMotion:
    """Motion of a set point described by a few numbers, which are parameters of experiments.

    Attributes:
        shape: ``none``, ``step`` (minimum-jerk step), ``return`` (a step and, after ``hold``, a step back), ``sine``
            (about the set point) or ``recorded``.
        file: for ``recorded``: CSV file with columns time [s], x, y, z [m] and, for rotations, qw, qx, qy, qz.

    Raises:
        InputError: a number is out of range, displacement and turn are zero, or the file lacks a column.
    """

    shape: Shape = parameter("none", "", "Motion of the set point: none, step, return (step and back), sine, recorded")
    displacement: Vector3 = parameter((0.0, 0.0, 0.0), "m", "Set point displacement, world axes; sine: amplitude")
    turn: Vector3 = parameter((0.0, 0.0, 0.0), "rad", "Set point rotation vector, world axes; sine: amplitude")
    start: float = parameter(0.5, "s", "Start of the set point's motion")
    rise: float = parameter(1.0, "s", "Rise time of the set point's step; fade-in and fade-out time of its sine")
    hold: float = parameter(0.5, "s", "Hold time between the set point's step and its return")
    frequency: float = parameter(0.5, "Hz", "Frequency of the set point's sine")
    duration: float = parameter(10.0, "s", "Duration of the set point's sine")
    file: str = parameter(NO_FILE, "", "Recorded root motion (CSV, world axes): time [s], x, y, z [m], qw, qx, qy, qz")
    reading: Reading = field(default=_AS_IT_IS, metadata={"inline": True})

    def __post_init__(self) -> None:
        shapes: Sequence[str] = get_args(Shape)
        if self.shape not in shapes:
            raise InputError(f"controller.motion.shape = {self.shape!r}: it must be one of {', '.join(shapes)}")
        for name in ("displacement", "turn"):
            object.__setattr__(self, name, numbers(getattr(self, name), 3, f"controller.motion.{name}"))
        for name in ("start", "hold"):
            zero_or_above(getattr(self, name), f"controller.motion.{name}")
        for name in ("rise", "frequency", "duration"):
            above_zero(getattr(self, name), f"controller.motion.{name}")
        if self.shape in ("step", "return", "sine") and not any((*self.displacement, *self.turn)):
            raise InputError(f"controller.motion.shape = {self.shape}: set displacement or turn; both are zero")
        object.__setattr__(self, "_path", self._made())

    @property
    def path(self) -> SetPointPath:
        """Path of the set point with this motion."""
        path: SetPointPath = self.__dict__["_path"]
        return path

    def _made(self) -> SetPointPath:
        if self.shape == "none":
            return SetPointPath()
        if self.shape == "recorded":
            return self._read()
        return SetPointPath(*(self._signal(size) if size else None for size in (*self.displacement, *self.turn)))

    def _signal(self, size: float) -> Signal:
        if self.shape == "sine":
            return Signal.sine(size, self.frequency, self.start, self.duration, self.rise)
        if self.shape == "return":
            return Signal.there_and_back(size, self.start, self.rise, self.hold)
        return Signal.step(size, self.start, self.rise)

    def _read(self) -> SetPointPath:
        if self.file == NO_FILE:
            raise InputError("controller.motion.file = none: give a CSV file with columns time [s], x, y, z [m]")
        try:
            return SetPointPath.from_csv(self.file, self.start, self.reading)
        except OSError as error:
            raise InputError(f"controller.motion.file = {self.file}: it cannot be read ({error.strerror})") from None
