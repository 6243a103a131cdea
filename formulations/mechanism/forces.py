"""Forces without a potential (section IV-E of Johnson & Murphey 2009)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from biped.inputs.checks import zero_or_above
from formulations.mechanism.compilation import Builder
from formulations.mechanism.component import CoordinateName, Force, FrameName
from formulations.mechanism.errors import MechanismError
from formulations.mechanism.inputs import Input, checked_input
from formulations.mechanism.kernels.forces import BODY, HYBRID, SPATIAL

#: Components along x, y and z, each a function of time.
Inputs3 = Annotated[Sequence[Input], "vector"]


@dataclass(frozen=True)
class Damper(Force):
    """Linear damper at one configuration variable q, with the force −b q̇.

    Attributes:
        coordinate: name of the variable.
        damping: [N·m·s/rad or N·s/m] damping constant b.
    """

    word: ClassVar[str] = "damper"
    coordinate: CoordinateName
    damping: float

    def add_to(self, builder: Builder) -> None:
        """Add b to the damping of the variable."""
        zero_or_above(self.damping, "damping")
        builder.add_damping(builder.coordinate(self.coordinate), float(self.damping))


@dataclass(frozen=True)
class Torque(Force):
    """Motor that exerts a torque or force along one configuration variable.

    Attributes:
        coordinate: name of the variable.
        torque: [N·m or N] a number, a ``biped.signals.Signal``, or a function of an array of times [s].
    """

    word: ClassVar[str] = "torque"
    coordinate: CoordinateName
    torque: Input

    def add_to(self, builder: Builder) -> None:
        """Add the torque and its function of time."""
        builder.add_torque(builder.coordinate(self.coordinate), checked_input(self.torque, "torque"))


@dataclass(frozen=True)
class _Wrench(Force):
    """Force and moment on a frame.

    Attributes:
        frame: frame on whose body the wrench acts.
        force: [N] along x, y and z: numbers, ``biped.signals.Signal`` objects, or functions of an array of times [s].
        moment: [N·m] about x, y and z: numbers, signals or functions.
    """

    kind: ClassVar[int]
    frame: FrameName
    force: Inputs3 = (0.0, 0.0, 0.0)
    moment: Inputs3 = (0.0, 0.0, 0.0)

    def add_to(self, builder: Builder) -> None:
        """Add the wrench and its functions of time."""
        parts: list[Input] = []
        for what, three in (("force", self.force), ("moment", self.moment)):
            if not hasattr(three, "__len__") or len(three) != 3:
                raise MechanismError(
                    f"{what} = {three!r}: it must be three numbers or functions of time, along x, y and z"
                )
            parts += [checked_input(value, f"{what} along {axis}") for value, axis in zip(three, "xyz", strict=True)]
        builder.add_wrench(self.kind, self.frame, parts)


class BodyWrench(_Wrench):
    """Wrench on a frame: force [N] at its origin and moment [N·m], in its axes (Johnson & Murphey 2009, figure 5)."""

    word: ClassVar[str] = "body-wrench"
    kind: ClassVar[int] = BODY


class HybridWrench(_Wrench):
    """Wrench on a frame: force [N] at its origin and moment [N·m], both in world axes."""

    word: ClassVar[str] = "hybrid-wrench"
    kind: ClassVar[int] = HYBRID


class SpatialWrench(_Wrench):
    """Wrench on a frame: force [N] at the world's origin and moment [N·m] about this origin, both in world axes."""

    word: ClassVar[str] = "spatial-wrench"
    kind: ClassVar[int] = SPATIAL
