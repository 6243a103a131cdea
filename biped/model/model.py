"""The multibody model: immutable and validated, the description used by all parts of the framework."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from biped.kernels.tree.tree import Tree
from biped.model import geometry
from biped.model.actuator import Actuator
from biped.model.body import Body
from biped.model.closing_joint import ClosingJoint
from biped.model.compilation import compile_tree
from biped.model.contact_point import ContactPoint
from biped.model.description import describe, model_facts, model_title
from biped.model.errors import ModelError, duplicate, unknown
from biped.model.inertia import shifted
from biped.model.joint import Joint
from biped.model.line import Line
from biped.model.regularity import check_regular
from biped.model.shape import Box, Capsule
from biped.model.topology import Weld, merge_welds, sorted_depth_first
from biped.model.visual import Visual
from biped.presentation import as_html, as_text, shown_by
from contact.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd

    from biped.presentation import View

Drawn = TypeVar("Drawn", Box, Capsule, ContactPoint, Visual)
T = TypeVar("T")


@dataclass(frozen=True)
class Model:
    """A tree of rigid bodies, or several trees on the ground, with contact points and loop-closing joints.

    On construction the bodies are sorted depth first, parents before children, siblings in the given order. Bodies on
    fixed joints are merged into their parents, together with their contact points, boxes and visuals.

    A configuration q and a velocity v list the joints in order. For a floating joint, q has the position of the root's
    centre of mass [m] and its orientation, (x, y, z, qw, qx, qy, qz); v has the velocity of the centre of mass [m/s]
    and the angular velocity [rad/s]. For a spherical joint, q has the unit quaternion (w, x, y, z) of the child
    relative to the parent, v the relative angular velocity [rad/s]. For other joints, q has an angle [rad] or a
    displacement [m], v its rate. Vectors are in the axes of the inertial frame.

    Attributes:
        name: name of the model.
        bodies: bodies of the tree; body i is carried by joint i.
        contact_points: contact points with the floor, in the order of all arrays of contact forces.
        shapes: boxes for collisions with thrown blocks; bodies without visuals are drawn as these boxes.
        gravity: [m/s²] gravitational acceleration, in the inertial frame.
        feet: names of the bodies that stand on the floor, in the order for controllers.
        facing: horizontal forward direction in the home configuration, in the inertial frame; normalized.
        posture: pairs (joint, position [rad or m]) of the standing posture; all other joints are at zero.
        body_points: contact points elsewhere on the bodies, added after a fall (`biped.model.ragdoll`).
        ranges: ranges of motion after a fall: (joint, lower limit, upper limit) [rad or m].
        notes: sentences about parts of the robot's file that were changed, or are not simulated.
        visuals: surfaces for drawing.
        lines: springs, wires etc. for drawing.
        capsules: capsules for collisions with thrown blocks, in addition to ``shapes``, and between bodies.
        touching: names of pairs of bodies whose capsules may touch, for rigid contact with ``touching="body"``.
        closing_joints: joints that close loops of the tree; they add no entries to q and v.
        actuators: actuators in the robot's file, for controllers; the simulation uses only the joints' ``max_effort``.
        floor_friction: coefficient of friction of the floor in the robot's file, used by experiments; None: no floor.

    Raises:
        ModelError: a name occurs twice or is unknown, bodies are not trees on the ground, a body other than a single
            root floats, a joint moves no inertia, or a closing joint connects a floating model to the ground.
    """

    name: str
    bodies: tuple[Body, ...]
    contact_points: tuple[ContactPoint, ...] = ()
    shapes: tuple[Box, ...] = ()
    gravity: geometry.Vector3 = geometry.STANDARD_GRAVITY
    feet: tuple[str, ...] = ()
    facing: geometry.Vector3 = (1.0, 0.0, 0.0)
    posture: tuple[tuple[str, float], ...] = ()
    body_points: tuple[ContactPoint, ...] = ()
    ranges: tuple[tuple[str, float, float], ...] = ()
    notes: tuple[str, ...] = ()
    visuals: tuple[Visual, ...] = ()
    lines: tuple[Line, ...] = ()
    closing_joints: tuple[ClosingJoint, ...] = ()
    capsules: tuple[Capsule, ...] = ()
    touching: tuple[tuple[str, str], ...] = ()
    actuators: tuple[Actuator, ...] = ()
    floor_friction: float | None = None

    def __post_init__(self) -> None:
        geometry.name_of(self.name, "a model")
        ordered = sorted_depth_first(tuple(self.bodies))
        bodies, welds = merge_welds(ordered)
        check_regular(bodies)
        object.__setattr__(self, "bodies", bodies)
        object.__setattr__(self, "contact_points", _moved_points(self.contact_points, welds))
        object.__setattr__(self, "body_points", _moved_points(self.body_points, welds))
        shapes = tuple(_moved(part, welds, f"box on {part.body!r}", "center") for part in self.shapes)
        object.__setattr__(self, "shapes", shapes)
        visuals = tuple(_moved(part, welds, f"visual on {part.body!r}", "center") for part in self.visuals)
        object.__setattr__(self, "visuals", visuals)
        capsules = tuple(_moved(part, welds, f"capsule on {part.body!r}", "begin", "end") for part in self.capsules)
        object.__setattr__(self, "capsules", capsules)
        object.__setattr__(self, "touching", tuple(_moved_pair(pair, welds) for pair in self.touching))
        object.__setattr__(self, "lines", tuple(_moved_line(line, welds) for line in self.lines))
        object.__setattr__(self, "feet", _moved_feet(self.feet, welds))
        object.__setattr__(self, "gravity", geometry.vector3(self.gravity, f"model {self.name!r}: gravity"))
        object.__setattr__(self, "facing", geometry.horizontal(self.facing, f"model {self.name!r}: facing"))
        object.__setattr__(self, "posture", self._checked_posture())
        object.__setattr__(self, "ranges", self._checked_ranges())
        object.__setattr__(self, "closing_joints", self._checked_closing(welds))
        self._check_joints("actuators", [part.joint for part in self.actuators])
        if self.floor_friction is not None:
            geometry.not_negative(self.floor_friction, f"model {self.name!r}: floor_friction", "")

    def _checked_closing(self, welds: Mapping[str, Weld]) -> tuple[ClosingJoint, ...]:
        moved = tuple(_moved_closing(joint, welds) for joint in self.closing_joints)
        error = duplicate("joints", [*self._joint_rows, *(joint.name for joint in moved)])
        if error:
            raise error
        for joint in moved:
            if joint.parent is None and self.is_floating:
                raise ModelError(
                    f"closing joint {joint.name!r} connects {joint.child!r} to the ground, but the root floats: replace"
                    " its floating joint by other joints, or connect two bodies by the closing joint"
                )
        return moved

    def _checked_posture(self) -> tuple[tuple[str, float], ...]:
        self._check_joints("posture", [joint for joint, _ in self.posture])
        return tuple((joint, geometry.number(value, f"posture: joint {joint!r}")) for joint, value in self.posture)

    def _checked_ranges(self) -> tuple[tuple[str, float, float], ...]:
        self._check_joints("ranges", [joint for joint, *_ in self.ranges])
        for joint, lower, upper in self.ranges:
            if not geometry.number(lower, f"ranges: joint {joint!r}") <= geometry.number(
                upper, f"ranges: joint {joint!r}"
            ):
                raise ModelError(f"ranges: joint {joint!r}: lower must not exceed upper, got {lower!r} > {upper!r}")
        return tuple((joint, float(lower), float(upper)) for joint, lower, upper in self.ranges)

    def _check_joints(self, what: str, names: Iterable[str]) -> None:
        for joint in names:
            if joint not in self.joint_names:
                raise ModelError(f"{what}: {unknown('joint', joint, self.joint_names)}")

    # --- sizes and names ---

    @property
    def n(self) -> int:
        """Number of bodies, and of joints."""
        return len(self.bodies)

    @cached_property
    def nq(self) -> int:
        """Length of a configuration."""
        return sum(body.joint.nq for body in self.bodies)

    @cached_property
    def nv(self) -> int:
        """Number of degrees of freedom, the length of a velocity."""
        return sum(body.joint.nv for body in self.bodies)

    @property
    def nc(self) -> int:
        """Number of contact points."""
        return len(self.contact_points)

    @property
    def root(self) -> Body:
        """Body 0, which has no parent; the first root of several trees on the ground."""
        return self.bodies[0]

    @property
    def is_floating(self) -> bool:
        """True if the root's joint is a floating joint."""
        return self.root.joint.kind == "floating"

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, in the order of the kernels' arrays."""
        return tuple(body.name for body in self.bodies)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints with one degree of freedom, in the order of their degrees of freedom."""
        return tuple(body.joint.name for body in self.bodies if body.joint.has_axis)

    @property
    def contact_names(self) -> tuple[str, ...]:
        """Names of the contact points, in the order of the kernels' arrays."""
        return tuple(point.name for point in self.contact_points)

    @property
    def contact_radii(self) -> Floats:
        """Radii [m] of the balls about the contact points (nc,); 0 for points."""
        return np.array([point.radius for point in self.contact_points], dtype=float)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the nq coordinates: ``angle_left_knee_pitch``, ``body_x``, ``body_qw``, …"""
        return tuple(name for body in self.bodies for name in _coordinate_names(body.joint))

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the nv velocities: ``rate_left_knee_pitch``, ``body_vx``, ``body_wx``, …"""
        return tuple(name for body in self.bodies for name in _velocity_names(body.joint))

    # --- indices ---

    def body_index(self, name: str) -> int:
        """Return the row of a body in the kernels' arrays.

        Raises:
            ModelError: no body has this name; the message lists the known names.
        """
        if name not in self._body_rows:
            raise unknown("body", name, self.body_names)
        return self._body_rows[name]

    def joint_index(self, name: str) -> int:
        """Return the row of a joint of any kind, and of the body it carries, in the kernels' arrays.

        Raises:
            ModelError: no joint has this name.
        """
        if name not in self._joint_rows:
            raise unknown("joint", name, tuple(self._joint_rows))
        return self._joint_rows[name]

    def contact_index(self, name: str) -> int:
        """Return the row of a contact point in the kernels' arrays.

        Raises:
            ModelError: no contact point has this name.
        """
        if name not in self.contact_names:
            raise unknown("contact point", name, self.contact_names)
        return self.contact_names.index(name)

    def coordinate(self, joint: str) -> int:
        """Return the index in a configuration of the coordinate of a joint with one degree of freedom.

        Raises:
            ModelError: no such joint has this name.
        """
        return int(self.tree.first_q[self._joint_with_axis(joint)])

    def dof(self, joint: str) -> int:
        """Return the index in a velocity, or in joint torques, of a joint with one degree of freedom.

        Raises:
            ModelError: no such joint has this name.
        """
        return int(self.tree.first_v[self._joint_with_axis(joint)])

    def coordinates(self, joint: str) -> slice:
        """Return the slice of a configuration with the coordinates of a joint of any kind.

        Raises:
            ModelError: no joint has this name.
        """
        i = self.joint_index(joint)
        start = int(self.tree.first_q[i])
        return slice(start, start + self.bodies[i].joint.nq)

    def dofs(self, joint: str) -> slice:
        """Return the slice of a velocity with the degrees of freedom of a joint of any kind.

        Raises:
            ModelError: no joint has this name.
        """
        i = self.joint_index(joint)
        start = int(self.tree.first_v[i])
        return slice(start, start + self.bodies[i].joint.nv)

    def _joint_with_axis(self, name: str) -> int:
        i = self._joint_rows.get(name, -1)
        if i < 0 or not self.bodies[i].joint.has_axis:
            raise unknown("joint", name, self.joint_names)
        return i

    @cached_property
    def _body_rows(self) -> dict[str, int]:
        return {body.name: i for i, body in enumerate(self.bodies)}

    @cached_property
    def _joint_rows(self) -> dict[str, int]:
        return {body.joint.name: i for i, body in enumerate(self.bodies)}

    @cached_property
    def derived(self) -> dict[Any, Any]:
        """Cache for values that other modules compute from the model; each stores its values under its own key."""
        return {}

    def once(self, compute: Callable[..., T], *arguments: Any) -> T:
        """Return the result of a function of the model and these arguments, computed only once."""
        key = compute, *arguments
        if key not in self.derived:
            self.derived[key] = compute(self, *arguments)
        value: T = self.derived[key]
        return value

    # --- mechanics ---

    @property
    def left(self) -> geometry.Vector3:
        """Horizontal direction to the left at home, in the inertial frame."""
        x, y, _ = self.facing
        return -y, x, 0.0

    @property
    def total_mass(self) -> float:
        """Mass of all bodies [kg]."""
        return math.fsum(body.mass for body in self.bodies)

    @cached_property
    def tree(self) -> Tree:
        """Arrays of the model for the kernels: contiguous, computed once, read-only by convention."""
        return compile_tree(self.bodies, self.contact_points, self.gravity)

    @cached_property
    def home_positions(self) -> Floats:
        """Centres of mass of the bodies in the home configuration (n, 3) [m], in the inertial frame."""
        positions = self.tree.joint_offset + self.tree.com_offset
        for i in range(1, self.n):
            positions[i] += positions[self.tree.parent[i]]
        return positions

    # --- configurations ---

    def neutral(self) -> Floats:
        """Return the home configuration (nq,): all frames parallel to the inertial frame, a floating root at home."""
        q = np.zeros(self.nq)
        for body, first in zip(self.bodies, self.tree.first_q, strict=True):
            if body.joint.kind == "spherical":
                q[first] = 1.0
            elif body.joint.kind == "floating":
                q[first : first + 3] = self.home_positions[0]
                q[first + 3] = 1.0
        return q

    def configuration(
        self,
        position: ArrayLike | None = None,
        orientation: ArrayLike | None = None,
        angles: Mapping[str, ArrayLike] | None = None,
        *,
        degrees: bool = False,
    ) -> Floats:
        """Return the home configuration (nq,) with the given changes.

        Args:
            position: [m] position of the centre of mass of a floating root, in the inertial frame.
            orientation: orientation of a floating root, body to inertial frame: a unit quaternion (w, x, y, z), or
                roll, pitch and yaw [rad], rotations about the fixed axes x, y and z, in this order.
            angles: angle [rad] or displacement [m] by joint; a unit quaternion for a spherical joint.
            degrees: True if roll, pitch, yaw and the angles of revolute joints are in degrees.

        Raises:
            ModelError: a joint is unknown, a value is not finite, an angle exceeds a full turn, a quaternion is not
                unit, or a position or an orientation is given although the root does not float.
        """
        q = self.neutral()
        if position is not None:
            self._check_floats("position")
            q[0:3] = geometry.vector3(position, "position")
        if orientation is not None:
            self._check_floats("orientation")
            q[3:7] = geometry.orientation_from(orientation, "orientation", degrees=degrees)
        for joint, value in (angles or {}).items():
            self._place(q, joint, value, degrees)
        return q

    def _check_floats(self, what: str) -> None:
        if not self.is_floating:
            joint = self.root.joint
            raise ModelError(f"{what} must be left out: the root's joint {joint.name!r} is {joint.kind}, not floating")

    def _place(self, q: Floats, joint: str, value: ArrayLike, degrees: bool) -> None:
        i = self._joint_rows.get(joint, -1)
        kind = self.bodies[i].joint.kind if i >= 0 else "floating"
        if kind == "floating":
            raise unknown("joint", joint, tuple(b.joint.name for b in self.bodies if b.joint.kind != "floating"))
        if kind == "spherical":
            q[self.coordinates(joint)] = geometry.quaternion(value, f"angles[{joint!r}]")
        else:
            given = geometry.number(value, f"angles[{joint!r}]")
            given = math.radians(given) if degrees and kind == "revolute" else given
            if kind == "revolute" and abs(given) > geometry.LARGEST_ANGLE:
                message = f"angles[{joint!r}] = {given:g} rad is more than a full turn, 2π"
                raise ModelError(message if degrees else f"{message}; if it is in degrees, pass degrees=True")
            q[self.coordinate(joint)] = given

    # --- variations of this model ---

    def with_gravity(self, gravity: ArrayLike) -> Model:
        """Return this model with another ``gravity`` (3,) [m/s²]."""
        return replace(self, gravity=geometry.vector3(gravity, "gravity"))

    def with_load(self, body: str, mass: float, position: ArrayLike, inertia: ArrayLike) -> Model:
        """Return this model with another rigid body welded to one of its bodies.

        Args:
            body: name of the body that carries the load.
            mass: [kg]; a negative mass, with its inertia, is subtracted from the body.
            position: (3,) [m] from the body's centre of mass to the load's centre of mass, in home axes.
            inertia: (3, 3) [kg m²] about the load's centre of mass, in home axes.

        Raises:
            ModelError: the body is unknown, or the resulting mass or inertia is invalid.
        """
        i = self.body_index(body)
        old, at = self.bodies[i], np.asarray(geometry.vector3(position, "position of the load"))
        added = geometry.number(mass, "mass of the load")
        total = geometry.positive(old.mass + added, f"mass of {body!r} with its load", "kg")
        shift = added / total * at
        tensor = shifted(old.inertia, old.mass, shift) + shifted(inertia, added, at - shift)
        com = geometry.vector3(np.add(old.com, shift), "com")
        new = replace(old, mass=total, com=com, inertia=geometry.matrix3(tensor, f"inertia of {body!r} with its load"))
        return replace(self, bodies=(*self.bodies[:i], new, *self.bodies[i + 1 :]))

    def with_contact_points(self, contact_points: Iterable[ContactPoint]) -> Model:
        """Return this model with other contact points.

        Raises:
            ModelError: a name occurs twice, or a body is unknown.
        """
        return replace(self, contact_points=tuple(contact_points))

    def without_contacts(self) -> Model:
        """Return this model without contact points."""
        return self.with_contact_points(())

    def without_closing_joints(self) -> Model:
        """Return this model without its closing joints."""
        return replace(self, closing_joints=())

    def check_tree(self, what: str) -> None:
        """Raise an error if the model has loops; ``what``, which needs a tree, begins the message.

        Raises:
            ModelError: the model has joints that close loops.
        """
        if self.closing_joints:
            names = ", ".join(repr(joint.name) for joint in self.closing_joints)
            raise ModelError(
                f"{what} does not support loops, but model {self.name!r} has the closing joints {names}; use "
                "model.without_closing_joints(), or another model"
            )

    # --- for people ---

    def __repr__(self) -> str:
        return as_text(model_title(self), model_facts(self))

    def _repr_html_(self) -> str:
        return as_html(model_title(self), model_facts(self))

    def view(self, q: ArrayLike | None = None) -> View:
        """Show the model in three dimensions, inline in a notebook, otherwise in the browser.

        Args:
            q: (nq,) configuration to show; by default the home configuration.

        Raises:
            InputError: q is not a configuration of the model.
            MissingExtraError: the viewer is not installed; the message gives the command to install it.
        """
        view: View = shown_by("view_model")(self, q)
        return view

    def describe(self) -> pd.DataFrame:
        """Return one row per body: parent, joint, axis, mass [kg], home position [m] and inertia [kg m²]."""
        return describe(self)


