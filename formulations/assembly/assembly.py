"""Assembly: rigid bodies in maximal coordinates, with joints, springs and contacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from biped.dynamics.numerics import project
from biped.model.errors import unknown
from biped.model.geometry import STANDARD_GRAVITY, Vector3, name_of, quaternion, quaternion_matrix, vector3
from biped.runs.march import Progress
from contact.arrays import Floats
from formulations.assembly.body import BodyContact, PointContact, RigidBody
from formulations.assembly.compilation import Structure, structure_of
from formulations.assembly.custom import CustomLink, Point, links_of, new_links
from formulations.assembly.errors import AssemblyError
from formulations.assembly.graph import fill_in
from formulations.assembly.joint import Joint, quaternion_product
from formulations.assembly.kernels.links import rows_at_poses
from formulations.assembly.kernels.system import System, new_poses
from formulations.assembly.placement import Placement, displaced
from formulations.assembly.simulation import Motion, Settings, simulate
from formulations.assembly.spring import Spring
from formulations.assembly.wrenches import Wrench
from formulations.mechanism.component import Component
from formulations.mechanism.inputs import Input

#: The coordinate of a joint with one freedom, or a sequence of all coordinates of a joint.
Coordinates = float | Sequence[float]
#: Position (3,) of the centre of mass [m] and unit quaternion (4,) from body to world axes, scalar first.
Pose = tuple[Sequence[float], Sequence[float]]

#: Relative threshold below which a singular value of the rows' gradients counts as zero.
RANK = 1e-9
#: Greatest number of iterations to close the joints, and the tolerance [m or sine].
ROUNDS, CLOSED = 60, 1e-13


@dataclass(frozen=True, eq=False)
class Assembly:
    """System of rigid bodies with joints (loops allowed) and contacts with planes or bodies (Brüdigam et al. 2024).

    Attributes:
        name: name of the assembly.
        bodies: rigid bodies, in the order of the rows of all arrays; bodies without a joint are free.
        joints: joints. A joint between two bodies that are already connected by earlier joints closes a loop.
        contacts: contacts of points with planes; for contacts between bodies see ``touching``.
        gravity: (3,) [m/s²] gravitational acceleration, in world axes.
        directions: number of sides of the friction pyramid, even and at least four; 0: Coulomb's friction cone.
        touching: pairs of bodies that may touch; other pairs pass through each other.
        springs: springs between points of bodies.
        components: user-defined parts, each a ``CustomPotential``, ``CustomConstraint`` or ``CustomInequality``.
        points: points that the components use, by name: pairs (body, position [m] from the body's centre of mass, in
            body axes), or (None, position [m] in the world).

    Raises:
        AssemblyError: a name is unknown or used twice, the number of directions is invalid, or two touching bodies
            have no shape, share a joint, or are listed twice.
        ModelError: a vector is not finite.
    """

    name: str
    bodies: tuple[RigidBody, ...]
    joints: tuple[Joint, ...] = ()
    contacts: tuple[PointContact, ...] = ()
    gravity: Vector3 = STANDARD_GRAVITY
    directions: int = 4
    touching: tuple[BodyContact, ...] = ()
    springs: tuple[Spring, ...] = ()
    components: tuple[Component, ...] = ()
    points: Mapping[str, Point] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name_of(self.name, "an assembly")
        object.__setattr__(self, "components", tuple(self.components))
        for what in ("bodies", "joints", "contacts", "touching", "springs"):
            object.__setattr__(self, what, tuple(getattr(self, what)))
            names = [part.name for part in getattr(self, what)]
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise AssemblyError(f"{what}: two have the name {twice!r}; give each its own name")
        if not self.bodies:
            raise AssemblyError(f"assembly {self.name!r} has no bodies; it needs at least one")
        for joint in self.links:
            for end in (joint.inboard, joint.outboard):
                if end is not None:
                    self.body_index(end, f"{type(joint).__name__.lower()} {joint.name!r}")
        taken = {name for link in self.links if not isinstance(link, Spring) for name in link.coordinate_names}
        for spring in self.springs:
            if spring.name in taken:
                raise AssemblyError(f"spring {spring.name!r}: a joint's coordinate has this name; rename the spring")
        for contact in self.contacts:
            self.body_index(contact.body, f"contact {contact.name!r}")
        self._check_touching()
        self._check_directions()
        object.__setattr__(self, "gravity", vector3(self.gravity, f"assembly {self.name!r}: gravity"))

    def _check_directions(self) -> None:
        """Check that friction acts both ways along each direction."""
        count: Any = self.directions
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or not (count == 0 or count >= 4):
            raise AssemblyError(
                f"directions = {count!r}: it must be an even number, four or more, or 0 for Coulomb's friction cone"
            )
        if count % 2:
            raise AssemblyError(f"directions = {count!r}: it must be even, so that friction can act both ways")

    def _check_touching(self) -> None:
        """Check that pairs of bodies can touch and occur once, and that no other contact has their names."""
        named = {contact.name for contact in self.contacts}
        joined = {frozenset((joint.inboard, joint.outboard)): joint.name for joint in self.joints}
        seen: dict[frozenset[str], str] = {}
        for item in self.touching:
            what, pair = f"contact {item.name!r}", frozenset((item.first, item.second))
            if item.name in named:
                raise AssemblyError(f"two contacts have the name {item.name!r}; give each its own name")
            for name in (item.first, item.second):
                if self.bodies[self.body_index(name, what)].shape is None:
                    raise AssemblyError(f"{what}: body {name!r} has no shape: give it one, such as sphere(0.1)")
            if pair in joined:
                raise AssemblyError(
                    f"{what}: {item.first!r} and {item.second!r} cannot touch, as joint {joined[pair]!r} connects them"
                )
            if pair in seen:
                raise AssemblyError(f"{what}: {item.first!r} and {item.second!r} already have contact {seen[pair]!r}")
            seen[pair] = item.name

    # --- names ---

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, in the order of all arrays."""
        return tuple(body.name for body in self.bodies)

    def body_index(self, name: str, where: str = "") -> int:
        """Return the row of a body.

        Raises:
            AssemblyError: the assembly has no body of this name.
        """
        if name not in self.body_names:
            raise AssemblyError(f"{where}{': ' if where else ''}{unknown('body', name, self.body_names)}")
        return self.body_names.index(name)

    @cached_property
    def custom_links(self) -> tuple[CustomLink, ...]:
        """Custom links of the components."""
        for name, (body, _) in self.points.items():
            if body is not None:
                self.body_index(body, f"point {name!r}")
        return tuple(links_of(self.components, self.points))

    @cached_property
    def links(self) -> tuple[Joint | CustomLink | Spring, ...]:
        """All parts that have rows: joints, links of the components, and springs, in this order."""
        return (*self.joints, *self.custom_links, *self.springs)

    def new_system(self) -> tuple[System, list[Any]]:
        """Return the kernels' arrays with buffers for components, and objects to be kept as long as the arrays."""
        if not self.components:
            return self.system, []
        index = {name: i for i, name in enumerate(self.body_names)}
        links, rooms = new_links(self.custom_links, self.points, index, len(self.joints))
        return self.system._replace(links=links), rooms

    @cached_property
    def coordinates(self) -> dict[str, int]:
        """Row of each minimal coordinate of a joint and of each spring's length, by name."""
        return {
            name: row
            for joint, rows in zip(self.links, self.structure.freedom_rows, strict=True)
            for name, row in zip(joint.coordinate_names, rows, strict=False)  # a potential has no name
        }

    @cached_property
    def coordinate_units(self) -> dict[str, str]:
        """Unit of each coordinate by name: ``m`` or ``rad``."""
        return {name: unit for joint in self.links
                for name, unit in zip(joint.coordinate_names, joint.units, strict=True)}  # fmt: skip

    @property
    def closing_joints(self) -> tuple[str, ...]:
        """Names of the joints that close loops."""
        return tuple(self.joints[j].name for j in self.structure.tree.closing)

    # --- for the kernels ---

    @cached_property
    def structure(self) -> Structure:
        """Arrays of the kernels, the spanning tree, and the order of elimination."""
        return structure_of(
            self.bodies, self.joints, self.custom_links, self.springs, self.contacts, self.touching, self.gravity,
            self.directions,
        )  # fmt: skip

    @property
    def system(self) -> System:
        """Arrays of the kernels."""
        return self.structure.system

    @property
    def fill_in(self) -> int:
        """Number of blocks that the sparse elimination adds: 0 without loops."""
        return fill_in(self.system.graph, self.system.joints, len(self.touching))

    # --- placing ---

    def place(
        self,
        coordinates: Mapping[str, Coordinates] | None = None,
        poses: Mapping[str, Pose] | None = None,
        rates: Mapping[str, Coordinates] | None = None,
    ) -> Placement:
        """Return the placement for given joint coordinates; joints that close loops may stay open (see ``assemble``).

        Args:
            coordinates: [m or rad] coordinates by joint: a number, or a sequence if the joint has several. Joints that
                are not given are at zero; joints that close loops must not be given.
            poses: poses of bodies that no joint places, by body; default: at the origin, unrotated.
            rates: [m/s or rad/s] rates of the coordinates, in the form of ``coordinates``.

        Raises:
            AssemblyError: a name is unknown, or belongs to a joint that closes a loop or to a body that a joint places;
                a joint has a wrong number of values, or one is not finite.
        """
        joints = {joint.name: j for j, joint in enumerate(self.joints)}
        table = {}
        for what, given in (("coordinates", coordinates or {}), ("rates", rates or {})):
            for name, value in given.items():
                if name not in joints:
                    raise AssemblyError(f"{what}: {unknown('joint', name, joints)}")
                if joints[name] in self.structure.tree.closing:
                    raise AssemblyError(f"{what}: joint {name!r} closes a loop: leave it out; others determine it")
                table[what, name] = self._values(self.joints[joints[name]], value, what)
        placement = self._placed({name: value for (what, name), value in table.items() if what == "coordinates"}, poses)
        if not rates:
            return placement
        return placement.moving(
            self._velocities(placement, {name: value for (what, name), value in table.items() if what == "rates"})
        )

    def _values(self, joint: Joint, value: Coordinates, what: str) -> tuple[float, ...]:
        given = np.atleast_1d(np.asarray(value, dtype=np.float64))
        count = len(joint.free_rows)
        if given.shape != (count,) or not np.all(np.isfinite(given)):
            raise AssemblyError(f"{what} of joint {joint.name!r} = {value!r}: it must be {count} finite numbers")
        return tuple(given.tolist())

    def _placed(self, coordinates: Mapping[str, tuple[float, ...]], poses: Mapping[str, Pose] | None) -> Placement:
        n, tree = len(self.bodies), self.structure.tree
        position, orientation = np.zeros((n, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
        for name, (place, turn) in (poses or {}).items():
            i = self.body_index(name, "poses")
            if tree.carrier[i] >= 0:
                raise AssemblyError(
                    f"poses: joint {self.joints[tree.carrier[i]].name!r} places body {name!r}: give its coordinates"
                )
            position[i] = vector3(place, f"place of {name!r}")
            orientation[i] = quaternion(turn, f"orientation of {name!r}")
        for body in tree.order:
            if tree.carrier[body] >= 0:
                joint = self.joints[tree.carrier[body]]
                values = coordinates.get(joint.name, (0.0,) * len(joint.free_rows))
                self._put(joint, values, body, position, orientation)
        return Placement(position, orientation, np.zeros((n, 6)))

    def _put(self, joint: Joint, values: Sequence[float], body: int, position: Floats, orientation: Floats) -> None:
        """Set the pose of a joint's outer body in the tree from the pose of its other body."""
        way, rho = joint.relative_pose(values)
        turn = quaternion_product(rho, joint.alignment)
        a = -1 if joint.inboard is None else self.body_index(joint.inboard)
        b = self.body_index(joint.outboard)
        reach = np.array(joint.inboard_point) + way
        if body == b:
            q = np.array([1.0, 0.0, 0.0, 0.0]) if a < 0 else orientation[a]
            base = np.zeros(3) if a < 0 else position[a]
            orientation[b] = quaternion_product(q, turn)
            arm = quaternion_matrix(orientation[b]) @ joint.outboard_point
            position[b] = base + quaternion_matrix(q) @ reach - arm
        else:
            orientation[a] = quaternion_product(orientation[b], turn * (1.0, -1.0, -1.0, -1.0))
            tip = position[b] + quaternion_matrix(orientation[b]) @ joint.outboard_point
            position[a] = tip - quaternion_matrix(orientation[a]) @ reach

    def _velocities(self, placement: Placement, rates: Mapping[str, tuple[float, ...]]) -> Floats:
        """Return the bodies' velocities (n, 6) for given rates of the tree's joints, by least squares."""
        rows, targets = [], []
        gradients, _ = self.gradients(placement)
        first = self.system.joints.first
        for j, joint in enumerate(self.joints):
            if j in self.structure.tree.closing:
                continue
            begin = int(first[j])
            held = len(joint.rigid_rows)
            rows += [gradients[begin : begin + held], gradients[list(self.structure.freedom_rows[j])]]
            targets += [np.zeros(held), np.array(rates.get(joint.name, (0.0,) * len(joint.free_rows)))]
        velocity: Floats = np.linalg.lstsq(np.concatenate(rows), np.concatenate(targets), rcond=None)[0]
        return velocity.reshape(-1, 6)

    # --- joints at a placement ---

    def rows_at(self, placement: Placement) -> tuple[Floats, Floats]:
        """Return the values (R,) of all rows, and gradients (2 R, 6): for each row, by inboard and by outboard body."""
        poses = new_poses(len(self.bodies))
        poses.com[:], poses.quaternion[:] = placement.position, placement.orientation
        total = int(self.system.joints.first[-1])
        value, rows = np.full(total, np.nan), np.full((2 * total, 6), np.nan)
        system, _rooms = self.new_system()
        rows_at_poses(system.joints, system.springs, system.links, poses, np.zeros(total), value, rows)
        return value, rows

    def gradients(self, placement: Placement) -> tuple[Floats, Floats]:
        """Return the gradients (R, 6 n) of all rows by displacements of the bodies, and the values (R,)."""
        value, rows = self.rows_at(placement)
        joints = self.system.joints
        dense = np.zeros((len(value), 6 * len(self.bodies)))
        for j in range(len(self.links)):
            for row in range(joints.first[j], joints.first[j + 1]):
                for side, body in enumerate((joints.inboard[j], joints.outboard[j])):
                    if body >= 0:
                        dense[row, 6 * body : 6 * body + 6] += rows[2 * row + side]
        return dense, value

    @cached_property
    def rigid_mask(self) -> Floats:
        """Mask (R,) of the rows that are constraints, held at zero."""
        joints = self.system.joints
        mask = np.zeros(int(joints.first[-1]), dtype=bool)
        for j in range(len(self.links)):
            mask[joints.first[j] : joints.first[j] + joints.rigid[j]] = True
        return mask

    def openness(self, placement: Placement) -> dict[str, float]:
        """Return the opening of each joint by name: its largest violated constraint [m, or sine of an angle]."""
        value, _ = self.rows_at(placement)
        joints = self.system.joints
        return {
            joint.name: float(np.abs(value[joints.first[j] : joints.first[j] + joints.rigid[j]]).max(initial=0.0))
            for j, joint in enumerate(self.links)
        }

    def degrees_of_freedom(self, placement: Placement) -> int:
        """Return the degrees of freedom at a placement: six for each body minus the independent constraints."""
        dense, _ = self.gradients(placement)
        return 6 * len(self.bodies) - _rank(dense[self.rigid_mask])

    def redundancy(self, placement: Placement) -> int:
        """Return the number of redundant constraints at a placement, as planar loops of hinges have."""
        dense, _ = self.gradients(placement)
        return int(self.rigid_mask.sum()) - _rank(dense[self.rigid_mask])

    def assemble(self, placement: Placement) -> Placement:
        """Return a placement near the given one with all joints closed, and velocities that keep them closed.

        Raises:
            AssemblyError: Gauss–Newton iterations find no such placement.
        """
        held = self.rigid_mask

        def linearize(place: Placement) -> tuple[Floats, Floats]:
            dense, value = self.gradients(place)
            return value[held], dense[held]

        current, is_closed = project(
            placement, linearize, lambda _, rows, change: _least(rows, change),
            lambda place, change: displaced(place, change.reshape(-1, 6)),
            lambda place, value: bool(
                np.abs(value).max(initial=0.0) <= CLOSED * max(1.0, float(np.abs(place.position).max()))
            ),
            longest=0.5, rounds=ROUNDS,
        )  # fmt: skip
        if is_closed:
            _, rows = linearize(current)
            velocity = placement.velocity.reshape(-1)
            return current.moving(velocity - _least(rows, rows @ velocity))
        worst, gap = max(self.openness(current).items(), key=lambda item: item[1])
        raise AssemblyError(
            f"no placement near the given one closes all joints: joint {worst!r} stays open by {gap:.3g} [m, or sine "
            "of the angle]; give coordinates closer to a configuration with closed loops"
        )

    # --- motion ---

    def simulate(
        self,
        duration: float,
        step: float,
        start: Placement | None = None,
        *,
        forces: Mapping[str, Input] | None = None,
        disturbances: Sequence[Wrench] = (),
        order: int = 2,
        tolerance: float = 1e-10,
        complementarity: float = 1e-12,
        max_iterations: int = 60,
        record_every: int = 1,
        progress: Progress | None = None,
    ) -> Motion:
        """Simulate with the variational integrator, from a placement in which all joints are closed.

        Args:
            duration: [s] duration, a whole number of time steps.
            step: [s] length of a time step.
            start: initial placement; default: ``place()``.
            forces: [N or N·m] actuator forces along coordinates, by name: numbers, signals or functions of time [s].
                A function is evaluated in the middle of each step and held through it.
            disturbances: ``Push``, ``Force`` and ``Torque`` objects. Impulses are exact for any step. The columns
                ``external_work``, ``external_impulse_x`` … and ``external_moment_x`` … (about the common centre of
                mass) have the totals of all disturbances since the start.
            order: 2: half of the forces' impulse acts in the first step, as in the discrete Legendre transform, and
                positions are of second order. 1: all of it acts, as in the symplectic Euler method of Brüdigam et al.
                Later steps do not differ.
            tolerance: [N·s, m] largest norm of the residual of a time step; rounding errors are always tolerated.
            complementarity: [N·s·m] greatest product of a contact's gap and impulse at a solution.
            max_iterations: greatest number of Newton iterations in a time step.
            record_every: number of time steps from one row of the motion to the next.
            progress: function that is called with the completed fraction (0 to 1).

        Raises:
            AssemblyError: an argument is wrong, a joint is open at the start, or the velocities would open it.
            IntegrationError: a time step has no solution; the message gives the cause, ``run`` the motion until then.
        """
        settings = Settings(
            duration=duration, step=step, tolerance=tolerance, max_iterations=max_iterations,
            record_every=record_every, order=order, complementarity=complementarity,
        )  # fmt: skip
        return simulate(
            self, settings, self.place() if start is None else start, forces or {}, disturbances, progress=progress
        )

    def __repr__(self) -> str:
        """Return a text with the numbers of bodies, joints and contacts."""
        loops = len(self.structure.tree.closing)
        return (
            f"<Assembly {self.name!r}: {len(self.bodies)} bodies, {len(self.joints)} joints, {loops} of them closing "
            f"loops, {len(self.contacts)} contacts, {len(self.touching)} pairs that may touch>"
        )


def _least(rows: Floats, change: Floats) -> Floats:
    """Return the displacement of least norm that changes the rows by ``change``."""
    return np.asarray(np.linalg.lstsq(rows, change, rcond=RANK)[0], dtype=np.float64)


def _rank(rows: Floats) -> int:
    if not rows.size:
        return 0
    singular = np.linalg.svd(rows, compute_uv=False)
    return int(np.count_nonzero(singular > RANK * singular[0]))
