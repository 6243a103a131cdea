"""Potential energies (section IV-C of Johnson & Murphey 2009); gravity of all masses is the mechanism's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biped.inputs.checks import above_zero, is_finite, numbers
from formulations.mechanism.compilation import Builder
from formulations.mechanism.component import CoordinateName, FrameName, Potential, Vector, finite, several
from formulations.mechanism.errors import MechanismError
from formulations.mechanism.kernels.potentials import NEWTONIAN, POLYNOMIAL

#: [N m²/kg²]
GRAVITATIONAL_CONSTANT = 6.6743e-11


def _coefficients(given: float | tuple[float, ...], what: str) -> tuple[float, ...]:
    """c₁, c₂, … of a force Σ c_k x^k."""
    found = several(given, what)
    if not found:
        raise MechanismError(f"{what} = {given!r}: it must be a finite number, or several")
    return found


@dataclass(frozen=True)
class Gravity(Potential):
    """Constant gravity field for one mass, if masses have different fields (30).

    Attributes:
        frame: frame with the mass.
        acceleration: [m/s²].
    """

    word: ClassVar[str] = "gravity-of"
    frame: FrameName
    acceleration: Vector = (0.0, 0.0, -9.81)

    def add_to(self, builder: Builder) -> None:
        """Add a constant force at the mass."""
        x, y, z = numbers(self.acceleration, 3, "acceleration")
        mass = builder.mass_of(self.frame)
        builder.add_weight(builder.point(self.frame), (mass * x, mass * y, mass * z))


@dataclass(frozen=True)
class LinearSpring(Potential):
    """V = ½ k (x − x₀)², x being the distance between two frames' origins (33)–(35).

    Attributes:
        first, second: the frames.
        stiffness: [N/m] k.
        length: [m] x₀. Where it is not zero, V has no derivative where the two frames meet.
    """

    word: ClassVar[str] = "linear-spring"
    first: FrameName
    second: FrameName
    stiffness: float
    length: float = 0.0

    def add_to(self, builder: Builder) -> None:
        """Add the spring."""
        law = _coefficients(self.stiffness, "stiffness")
        builder.add_spring(POLYNOMIAL, self.first, self.second, _rest(self.length), law)


@dataclass(frozen=True)
class NonlinearSpring(Potential):
    """Spring with force c₁ (x − x₀) + c₂ (x − x₀)² + …; x is the distance between two frames' origins.

    Attributes:
        first, second: the frames.
        coefficients: [N/m, N/m², …] c₁, c₂, ….
        length: [m] x₀.
    """

    word: ClassVar[str] = "nonlinear-spring"
    first: FrameName
    second: FrameName
    coefficients: tuple[float, ...]
    length: float = 0.0

    def add_to(self, builder: Builder) -> None:
        """Add the spring."""
        law = _coefficients(self.coefficients, "coefficients")
        builder.add_spring(POLYNOMIAL, self.first, self.second, _rest(self.length), law)


def _rest(length: float) -> float:
    if not is_finite(length) or length < 0.0:
        raise MechanismError(f"length = {length!r}: it must be a finite number of metres, zero or above")
    return float(length)


@dataclass(frozen=True)
class CoordinateSpring(Potential):
    """Spring at one configuration variable (torsional for an angle): V = ½ k (q − q₀)².

    Attributes:
        coordinate: the variable.
        stiffness: [N·m/rad or N/m] k; several numbers are c₁, c₂, … of a force Σ c_k (q − q₀)^k.
        rest: [rad or m] q₀.
    """

    word: ClassVar[str] = "coordinate-spring"
    coordinate: CoordinateName
    stiffness: float | tuple[float, ...]
    rest: float = 0.0

    def add_to(self, builder: Builder) -> None:
        """Add the spring."""
        law = _coefficients(self.stiffness, "stiffness")
        builder.add_coordinate_spring(builder.coordinate(self.coordinate), finite(self.rest, "rest"), law)


@dataclass(frozen=True)
class NewtonianGravity(Potential):
    """V = −G m₁ m₂ / r between the masses of two frames, as in celestial mechanics.

    Attributes:
        first, second: the frames; their origins are their centres of mass.
        constant: [N m²/kg²] G.
    """

    word: ClassVar[str] = "newtonian-gravity"
    first: FrameName
    second: FrameName
    constant: float = GRAVITATIONAL_CONSTANT

    def add_to(self, builder: Builder) -> None:
        """Add a force along the line between the masses."""
        above_zero(self.constant, "constant")
        strength = self.constant * builder.mass_of(self.first) * builder.mass_of(self.second)
        builder.add_spring(NEWTONIAN, self.first, self.second, 0.0, (strength,))
