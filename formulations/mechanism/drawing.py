"""Drawing of a mechanism, derived from its tree alone (section V-E of Johnson & Murphey 2009).

Links connect frames, masses are balls (or boxes with the same moments of inertia), revolute joints are pins, prismatic
joints are blocks, and constrained frames are marked. `Picture` lists them, `visuals_of` returns surfaces for the
viewer, and `lines_of` returns lines for objects of variable length: springs, wires, prismatic joints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from biped.model.errors import ModelError
from biped.model.geometry import Vector3, matrix3, rotation_onto, vector3
from biped.model.inertia import box_size_of
from biped.model.line import Line
from biped.model.visual import Visual
from contact.arrays import Floats
from formulations.mechanism.frames import WORLD, Frame, Node, tree_of

if TYPE_CHECKING:
    from formulations.mechanism.component import Component
    from formulations.mechanism.mechanism import Mechanism, Vector

# Sizes / typical length of a link: radii of rods, pins and marks, ball of the heaviest mass, longest edge of a box.
ROD, PIN, MARK, BALL, BOX = 0.018, 0.04, 0.05, 0.09, 0.3

LINK = (0.55, 0.60, 0.66)
MASS = (0.20, 0.42, 0.62)
JOINT = (0.28, 0.31, 0.36)
HELD = (0.90, 0.45, 0.10)
SPRING = (0.10, 0.60, 0.35)
GROUND = (0.65, 0.68, 0.72)


@dataclass(frozen=True)
class Link:
    """Rod between the origins of two frames, given by rows; ``body`` is the row of the variable that moves both."""

    first: int
    second: int
    body: int


@dataclass(frozen=True)
class Picture:
    """Mechanism's tree for drawing; frames are given by their rows in `tree_of`, −1 is the ground.

    Attributes:
        nodes: frames of the mechanism.
        bodies: for each frame, the row of the variable that moves it; −1 on the ground.
        links: rods between frames at a fixed distance.
        slides: rods of variable length along prismatic joints: (parent frame, frame that slides).
        held: frames that each constraint names, one or two.
    """

    nodes: tuple[Node, ...]
    bodies: tuple[int, ...]
    links: tuple[Link, ...]
    slides: tuple[tuple[int, int], ...]
    held: tuple[tuple[int, ...], ...]

    @property
    def heaviest(self) -> float:
        """Greatest mass [kg]; 1 without masses."""
        return max((node.frame.mass[0] for node in self.nodes if node.frame.mass), default=0.0) or 1.0


def picture_of(mechanism: Mechanism) -> Picture:
    """Return the tree of a mechanism for drawing."""
    nodes = tree_of(mechanism.frames)
    bodies = tuple(place.body for place in mechanism.structure.places)
    knots = _knots(nodes)
    links, slides = [], []
    for i, node in enumerate(nodes):
        if node.frame.coordinate is not None and not node.frame.is_rotation:
            slides.append((node.parent, i))
        if i in knots and node.frame.coordinate is None:
            above = node.parent
            while above not in knots and above >= 0:
                above = nodes[above].parent
            links.append(Link(above, i, bodies[i]))
    held = frames_named(mechanism, mechanism.constraints)
    return Picture(nodes, bodies, tuple(links), tuple(slides), tuple(pair for pair in held if pair))


def frames_named(mechanism: Mechanism, components: Sequence[Component]) -> list[tuple[int, ...]]:
    """Return the rows of the frames that each component names; −1 is the ground."""
    rows = {node.frame.name: i for i, node in enumerate(tree_of(mechanism.frames)) if node.frame.name} | {WORLD: -1}
    return [tuple(rows[name] for name in _frames_named(component)) for component in components]


def poses_at(mechanism: Mechanism, q: Vector | None = None) -> Floats:
    """Return the transforms (frames, 4, 4) from each frame to the world, equation (2), in the order of `tree_of`."""
    return _poses(tree_of(mechanism.frames), mechanism.configuration(q))


def visuals_of(mechanism: Mechanism) -> tuple[Visual, ...]:
    """Return surfaces on the bodies of the mechanism's `Model`; frames on the ground have only lines."""
    bodies = _Bodies(mechanism)
    size = _typical(bodies.picture, bodies.home)
    return (*_rods(bodies, size), *_joints(bodies, size), *_masses(bodies, size), *_marks(bodies, size))


def lines_of(mechanism: Mechanism) -> tuple[Line, ...]:
    """Return lines between bodies of the mechanism's `Model`: links on the ground, slides, springs, constraints."""
    bodies = _Bodies(mechanism)
    picture = bodies.picture
    lines = [bodies.line((link.first, link.second), GROUND) for link in picture.links if link.body < 0]
    lines += [bodies.line(pair, LINK) for pair in picture.slides]
    lines += [bodies.line(pair, SPRING) for pair in frames_named(mechanism, mechanism.potentials) if len(pair) == 2]
    lines += [bodies.line(pair, HELD) for pair in dict.fromkeys(picture.held) if len(pair) == 2]
    return tuple(lines)


# --- the tree ---


def _knots(nodes: Sequence[Node]) -> set[int]:
    """Return the frames that rods connect: frames with a name, mass or variable, ends, and branches."""
    children: dict[int, int] = {}
    above_variables = set()
    for node in nodes:
        children[node.parent] = children.get(node.parent, 0) + 1
        if node.frame.coordinate is not None:
            above_variables.add(node.parent)
    return {
        i
        for i, node in enumerate(nodes)
        if node.frame.name or node.frame.mass or node.frame.coordinate is not None
        or children.get(i, 0) != 1 or i in above_variables
    }  # fmt: skip


