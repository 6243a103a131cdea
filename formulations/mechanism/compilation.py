"""Compilation of frames and components to the arrays that the kernels take.

The kernels' tree has one body for each configuration variable. In the home configuration, where all variables are
zero, the axes of all bodies are world axes; constant transforms only set positions in that configuration. Frames with
no variable between them are one body with their total mass, which may be zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.errors import InputError
from biped.kernels.tree.tree import PASSIVE, PRISMATIC, REVOLUTE, Tree
from biped.model.errors import ModelError, unknown
from contact.arrays import Floats, Integers
from formulations.mechanism.custom_arrays import Custom, new_customs
from formulations.mechanism.errors import MechanismError
from formulations.mechanism.frames import WORLD, Frame, tree_of
from formulations.mechanism.inputs import Input
from formulations.mechanism.kernels import constraints
from formulations.mechanism.kernels.ballast import Ballast
from formulations.mechanism.kernels.custom import CONSTRAINT, Customs
from formulations.mechanism.kernels.forces import Forces
from formulations.mechanism.kernels.points import WORLD as GROUND
from formulations.mechanism.kernels.points import Points
from formulations.mechanism.kernels.potentials import CoordinateSprings, Springs, Weights
from formulations.mechanism.kernels.system import Mechanics

if TYPE_CHECKING:
    from formulations.mechanism.component import Component


@dataclass(frozen=True, eq=False)
class Place:
    """Position and orientation of a frame.

    Attributes:
        body: row of the frame's body in the tree, which is the row of the last configuration variable at or before the
            frame; −1 if the frame does not move.
        position: (3,) [m] of the frame's origin in the home configuration, in world axes.
        rotation: (3, 3) from the frame's axes to world axes in the home configuration.
        frame: the frame itself; None for the world.
    """

    body: int
    position: Floats
    rotation: Floats
    frame: Frame | None = None


@dataclass(frozen=True, eq=False)
class Coordinate:
    """Configuration variable of a mechanism."""

    name: str  #: name of the variable
    frame: Frame  #: frame whose transform has the variable as parameter
    parent: int  #: row of the parent body; −1 for the world
    origin: Floats  #: (3,) [m] a point of the axis in the home configuration, in world axes
    axis: Floats  #: (3,) unit direction of the axis in the home configuration, in world axes

    @property
    def is_rotation(self) -> bool:
        """True for an angle."""
        return self.frame.is_rotation

    @property
    def unit(self) -> str:
        """Unit of the variable."""
        return "rad" if self.is_rotation else "m"

    @property
    def force_unit(self) -> str:
        """Unit of a force along the variable."""
        return "N*m" if self.is_rotation else "N"


@dataclass(frozen=True, eq=False)
class Structure:
    """Structure of a mechanism's frames: configuration variables, tree and centres of mass."""

    coordinates: tuple[Coordinate, ...]  #: variables in the order of q, parents first
    places: tuple[Place, ...]  #: places of all frames, with or without a name, in the order of `tree_of`
    named: dict[str, Place]  #: places of the frames with a name and of the world, by name
    tree: Tree  #: the kernels' tree
    com: Floats  #: (n, 3) [m] centres of mass of the bodies in the home configuration; without mass, the joint's origin

    @property
    def rows(self) -> dict[str, int]:
        """Rows of the configuration variables, by name."""
        return {coordinate.name: row for row, coordinate in enumerate(self.coordinates)}

    def offset(self, place: Place) -> Floats:
        """Return the offset (3,) [m] of a frame's origin from its body's centre of mass, or the world's origin."""
        return place.position if place.body < 0 else place.position - self.com[place.body]


_ORIGIN = Place(GROUND, np.zeros(3), np.eye(3))


