"""User-defined potentials, forces and constraints: a small class with plain functions, which Numba compiles.

The annotations of the class's fields declare the arguments of its functions, in the order of the fields:

- ``FrameName``: position of a frame's origin in world axes, three entries of ``z`` [m];
- ``CoordinateName``: a configuration variable, one entry of ``z`` [rad or m];
- ``float``: a constant, one entry of ``c``.

A class with a keyword, ``word``, can be used in S-expressions.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from biped.inputs.checks import is_finite
from formulations.mechanism.compilation import Builder
from formulations.mechanism.component import Component, Constraint, Force, Potential
from formulations.mechanism.errors import MechanismError
from formulations.mechanism.kernels import custom as kernels
from formulations.mechanism.kernels import custom_parts
from kernelcache import kernel

_parts: dict[type, Callable[..., int]] = {}


def numbers_of(component: Component) -> list[float]:
    """Return the constants of a component: its fields that are neither frames nor variables."""
    roles, constants = component.roles(), []
    for field in fields(component):
        value = getattr(component, field.name)
        if roles[field.name] in ("frame", "coordinate"):
            continue
        if not is_finite(value):
            raise MechanismError(f"{field.name} = {value!r}: it must be a finite number")
        constants.append(float(value))
    return constants


def _add(component: Component, builder: Builder, kind: int, rows: int = 0, labels: tuple[str, str] = ("", "")) -> None:
    roles = component.roles()
    strains = [(what, getattr(component, name)) for name, what in roles.items() if what in ("frame", "coordinate")]
    if not strains:
        raise MechanismError("it depends on no frame or variable: annotate a field as FrameName or CoordinateName")
    exact = isinstance(component, CustomPotential) and component.hessian is not None
    builder.add_custom(kind, part_of(type(component)), strains, numbers_of(component), rows, labels, exact=exact)


@dataclass(frozen=True)
class CustomPotential(Potential):
    """User-defined potential energy V(z) of positions and variables z (s,), with the constants c.

    ``energy(z, c)`` returns V [J], ``gradient(z, c, g)`` writes ∂V/∂z into g (s,). ``hessian(z, c, H)`` is optional: it
    writes ∂²V/∂z² into H (s, s), which only speeds up the solution of a time step.
    """

    @staticmethod
    def energy(z: Any, c: Any) -> float:
        """Return V(z) [J]."""
        raise NotImplementedError

    @staticmethod
    def gradient(z: Any, c: Any, g: Any) -> None:
        """Write ∂V/∂z into g (s,)."""
        raise NotImplementedError

    hessian: ClassVar[Callable[..., None] | None] = None

    def add_to(self, builder: Builder) -> None:
        """Add the component's functions."""
        _add(self, builder, kernels.POTENTIAL)


@dataclass(frozen=True)
class CustomForce(Force):
    """User-defined force: ``force(z, rate, t, c, f)`` writes the forces on positions and variables z (s,) into f (s,).

    ``rate`` is ż, velocities of the positions and rates of the variables; t is the time [s]; c are the constants.
    """

    @staticmethod
    def force(z: Any, rate: Any, t: float, c: Any, f: Any) -> None:
        """Write the forces [N or N·m] into f (s,)."""
        raise NotImplementedError

    def add_to(self, builder: Builder) -> None:
        """Add the component's function."""
        _add(self, builder, kernels.FORCE)


@dataclass(frozen=True)
class CustomConstraint(Constraint):
    """User-defined holonomic constraint h(z) = 0 on positions and variables z (s,), with the constants c.

    ``value(z, c, h)`` writes h(z) into h, ``jacobian(z, c, D)`` writes ∂h/∂z into D, which contains zeros before.

    Attributes:
        rows: number of entries of h and of rows of D.
        unit: unit of the multipliers: "N" for h in metres, "N*m" for h in radians.
    """

    rows: ClassVar[int] = 1
    unit: ClassVar[str] = "N"

    @staticmethod
    def value(z: Any, c: Any, h: Any) -> None:
        """Write h(z) into h (rows,)."""
        raise NotImplementedError

    @staticmethod
    def jacobian(z: Any, c: Any, D: Any) -> None:
        """Write ∂h/∂z into D (rows, s)."""
        raise NotImplementedError

    def add_to(self, builder: Builder) -> None:
        """Add the component's functions and rows of h."""
        names = "_".join([*self.named("frame"), *self.named("coordinate")])
        _add(self, builder, kernels.CONSTRAINT, self.rows, (f"{type(self).__name__}_{names}", self.unit))


def part_of(kind: type) -> Callable[..., int]:
    """Return the compiled part with the functions of a class (cached).

    Raises:
        MechanismError: a required function is missing.
    """
    if kind not in _parts:
        _parts[kind] = _made(kind)
    return _parts[kind]


def _made(kind: type) -> Callable[..., int]:
    if issubclass(kind, CustomPotential):
        energy, gradient = _compiled(kind, CustomPotential, "energy"), _compiled(kind, CustomPotential, "gradient")
        if kind.hessian is None:
            return custom_parts.potential_without_hessian(_name(kind), energy, gradient)
        return custom_parts.potential_part(_name(kind), energy, gradient, kernel(kind.hessian))
    if issubclass(kind, CustomForce):
        return custom_parts.force_part(_name(kind), _compiled(kind, CustomForce, "force"))
    value, jacobian = _compiled(kind, CustomConstraint, "value"), _compiled(kind, CustomConstraint, "jacobian")
    return custom_parts.constraint_part(_name(kind), value, jacobian)


def _compiled(kind: type, base: type, name: str) -> Callable[..., Any]:
    function = getattr(kind, name)
    if function is getattr(base, name):
        raise MechanismError(f"{kind.__name__} has no function {name}: define it as a static method")
    return kernel(function)


def _name(kind: type) -> str:
    """Return a unique name of a class, under which its compiled code is cached on disk."""
    home = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    tag = hashlib.sha256(f"{home} {kind.__module__}".encode()).hexdigest()[:8]
    return re.sub(r"\W", "_", f"{kind.__qualname__}_{tag}")