def _poses(nodes: Sequence[Node], q: Floats) -> Floats:
    poses = np.empty((len(nodes), 4, 4))
    row = 0
    for i, node in enumerate(nodes):
        parent = poses[node.parent] if node.parent >= 0 else np.eye(4)
        if node.frame.coordinate is not None:
            poses[i] = parent @ node.frame.matrix(float(q[row]))
            row += 1
        else:
            poses[i] = parent @ node.frame.matrix()
    return poses


def _frames_named(component: Component) -> list[str]:
    """Return the names of the frames at which a component acts, without the frame of its axes."""
    roles = component.roles()
    places = [name for name, role in roles.items() if role == "frame" and name != "axes"]
    return [value for value in (getattr(component, name) for name in places) if isinstance(value, str)]


def _typical(picture: Picture, home: Floats) -> float:
    """Return the mean length [m] of the links; without links, the mean distance of the frames from the origin."""
    lengths = [np.linalg.norm(_place(home, link.second) - _place(home, link.first)) for link in picture.links]
    long = [float(length) for length in lengths if length > 0.0]
    if not long:
        long = [float(np.linalg.norm(pose[:3, 3])) for pose in home if pose[:3, 3].any()]
    return float(np.mean(long)) if long else 1.0


def _place(poses: Floats, row: int) -> Floats:
    return poses[row, :3, 3] if row >= 0 else np.zeros(3)


# --- surfaces ---


class _Bodies:
    """Picture at the home configuration, with names and origins of the model's bodies."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.names, self.picture = mechanism.coordinates, picture_of(mechanism)
        self.home = _poses(self.picture.nodes, np.zeros(len(self.names)))
        self.origins = [mover.origin for mover in mechanism.structure.coordinates]

    def visual(
        self, body: int, form: str, size: Sequence[float], place: Floats, rotation: Floats, color: object
    ) -> Visual:
        """Return a surface around a position in the home configuration."""
        center = vector3(place - self.origins[body], "center")
        return Visual(
            self.names[body], form, vector3(size, "size"), center, matrix3(rotation, "rotation"), color,  # type: ignore[arg-type]
        )  # fmt: skip

    def line(self, rows: tuple[int, ...], color: Vector3) -> Line:
        """Return a line between the origins of two frames; −1 is the ground."""
        (first, begin), (second, end) = (self._end(row) for row in rows)
        return Line(first, second, begin, end, color)

    def _end(self, row: int) -> tuple[str | None, Vector3]:
        """Return the body that carries a frame (None: ground), and its origin relative to the body's joint."""
        body = self.picture.bodies[row] if row >= 0 else -1
        place = _place(self.home, row) - (self.origins[body] if body >= 0 else 0.0)
        return None if body < 0 else self.names[body], vector3(place, "place")


def _rods(bodies: _Bodies, size: float) -> Iterator[Visual]:
    for link in bodies.picture.links:
        first, second = _place(bodies.home, link.first), _place(bodies.home, link.second)
        length = float(np.linalg.norm(second - first))
        if link.body >= 0 and length > 1e-9:
            thick = 2.0 * ROD * size
            turn, across = rotation_onto(second - first), (thick, thick, length + thick)
            yield bodies.visual(link.body, "capsule", across, 0.5 * (first + second), turn, LINK)


def _joints(bodies: _Bodies, size: float) -> Iterator[Visual]:
    """Yield the pins and blocks of joints, one for each configuration variable."""
    picture, home = bodies.picture, bodies.home
    for i, node in enumerate(picture.nodes):
        if node.frame.coordinate is None:
            continue
        parent = home[node.parent] if node.parent >= 0 else np.eye(4)
        turn, place = rotation_onto(parent[:3, :3] @ node.frame.direction), parent @ [*node.frame.origin, 1.0]
        thick = 2.0 * PIN * size
        form, edges = ("cylinder", (thick, thick, 1.2 * thick)) if node.frame.is_rotation else ("box", (thick,) * 3)
        yield bodies.visual(picture.bodies[i], form, edges, place[:3], turn, JOINT)


def _masses(bodies: _Bodies, size: float) -> Iterator[Visual]:
    picture, home = bodies.picture, bodies.home
    for i, (node, body) in enumerate(zip(picture.nodes, picture.bodies, strict=True)):
        if node.frame.mass is not None and node.frame.mass[0] and body >= 0:
            form, edges = _solid(node.frame, size, picture.heaviest)
            yield bodies.visual(body, form, edges, home[i, :3, 3], home[i, :3, :3], MASS)


def _solid(frame: Frame, size: float, heaviest: float) -> tuple[str, tuple[float, float, float]]:
    """Return shape and size [m] of a mass: a box with its moments, no longer than a share of a link, or a ball."""
    mass, *moments = frame.mass or (1.0, 0.0, 0.0, 0.0)
    diameter = 2.0 * BALL * size * float(np.cbrt(mass / heaviest))
    try:
        edges = np.array(box_size_of(mass, moments))
    except ModelError:
        return "sphere", (diameter, diameter, diameter)
    edges *= min(1.0, BOX * size / float(edges.max()))
    return "box", vector3(edges, "edges")


def _marks(bodies: _Bodies, size: float) -> Iterator[Visual]:
    carriers = bodies.picture.bodies
    for row in sorted({row for held in bodies.picture.held for row in held if row >= 0 and carriers[row] >= 0}):
        place = bodies.home[row, :3, 3]
        yield bodies.visual(carriers[row], "sphere", (2.0 * MARK * size,) * 3, place, np.eye(3), HELD)