def _coordinate_names(joint: Joint) -> list[str]:
    if joint.turns:
        return [f"angle_{joint.name}"]
    if joint.kind == "prismatic":
        return [f"position_{joint.name}"]
    place = ["x", "y", "z"] if joint.kind == "floating" else []
    return [f"{joint.name}_{part}" for part in [*place, "qw", "qx", "qy", "qz"]]


def _velocity_names(joint: Joint) -> list[str]:
    if joint.has_axis:
        return [f"rate_{joint.name}"]
    linear = ["vx", "vy", "vz"] if joint.kind == "floating" else []
    return [f"{joint.name}_{part}" for part in [*linear, "wx", "wy", "wz"]]


def _weld(what: str, body: str, welds: Mapping[str, Weld]) -> Weld:
    """Return the body that contains ``body`` after the merging of fixed joints."""
    if body not in welds:
        raise ModelError(f"{what}: {unknown('body', body, welds)}")
    weld = welds[body]
    if not weld.body:
        raise ModelError(f"{what}: body {body!r} is fixed to the ground; name a moving body")
    return weld


def _moved_points(points: Iterable[ContactPoint], welds: Mapping[str, Weld]) -> tuple[ContactPoint, ...]:
    moved = tuple(_moved(point, welds, f"contact point {point.name!r}", "position") for point in points)
    error = duplicate("contact points", [point.name for point in moved])
    if error:
        raise error
    return moved


