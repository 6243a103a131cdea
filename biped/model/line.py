"""Lines between bodies for drawing, without mechanical effect."""

from dataclasses import dataclass

from biped.model.errors import ModelError
from biped.model.geometry import Vector3, name_of, vector3


@dataclass(frozen=True)
class Line:
    """A straight line for drawing between points of two bodies, or of a body and the ground: a spring, a wire, a rail.

    Attributes:
        first: name of the body at the start; None for the ground.
        second: name of the body at the end; None for the ground.
        begin: [m] position of the start, in the link frame of ``first``, or in the inertial frame on the ground.
        end: [m] position of the end, in the link frame of ``second``, or in the inertial frame on the ground.
        color: (red, green, blue), each from 0 to 1.

    Raises:
        ModelError: a name is empty, a number is not finite, or a colour is not from 0 to 1.
    """

    first: str | None
    second: str | None
    begin: Vector3 = (0.0, 0.0, 0.0)
    end: Vector3 = (0.0, 0.0, 0.0)
    color: Vector3 = (0.5, 0.5, 0.5)

    def __post_init__(self) -> None:
        for body in (self.first, self.second):
            if body is not None:
                name_of(body, "a line: the body")
        what = f"line from {self.first!r} to {self.second!r}:"
        object.__setattr__(self, "begin", vector3(self.begin, f"{what} begin"))
        object.__setattr__(self, "end", vector3(self.end, f"{what} end"))
        object.__setattr__(self, "color", vector3(self.color, f"{what} color"))
        if not all(0.0 <= part <= 1.0 for part in self.color):
            raise ModelError(f"{what} color must be three numbers from 0 to 1; got {self.color}")
