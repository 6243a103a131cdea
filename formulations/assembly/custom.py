"""User-defined potentials, constraints and inequalities of an assembly: functions of the positions of points.

The classes are those of mechanisms (`formulations.mechanism.CustomPotential`, `CustomConstraint`); their frames are the
assembly's points, or ``"world"``. `CustomInequality` is only for assemblies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biped.kernels.tree import row_kinds as kinds
from biped.model.errors import unknown
from biped.model.geometry import Quaternion, Vector3, vector3
from biped.model.joint_rows import Row
from formulations.assembly.errors import AssemblyError
from formulations.assembly.joint import Freedom
from formulations.assembly.kernels.links import CustomLinks
from formulations.mechanism.component import Component
from formulations.mechanism.custom import CustomConstraint, CustomPotential, numbers_of, part_of
from formulations.mechanism.custom_arrays import Custom, new_customs
from formulations.mechanism.errors import MechanismError
from formulations.mechanism.kernels.custom import CONSTRAINT, POTENTIAL

WORLD = "world"
_ZERO: Vector3 = (0.0, 0.0, 0.0)
_ROW = Row(kinds.TRANSLATION, (0.0, 0.0, 1.0))

#: Body (None: the ground) and position (3,) [m] from its centre of mass, in body axes.
Point = tuple[str | None, Sequence[float]]


@dataclass(frozen=True)
class CustomInequality(CustomConstraint):
    """User-defined inequality φ(z) ≥ 0 of positions z [m] of points; it acts as a rigid stop on φ.

    ``value(z, c, h)`` writes φ(z) into h, ``jacobian(z, c, D)`` writes ∂φ/∂z into D; c are the component's constants.
    """

    def add_to(self, builder: Any) -> None:
        """Raise an error, since mechanisms do not support inequalities.

        Raises:
            MechanismError: always.
        """
        raise MechanismError("a Mechanism does not support inequalities: use a formulations.assembly.Assembly")


@dataclass(frozen=True)
class CustomLink:
    """Function of points on one or two bodies, with the interface of a joint."""

    name: str
    component: Component
    number: int  # of the component
    inboard: str | None
    outboard: str
    is_first: bool
    inboard_point: Vector3 = _ZERO
    outboard_point: Vector3 = _ZERO
    alignment: Quaternion = (1.0, 0.0, 0.0, 0.0)

    @property
    def is_inequality(self) -> bool:
        """True if the rows are kept at or above zero."""
        return isinstance(self.component, CustomInequality)

    @property
    def _rows(self) -> tuple[Row, ...]:
        return (_ROW,) * (self.component.rows if isinstance(self.component, CustomConstraint) else 1)

    @property
    def rigid_rows(self) -> tuple[Row, ...]:
        """Rows of a constraint; separate kernels evaluate them (``formulations.assembly.kernels.links``)."""
        return self._rows if isinstance(self.component, CustomConstraint) and not self.is_inequality else ()

    @property
    def free_rows(self) -> tuple[Row, ...]:
        """Rows of a potential or an inequality."""
        return () if self.rigid_rows else self._rows

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        """Freedoms along the free rows: with lower limit zero for an inequality, free for a potential."""
        return (Freedom(lower=0.0) if self.is_inequality else Freedom(),) * len(self.free_rows)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of an inequality's values."""
        if not self.is_inequality:
            return ()
        rows = len(self.free_rows)
        return (self.name,) if rows == 1 else tuple(f"{self.name}_{k}" for k in range(1, rows + 1))

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the coordinates."""
        return ("m",) * len(self.coordinate_names)


def links_of(components: Sequence[Component], points: Mapping[str, Point]) -> Iterator[CustomLink]:
    """Yield the links of components: one link for each component, or for each two bodies of a potential.

    Raises:
        AssemblyError: a component is of another kind, names an unknown point or none, or has more than two bodies.
    """
    counts: dict[str, int] = {}
    for number, component in enumerate(components):
        if not isinstance(component, (CustomPotential, CustomConstraint)):
            raise AssemblyError(
                f"components: {component!r}: it must be a CustomPotential, a CustomConstraint or a CustomInequality"
            )
        frames, given = component.named("frame"), {None: None} | {body: None for body, _ in points.values()}
        for frame in frames:
            if frame != WORLD and frame not in points:
                raise AssemblyError(f"{component!r}: {unknown('point', frame, points)}")
        bodies = [b for b in given if b is not None and any(f in points and points[f][0] == b for f in frames)]
        held = component.rows if isinstance(component, CustomConstraint) else None
        if component.named("coordinate") or not bodies or (held is not None and len(bodies) > 2):
            most = "of bodies" if held is None else "of one or two bodies"
            raise AssemblyError(f"{component!r}: it must depend only on positions of points {most}")
        if held is not None and not 1 <= held <= 6:
            raise AssemblyError(f"{component!r}: rows = {held}: the number of its equations must be from 1 to 6")
        name = "_".join([type(component).__name__, *frames])
        counts[name] = counts.get(name, 0) + 1
        if counts[name] > 1:
            name = f"{name}_{counts[name]}"
        for first in range(0, len(bodies), 2):
            outboard, *inboard = bodies[first : first + 2]
            yield CustomLink(name, component, number, inboard[0] if inboard else None, outboard, first == 0)


def new_links(
    links: Sequence[CustomLink], points: Mapping[str, Point], index: Mapping[str, int], begin: int
) -> tuple[CustomLinks, list[Any]]:
    """Return the links for the kernels, and objects to be kept as long as the links.

    Args:
        links: all custom links of the assembly.
        points: points that the components use, by name.
        index: indices of bodies by name.
        begin: index of the first custom link among joints and links.
    """
    names = [*points, WORLD]
    given = {link.number: link.component for link in links}
    customs = [
        Custom(
            POTENTIAL if isinstance(component, CustomPotential) else CONSTRAINT, part_of(type(component)),
            [(names.index(frame), axis, -1) for frame in component.named("frame") for axis in range(3)],
            numbers_of(component), 0, getattr(component, "rows", 0), exact=False, border=0,
        )
        for component in given.values()
    ]  # fmt: skip
    compiled, rooms = new_customs(customs, 0)
    bodies = [-1 if body is None else index[body] for body, _ in points.values()]
    offset = np.array([*(vector3(place, f"point {name!r}") for name, (_, place) in points.items()), _ZERO], dtype=float)
    return CustomLinks(
        customs=compiled,
        custom=np.array([list(given).index(link.number) for link in links], dtype=np.int64),
        is_first=np.array([int(link.is_first) for link in links], dtype=np.int64),
        begin=begin,
        body=np.array([*bodies, -1], dtype=np.int64),
        offset=offset, arm=np.zeros_like(offset), place=np.zeros_like(offset),
    ), rooms  # fmt: skip