def structure_of(frames: Sequence[Frame], gravity: Sequence[float]) -> Structure:
    """Return the structure of frames; ``gravity`` [m/s²] is the acceleration of all masses, in world axes.

    Raises:
        MechanismError: a name is used twice, a frame carries itself, or no frame can move.
    """
    coordinates: list[Coordinate] = []
    places: list[Place] = []
    named: dict[str, Place] = {WORLD: _ORIGIN}
    for frame, parent in tree_of(frames):
        place = _placed(frame, places[parent] if parent >= 0 else _ORIGIN, coordinates)
        places.append(place)
        if frame.name is not None:
            named[frame.name] = place
    if not coordinates:
        raise MechanismError("nothing can move: at least one frame's parameter must be a configuration variable")
    tree, com = _tree(coordinates, places, gravity)
    return Structure(tuple(coordinates), tuple(places), named, tree, com)


def _placed(frame: Frame, parent: Place, coordinates: list[Coordinate]) -> Place:
    """Return the place of a frame, and append the frame's variable, if any, to ``coordinates``."""
    if frame.coordinate is not None:
        axis, origin = parent.rotation @ frame.direction, parent.position + parent.rotation @ frame.origin
        coordinates.append(Coordinate(frame.coordinate, frame, parent.body, origin, axis))
        return Place(len(coordinates) - 1, parent.position, parent.rotation, frame)
    g = frame.matrix()
    position = parent.position + parent.rotation @ g[:3, 3]
    return Place(parent.body, position, parent.rotation @ g[:3, :3], frame)


def _tree(coordinates: Sequence[Coordinate], places: Sequence[Place], gravity: Sequence[float]) -> tuple[Tree, Floats]:
    """Return the kernels' tree and the bodies' centres of mass in the home configuration."""
    n = len(coordinates)
    mass, com, inertia = np.zeros(n), np.array([c.origin for c in coordinates]), np.zeros((n, 3, 3))
    heavy = [(p, p.frame.mass) for p in places if p.body >= 0 and p.frame is not None and p.frame.mass is not None]
    moment = np.zeros((n, 3))
    for place, (m, *_) in heavy:
        mass[place.body] += m
        moment[place.body] += m * place.position
    massive = mass > 0.0
    com[massive] = moment[massive] / mass[massive, None]
    for place, (m, *moments) in heavy:
        arm = place.position - com[place.body]
        inertia[place.body] += place.rotation @ np.diag(moments) @ place.rotation.T
        inertia[place.body] += m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    origin = np.array([c.origin for c in coordinates])
    parent = np.array([c.parent for c in coordinates], dtype=np.int64)
    before = np.where(parent[:, None] >= 0, com[parent], 0.0)
    pitch = np.array([c.frame.pitch for c in coordinates])
    kinds = [REVOLUTE if c.is_rotation else PRISMATIC for c in coordinates]
    tree = Tree(
        parent=parent, kind=np.array(kinds, dtype=np.int64), axis=np.array([c.axis for c in coordinates]),
        pitch=pitch if pitch.any() else np.zeros(0), joint_offset=origin - before, com_offset=com - origin, mass=mass,
        inertia=inertia.reshape(n, 9), first_q=np.arange(n), first_v=np.arange(n), dofs=np.ones(n, dtype=np.int64),
        gravity=np.array(gravity, dtype=float), contact_body=np.zeros(0, dtype=np.int64),
        contact_offset=np.zeros((0, 3)), armature=np.zeros(n), passive=np.zeros((0, PASSIVE)),
    )  # fmt: skip
    return tree, com


@dataclass
class Label:
    """Name and unit of a constraint's multiplier."""

    name: str
    unit: str