def _moved(part: Drawn, welds: Mapping[str, Weld], what: str, *places: str) -> Drawn:
    """Return an object on a body with its positions after the merging of fixed joints."""
    weld = _weld(what, part.body, welds)
    there: dict[str, Any] = {name: geometry.vector3(np.add(weld.offset, getattr(part, name)), name) for name in places}
    return replace(part, body=weld.body, **there)


def _moved_pair(pair: tuple[str, str], welds: Mapping[str, Weld]) -> tuple[str, str]:
    first, second = (_weld("touching", body, welds).body for body in pair)
    if first == second:
        raise ModelError(f"touching: {pair[0]!r} and {pair[1]!r} are one body, which cannot touch itself")
    return first, second


def _moved_line(line: Line, welds: Mapping[str, Weld]) -> Line:
    (first, begin), (second, end) = (
        _moved_end(body, place, welds) for body, place in ((line.first, line.begin), (line.second, line.end))
    )
    return replace(line, first=first, second=second, begin=begin, end=end)


def _moved_end(
    body: str | None, place: geometry.Vector3, welds: Mapping[str, Weld]
) -> tuple[str | None, geometry.Vector3]:
    if body is None:
        return None, place
    weld = _weld(f"line on {body!r}", body, welds)
    return weld.body, geometry.vector3(np.add(weld.offset, place), "place")


def _moved_closing(joint: ClosingJoint, welds: Mapping[str, Weld]) -> ClosingJoint:
    """Return a closing joint after the merging of fixed joints; its parent may become part of the ground."""
    what = f"closing joint {joint.name!r}"
    parent, position = joint.parent, joint.position
    if parent is not None:
        if parent not in welds:
            raise ModelError(f"{what}: {unknown('body', parent, welds)}")
        position = geometry.vector3(np.add(welds[parent].offset, position), "position")
        parent = welds[parent].body or None
    child = _weld(what, joint.child, welds)
    child_position = geometry.vector3(np.add(child.offset, joint.child_position), "child_position")
    return replace(joint, parent=parent, child=child.body, position=position, child_position=child_position)


def _moved_feet(feet: Iterable[str], welds: Mapping[str, Weld]) -> tuple[str, ...]:
    moved = tuple(_weld("feet", foot, welds).body for foot in feet)
    error = duplicate("feet", moved)
    if error:
        raise error
    return moved
