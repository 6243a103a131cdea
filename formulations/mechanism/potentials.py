"""Potential energies (section IV-C of Johnson & Murphey 2009), except gravity on all masses, a field of `Mechanism`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biped.inputs.checks import above_zero, is_finite, numbers
from formulations.mechanism.compilation import Builder
from formulations.mechanism.component import CoordinateName, FrameName, Potential, Vector, finite, several
from formulations.mechanism.errors import MechanismError
from formulations.mechanism.kernels.potentials import NEWTONIAN, POLYNOMIAL

#: Gravitational constant G [N m²/kg²].
GRAVITATIONAL_CONSTANT = 6.6743e-11


def _coefficients(given: float | tuple[float, ...], what: str) -> tuple[float, ...]:
    """Return the coefficients c₁, c₂, … of a force Σ c_k x^k."""
    coefficients = several(given, what)
    if not coefficients:
        raise MechanismError(f"{what} = {given!r}: it must be one or more finite numbers")
    return coefficients


@dataclass(frozen=True)
class Gravity(Potential):
    """Uniform gravity on one mass, for masses in different fields (Johnson & Murphey 2009, eq. (30)).

    Attributes:
        frame: name of the frame with the mass.
        acceleration: [m/s²] gravitational acceleration, in world axes.
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
    """Linear spring between two frames' origins: V = ½ k (x − x₀)² at distance x (Johnson & Murphey 2009, (33)–(35)).

    Attributes:
        first, second: names of the frames.
        stiffness: [N/m] stiffness k.
        length: [m] rest length x₀. Unless it is zero, V has no derivative where the two origins coincide.
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
    """Spring between two frames' origins at the distance x, with the force c₁ (x − x₀) + c₂ (x − x₀)² + ….

    Attributes:
        first, second: names of the frames.
        coefficients: [N/m, N/m², …] coefficients c₁, c₂, … of the force.
        length: [m] rest length x₀.
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
    """Spring at one configuration variable q (torsional for an angle): V = ½ k (q − q₀)².

    Attributes:
        coordinate: name of the variable.
        stiffness: [N·m/rad or N/m] k; or c₁, c₂, … [N·m/radⁱ or N/mⁱ] for the force −Σ cᵢ (q − q₀)ⁱ.
        rest: [rad or m] rest position q₀.
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
    """Newtonian gravity between the masses m₁, m₂ of two frames at the distance r: V = −G m₁ m₂ / r.

    Attributes:
        first, second: names of the frames, whose masses are at their origins.
        constant: [N m²/kg²] gravitational constant G.
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