@dataclass
class Builder:
    """Collector of a mechanism's components, whose ``add_to`` call its methods."""

    structure: Structure
    labels: list[Label] = field(default_factory=list)
    inputs: list[tuple[str, Input]] = field(default_factory=list)
    _points: dict[str, int] = field(default_factory=dict)
    _springs: list[tuple[int, int, int, float, tuple[float, ...]]] = field(default_factory=list)
    _coordinate_springs: list[tuple[int, float, tuple[float, ...]]] = field(default_factory=list)
    _weights: list[tuple[int, tuple[float, float, float]]] = field(default_factory=list)
    _rows: list[tuple[int, int, int, int, Floats, tuple[float, ...]]] = field(default_factory=list)
    _damping: dict[int, float] = field(default_factory=dict)
    _torques: list[tuple[int, int]] = field(default_factory=list)
    _wrenches: list[tuple[int, Place, int]] = field(default_factory=list)
    customs: list[Custom] = field(default_factory=list)
    _current: str = ""

    # --- queries of components ---

    def place(self, name: str) -> Place:
        """Return the position and orientation of a frame.

        Raises:
            ModelError: there is no frame of this name; the message lists all names.
        """
        if name not in self.structure.named:
            raise unknown("frame", name, self.structure.named)
        return self.structure.named[name]

    def point(self, name: str) -> int:
        """Return the row of a frame's origin among the points."""
        self.place(name)
        return self._points.setdefault(name, len(self._points))

    def coordinate(self, name: str) -> int:
        """Return the row of a configuration variable.

        Raises:
            ModelError: there is no variable of this name; the message lists all names.
        """
        rows = self.structure.rows
        if name not in rows:
            raise unknown("configuration variable", name, rows)
        return rows[name]

    def force_unit(self, row: int) -> str:
        """Return the unit of a force along a configuration variable."""
        return self.structure.coordinates[row].force_unit

    def mass_of(self, name: str) -> float:
        """Return the mass [kg] of a frame.

        Raises:
            MechanismError: the frame has no mass.
        """
        frame = self.place(name).frame
        if frame is None or frame.mass is None or frame.mass[0] == 0.0:
            raise MechanismError(f"frame {name!r} has no mass for gravity to act on: give it one")
        return frame.mass[0]

    # --- additions by components ---

    def add_spring(self, law: int, first: str, second: str, rest: float, coefficients: tuple[float, ...]) -> None:
        """Add a spring between two frames' origins; ``law``: POLYNOMIAL or NEWTONIAN of ``kernels.potentials``."""
        self._check_apart(first, second)
        self._springs.append((law, self.point(first), self.point(second), rest, coefficients))

    def add_coordinate_spring(self, row: int, rest: float, coefficients: tuple[float, ...]) -> None:
        """Add a spring with the force Σ c_k (q − q₀)^k to a configuration variable."""
        self._coordinate_springs.append((row, rest, coefficients))

    def add_weight(self, point: int, force: tuple[float, float, float]) -> None:
        """Add a constant force [N], in world axes, at a point."""
        self._weights.append((point, force))

    def add_along(
        self, first: str, second: str, n: tuple[float, float, float], axes: str, label: str, offset: float = 0.0
    ) -> None:
        """Add a constraint n · (p₁ − p₂) = c, with n in the axes of a frame."""
        carrier = self.place(axes)
        self._check_apart(first, second)
        row = (
            constraints.ALONG,
            self.point(first),
            self.point(second),
            carrier.body,
            carrier.rotation @ n,
            (0.0, 0.0, offset),
        )
        self._add_row(row, label, "N")

    def add_distance(self, first: str, second: str, length: float | str, label: str) -> None:
        """Add a constraint |p₁ − p₂| = L; L is a number or a configuration variable."""
        self._check_apart(first, second)
        kind, carrier, number = constraints.DISTANCE, GROUND, length
        if isinstance(length, str):
            kind, carrier, number = constraints.STRING, self.coordinate(length), 0.0
        row = (kind, self.point(first), self.point(second), carrier, np.zeros(3), (0.0, 0.0, float(number)))
        self._add_row(row, label, "N")

    def add_linear(self, first: int, second: int, numbers: tuple[float, float, float], label: str, unit: str) -> None:
        """Add a constraint a q₁ + b q₂ = c; ``numbers`` are a, b, c, ``unit`` is the unit of its multiplier."""
        if first == second:
            raise MechanismError("it needs two different configuration variables")
        self._add_row((constraints.LINEAR, first, second, GROUND, np.zeros(3), numbers), label, unit)

    def add_cam(
        self, angle: int, follower: int, mean: float, harmonics: Sequence[tuple[float, float]], label: str
    ) -> None:
        """Add a constraint s(q_θ) = q_d, s(θ) = mean + Σ a_k cos kθ + b_k sin kθ; ``harmonics`` are (a_k, b_k)."""
        if angle == follower:
            raise MechanismError("it needs two different configuration variables")
        numbers = (mean, *(part for pair in harmonics for part in pair))
        self._add_row(
            (constraints.CAM, angle, follower, GROUND, np.zeros(3), numbers), label, self.force_unit(follower)
        )

    def add_damping(self, row: int, damping: float) -> None:
        """Add a damper with the force −b q̇ to a configuration variable."""
        self._damping[row] = self._damping.get(row, 0.0) + damping

    def add_torque(self, row: int, torque: Input) -> None:
        """Add a torque or force, a function of time, along a configuration variable."""
        self._torques.append((row, self._add_input(torque)))

    def add_wrench(self, kind: int, frame: str, parts: Sequence[Input]) -> None:
        """Add a wrench on a frame: six functions of time, force and moment; ``kind``: as in ``kernels.forces``."""
        place = self.place(frame)
        if place.body < 0:
            raise MechanismError(f"frame {frame!r} does not move: put the wrench on a frame that moves")
        first, *_ = [self._add_input(part) for part in parts]
        self._wrenches.append((kind, place, first))

    def add_custom(
        self,
        kind: int,
        part: Callable[..., int],
        strains: Sequence[tuple[str, str]],
        numbers: list[float],
        rows: int,
        label: tuple[str, str],
        *,
        exact: bool,
    ) -> None:
        """Add a user-defined component: functions of frame positions and configuration variables.

        Args:
            kind: POTENTIAL, FORCE or CONSTRAINT of ``formulations.mechanism.kernels.custom``.
            part: compiled part with the functions.
            strains: arguments of the functions, as pairs of a role, "frame" or "coordinate", and a name.
            numbers: constants passed to the functions.
            rows: number of rows of h of a constraint; 0 for other kinds.
            label: name and unit of a constraint's multipliers.
            exact: whether the part computes derivatives of its forces.
        """
        entries: list[tuple[int, int, int]] = []
        for role, name in strains:
            if role == "frame":
                entries += [(self.point(name), axis, -1) for axis in range(3)]
            else:
                entries.append((-1, -1, self.coordinate(name)))
        size = sum(len(other.strains) for other in self.customs if other.kind != CONSTRAINT)
        self.customs.append(Custom(kind, part, entries, numbers, len(self._rows), rows, exact, size))
        for c in range(rows):
            name = label[0] if rows == 1 else f"{label[0]}_{c + 1}"
            self._add_row((constraints.CUSTOM, 0, 0, GROUND, np.zeros(3), (0.0, 0.0, 0.0)), name, label[1])

    def _add_input(self, value: Input) -> int:
        self.inputs.append((self._current, value))
        return len(self.inputs)  # column 0 is the time

    def _check_apart(self, first: str, second: str) -> None:
        if self.place(first).body == self.place(second).body:
            raise MechanismError(f"{first!r} and {second!r} are on the same body, so their distance is fixed")

    def _add_row(self, row: tuple[int, int, int, int, Floats, tuple[float, ...]], label: str, unit: str) -> None:
        taken = {known.name for known in self.labels}
        name, count = label, 1
        while name in taken:
            count += 1
            name = f"{label}_{count}"
        self.labels.append(Label(name, unit))
        self._rows.append(row)

    # --- result ---

    def add(self, component: Component) -> None:
        """Add a component.

        Raises:
            MechanismError: the component does not fit the mechanism; the message begins with its ``repr``.
        """
        self._current = repr(component)
        try:
            component.add_to(self)
        except (InputError, ModelError) as error:
            raise MechanismError(f"{component!r}: {error}") from error

    def finish(self, prescribed: Sequence[bool], loose: Mapping[str, float]) -> Mechanics:
        """Return the arrays of all added components.

        Args:
            prescribed: for each coordinate, whether its motion is prescribed.
            loose: coordinates that move no mass, with an inertia [kg or kg m²] for the elimination.
        """
        springs, border = self._compile_springs(len(self._rows))
        ballast = Ballast(
            _integers(self.coordinate(name) for name in loose), np.array(list(loose.values()), dtype=float),
            np.array([border], dtype=np.int64),
        )  # fmt: skip
        border += len(loose)
        border += sum(len(custom.strains) for custom in self.customs if custom.kind != CONSTRAINT)
        return Mechanics(
            tree=self.structure.tree,
            prescribed=np.array(prescribed, dtype=np.int64),
            points=self._compile_points(),
            springs=springs,
            coordinate_springs=CoordinateSprings(
                _integers(k for k, _, _ in self._coordinate_springs),
                np.array([rest for _, rest, _ in self._coordinate_springs], dtype=float),
                _padded([law for _, _, law in self._coordinate_springs]),
            ),
            weights=Weights(
                _integers(point for point, _ in self._weights), _rows3([force for _, force in self._weights])
            ),
            forces=self._compile_forces(),
            constraints=constraints.Constraints(
                kind=_integers(row[0] for row in self._rows),
                first=_integers(row[1] for row in self._rows),
                second=_integers(row[2] for row in self._rows),
                carrier=_integers(row[3] for row in self._rows),
                direction=_rows3([row[4] for row in self._rows]),
                number=_padded([row[5] for row in self._rows], constraints.NUMBERS),
            ),
            ballast=ballast,
            border=np.array([border], dtype=np.int64),
        )

    def new_customs(self, border: int) -> tuple[Customs, list[Any]]:
        """Return the user-defined components with new buffers, and the objects that must outlive them.

        ``border``: number of unknowns besides the rates of the tree.
        """
        return new_customs(self.customs, border)

    def _compile_points(self) -> Points:
        places = [self.structure.named[name] for name in self._points]
        return Points(
            _integers(place.body for place in places), _rows3([self.structure.offset(place) for place in places])
        )

    def _compile_springs(self, border: int) -> tuple[Springs, int]:
        """Return the springs; a spring between two bodies takes three rows of the border, from row ``border`` on."""
        bodies = [self.structure.named[name].body for name in self._points]
        begins = []
        for _, first, second, _, _ in self._springs:
            between = bodies[first] >= 0 and bodies[second] >= 0
            begins.append(border if between else -1)
            border += 3 if between else 0
        springs = Springs(
            law=_integers(spring[0] for spring in self._springs),
            first=_integers(spring[1] for spring in self._springs),
            second=_integers(spring[2] for spring in self._springs),
            rest=np.array([spring[3] for spring in self._springs], dtype=float),
            coefficient=_padded([spring[4] for spring in self._springs]),
            border=_integers(begins),
        )
        return springs, border

    def _compile_forces(self) -> Forces:
        damping = np.zeros(len(self.structure.coordinates))
        for row, value in self._damping.items():
            damping[row] = value
        places = [place for _, place, _ in self._wrenches]
        return Forces(
            damping=damping,
            torque_coordinate=_integers(row for row, _ in self._torques),
            torque_input=_integers(place for _, place in self._torques),
            wrench_kind=_integers(kind for kind, _, _ in self._wrenches),
            wrench_body=_integers(place.body for place in places),
            wrench_offset=_rows3([self.structure.offset(place) for place in places]),
            wrench_axes=np.array([place.rotation.ravel() for place in places], dtype=float).reshape(-1, 9),
            wrench_input=_integers(first for _, _, first in self._wrenches),
        )


def _integers(values: Iterable[int]) -> Integers:
    return np.array(list(values), dtype=np.int64)


def _rows3(values: Sequence[Sequence[float] | Floats]) -> Floats:
    return np.array(values, dtype=float).reshape(-1, 3)


def _padded(laws: Sequence[tuple[float, ...]], least: int = 1) -> Floats:
    """Return an array with one row for each sequence, at least ``least`` wide, padded with zeros."""
    table = np.zeros((len(laws), max(least, *(len(law) for law in laws), 0)))
    for row, law in zip(table, laws, strict=True):
        row[: len(law)] = law
    return table
