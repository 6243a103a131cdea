"""Surfaces of a model's bodies.

The human is drawn as a person: head, arms, torso and pelvis on the trunk's body, thighs, shanks and feet on their own.
Joints, soles and hip height are the model's; other dimensions, such as arm lengths, are in the proportions of Winter,
*Biomechanics and Motor Control of Human Movement* (2009), figure 4.1, for a stature of 1.77 m; ``human.toml`` has the
cross-sections. Other models are drawn by their visuals; bodies without visuals by their boxes, and by limbs from joint
to joint.
"""

import tomllib
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from importlib import resources
from typing import Any

import numpy as np
from trimesh import Trimesh

from biped.model import Model, Visual, human
from biped.model.human import SIDES
from biped.model.stretching import measures_of
from biped.model.toes import BALL
from biped.model.toes import BODIES as TOES
from biped.model.upper_body import BODIES
from biped.runs.world import Bodies, Hull
from contact.arrays import Floats
from experiments.visualization.viewer.colors import Color
from experiments.visualization.viewer.mesh import Loop, ball, box, joined, limb, skin
from experiments.visualization.viewer.surfaces import parts_of
from kernelcache.cache import say

SKIN: Color = (226, 178, 148)
HAIR: Color = (74, 52, 40)
SHIRT: Color = (58, 104, 150)
SHORTS: Color = (66, 76, 98)
SHOE: Color = (236, 236, 232)
SOLE: Color = (70, 76, 88)
LIPS: Color = (176, 104, 94)
EYE: Color = (40, 40, 44)
PLAIN: Color = (150, 164, 178)
JOINT: Color = (96, 108, 122)
#: Colours of the bodies of other formulations; neighbours differ.
TINTS: tuple[Color, ...] = (PLAIN, (112, 146, 176))

#: Bodies that carry a person's parts in models with these bodies.
_BY_ITSELF = {
    "pelvis": "pelvis", "head": "head", "hair": "head", "eyes": "head", "mouth": "head",
    **{f"{side}_{part}": f"{side}_{body}" for side, _ in SIDES
       for part, body in (("sleeve", "upper_arm"), ("upper_arm", "upper_arm"), ("forearm", "forearm"),
                          ("toecap", "toes"), ("toe_sole", "toes"))},
}  # fmt: skip

#: [m] stature that fits the model's legs and centre of mass.
STATURE = 1.77
#: [m] heights above the floor: Winter 2009, figure 4.1.
SHOULDER, ELBOW, WRIST = 0.818 * STATURE, 0.63 * STATURE, 0.485 * STATURE


@dataclass(frozen=True)
class Shape:
    """Coloured surface of a body or of a part of it."""

    body: int  # index of the body in the model
    name: str  # name of the part, unique in a model
    mesh: Trimesh  # [m] from the body's centre of mass, in axes parallel to the world's at home
    color: Color


def shapes_of(model: Model | Bodies) -> tuple[Shape, ...]:
    """Return the surfaces of a model, cached; a model with the human's bodies and joints is drawn as a person."""
    return _shapes_of_bodies(model) if isinstance(model, Bodies) else model.once(_shapes)


def _shapes(model: Model) -> tuple[Shape, ...]:
    if _is_human(model):  # also in flight, without contact points
        return _person(model)
    if is_person(model):
        return _stretched_person(model)
    seen = _robot(model)
    return (*seen, *_machine(model, {shape.body for shape in seen}))


def is_person(model: Model) -> bool:
    """Return whether a model has the human's legs, in any proportions, and no other parts than a person.

    The upper body may have joints (`biped.model.upper_body`).
    """
    person, bodies = human(), {body.name: body for body in model.bodies}
    if "trunk" not in bodies or not any(point.body == "left_foot" for point in model.contact_points):
        return False
    for ours in person.bodies[1:]:
        parent = model.root.name if ours.parent == person.root.name else ours.parent
        theirs = bodies.pop(ours.name, None)
        if theirs is None or (theirs.parent, theirs.joint.axis) != (parent, ours.joint.axis):
            return False
    if any(body.mass and body.name not in (*BODIES, *TOES) for body in bodies.values()):
        return False
    measures, homes = measures_of(model), _origins(model)
    return all(np.allclose(homes[body.name], measures.origin(body.name), atol=1e-9) for body in person.bodies)


def _origins(model: Model) -> dict[str, Floats]:
    """Return the positions (3,) of the link frames in the home configuration, by body."""
    return {body.name: place - body.com for body, place in zip(model.bodies, model.home_positions, strict=True)}


def _stretched_person(model: Model) -> tuple[Shape, ...]:
    person, reference, other, origins = human(), measures_of(human()), measures_of(model), _origins(model)
    shapes = []
    for shape in _person(person, 1.0 - BALL if TOES[0] in origins else 0.0):
        ours = person.bodies[shape.body]
        places = reference.stretched(other, ours.name, np.asarray(shape.mesh.vertices) + ours.com)
        on = _BY_ITSELF.get(shape.name, ours.name)
        if on == ours.name or on not in origins:
            on = ours.name
        elif on.endswith("arm"):  # turns where it is drawn
            shoulder, elbow, _ = _joint_places(-1.0 if on.startswith("left") else 1.0)
            places -= reference.stretched(other, ours.name, elbow if on.endswith("forearm") else shoulder)
        else:
            places += origins[ours.name] - origins[on]
        number = model.body_index(on)
        mesh = Trimesh(places - model.bodies[number].com, shape.mesh.faces, process=False)
        shapes.append(replace(shape, body=number, mesh=mesh))
    return tuple(shapes)


def _is_human(model: Model) -> bool:
    """Return whether a model has the human's bodies and joints; masses may differ."""
    ours, theirs = (
        [(body.name, body.parent, body.joint.kind, body.joint.axis, body.joint.position) for body in m.bodies]
        for m in (model, human())
    )
    return ours == theirs


def _shape(model: Model, body: str, name: str, color: Color, meshes: Sequence[Trimesh]) -> Shape:
    """Return a shape of meshes in the body's link frame."""
    number = model.body_index(body)
    return Shape(number, name, joined(meshes).apply_translation(-np.asarray(model.bodies[number].com)), color)


# --- the human ---


def _person(model: Model, toes: float = 0.0) -> tuple[Shape, ...]:
    """Return a person's shapes; shoes have two parts if there are toes, which take the part ``toes`` of a foot."""
    eyes = 1.662 - _trunk_height()
    parts: list[tuple[str, str, Color, Callable[[], Sequence[Trimesh]]]] = [
        ("trunk", "torso", SHIRT, lambda: [_part("torso")]),
        ("trunk", "pelvis", SHORTS, lambda: [_part("pelvis")]),
        ("trunk", "head", SKIN, _head),
        ("trunk", "hair", HAIR, lambda: [_part("hair")]),
        ("trunk", "eyes", EYE, lambda: [ball((0.005, 0.008, 0.008), (-0.0885, y, eyes)) for y in (-0.028, 0.028)]),
        ("trunk", "mouth", LIPS, lambda: [ball((0.004, 0.021, 0.004), (-0.0915, 0.0, eyes - 0.072))]),
    ]
    for side, sign in SIDES:
        parts += [
            ("trunk", f"{side}_sleeve", SHIRT, partial(_sleeve, sign)),
            ("trunk", f"{side}_upper_arm", SKIN, partial(_upper_arm, sign)),
            ("trunk", f"{side}_forearm", SKIN, partial(_forearm, sign)),
            (f"{side}_thigh", f"{side}_shorts", SHORTS, lambda: [_part("shorts")]),
            (f"{side}_thigh", f"{side}_thigh", SKIN, lambda: [_part("thigh")]),
            (f"{side}_shank", f"{side}_shank", SKIN, lambda: [_part("shank")]),
            (f"{side}_foot", f"{side}_shoe", SHOE, lambda: [_upper(toes, 1.0), _collar()]),
            (f"{side}_foot", f"{side}_sole", SOLE, lambda: [_sole(toes, 1.0)]),
        ]
        if toes:
            parts += [
                (f"{side}_foot", f"{side}_toecap", SHOE, lambda: [_upper(0.0, toes)]),
                (f"{side}_foot", f"{side}_toe_sole", SOLE, lambda: [_sole(0.0, toes)]),
            ]
    return tuple(_shape(model, body, name, color, make()) for body, name, color, make in parts)


@cache
def _sections() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("human.toml").read_text(encoding="utf-8"))


def _height_of(place: str) -> float:
    """Return the height [m] from which a part's heights are given, in the link frame of its body."""
    model = human()
    if place == "floor":
        return -_trunk_height()
    below = {"hip": None, "knee": "left_shank", "ankle": "left_ankle"}[place]
    return 0.0 if below is None else float(model.bodies[model.body_index(below)].joint.position[2])


def _trunk_height() -> float:
    return float(human().root.joint.position[2])


def _part(name: str) -> Trimesh:
    part = _sections()[name]
    base = _height_of(part["from"])
    return skin([Loop((x, 0.0, base + z), (depth, width), *power) for z, x, depth, width, *power in part["loops"]], 2)


def _head() -> list[Trimesh]:
    base = _trunk_height()
    nose = ball((0.017, 0.012, 0.022), (-0.098, 0.0, 1.636 - base))
    ears = [ball((0.018, 0.010, 0.030), (0.006, sign * 0.075, 1.640 - base)) for sign in (-1.0, 1.0)]
    return [_part("neck"), _part("face"), nose, *ears]


def _joint_places(sign: float) -> tuple[Floats, Floats, Floats]:
    """Return shoulder, elbow and wrist of a hanging, slightly bent arm."""
    base = _trunk_height()
    shoulder = np.array([0.004, sign * 0.190, SHOULDER - 0.046 - base])
    elbow = np.array([0.022, sign * 0.252, ELBOW - base])
    wrist = np.array([-0.050, sign * 0.262, WRIST + 0.015 - base])
    return shoulder, elbow, wrist


def _sleeve(sign: float) -> list[Trimesh]:
    """Return a sleeve from within the torso over the shoulder to the middle of the upper arm."""
    shoulder, elbow, _ = _joint_places(sign)
    yoke = shoulder * np.array([1.0, 0.45, 1.0]) + np.array([0.0, 0.0, 0.022])
    return [limb(yoke, shoulder, (0.062, 0.060)), limb(shoulder, shoulder + 0.50 * (elbow - shoulder), (0.060, 0.052))]


def _upper_arm(sign: float) -> list[Trimesh]:
    shoulder, elbow, _ = _joint_places(sign)
    return [limb(shoulder, elbow, (0.050, 0.040))]


def _forearm(sign: float) -> list[Trimesh]:
    _, elbow, wrist = _joint_places(sign)
    hand = wrist + np.array([-0.016, -0.004 * sign, -0.075])
    palm = limb(wrist + np.array([-0.004, 0.0, -0.02]), hand, (0.028, 0.026), 1.2)
    thumb = limb(
        wrist + np.array([-0.022, -0.010 * sign, -0.035]), hand + np.array([-0.026, 0.0, 0.012]), (0.012, 0.010)
    )
    return [limb(elbow, wrist, (0.042, 0.027), 1.12), palm, thumb]


#: Shoe from toe to heel: part of its length, part of its half breadth, and height of its upper side [m].
_OUTLINE = (
    (0.0, 0.45, 0.026), (0.015, 0.62, 0.036), (0.06, 0.83, 0.044), (0.16, 0.97, 0.052), (0.30, 1.0, 0.062),
    (0.55, 0.84, 0.086), (0.75, 0.78, 0.104), (0.92, 0.74, 0.106), (0.985, 0.58, 0.098), (1.0, 0.40, 0.080),
)  # fmt: skip


def _outline(inset: float, begin: float, end: float) -> list[tuple[float, float, float, float]]:
    """Return (x, half breadth, floor, height) from the ankle along a shoe's part in the contact points' rectangle."""
    points = np.array([point.position for point in human().contact_points[:4]])
    low, length, half = points[:, 0].min() + inset, np.ptp(points[:, 0]) - 2.0 * inset, np.ptp(points[:, 1]) / 2.0
    floor = float(points[0, 2])
    along, *sizes = zip(*_OUTLINE, strict=True)
    places = [begin, *(t for t in along if begin < t < end), end]
    breadths, heights = (np.interp(places, along, size).tolist() for size in sizes)
    return [(low + t * length, half * breadth - inset, floor, height)
            for t, breadth, height in zip(places, breadths, heights, strict=True)]  # fmt: skip


def _sole(begin: float, end: float) -> Trimesh:
    """Return a plate with its lower face in the plane of the contact points, and with their extent."""
    thick = 0.020
    places = _outline(0.0, begin, end)
    loops = [Loop((x, 0.0, floor + thick / 2.0), (half, thick / 2.0), 6.0) for x, half, floor, _ in places]
    return skin(loops, 0, fine=2)


def _upper(begin: float, end: float) -> Trimesh:
    loops = [
        Loop((x, 0.0, floor + (height + 0.012) / 2.0), (half, (height - 0.012) / 2.0), 2.6)
        for x, half, floor, height in _outline(0.004, begin, end)
    ]
    return skin(loops, 0, fine=2)


def _collar() -> Trimesh:
    return limb((0.004, 0.0, 0.0), (0.0, 0.0, 0.052), (0.046, 0.041))


# --- any other model ---


def _robot(model: Model) -> list[Shape]:
    """Return the shapes of a model's visuals; warn about missing meshes."""
    shapes, missing = [], []
    for i, (visual, parts) in enumerate(zip(model.visuals, parts_of(model), strict=True)):
        for j, (mesh, color) in enumerate(parts):
            there = mesh.copy().apply_transform(_pose(visual))
            shapes.append(_shape(model, visual.body, f"visual_{i}_{j}", color or PLAIN, [there]))
        if not parts:
            missing.append(visual.file)
    if missing:
        say(
            f"{model.name}: {len(missing)} of its {len(model.visuals)} surfaces are not drawn, since their meshes "
            f"cannot be read; the first is {missing[0]!r}"
        )
    return shapes


def _pose(visual: Visual) -> Floats:
    """Return the transform (4, 4) from the visual's frame to the link frame of its body."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = visual.rotation, visual.center
    return pose


def _machine(model: Model, drawn: Set[int]) -> tuple[Shape, ...]:
    """Return boxes and limbs for the bodies that are not in ``drawn``."""
    names = {model.body_names[body] for body in drawn}
    shapes = [
        _shape(model, item.body, f"box_{k}", PLAIN, [box(item.size, item.center, item.rotation)])
        for k, item in enumerate(model.shapes)
        if item.body not in names
    ]
    boxed = {item.body for item in model.shapes}
    thickness = 0.035 * max(_reach(model), 0.1)
    for i, body in enumerate(model.bodies):
        if i in drawn:
            continue
        ends = [np.asarray(child.joint.position) for child in model.bodies if child.parent == body.name]
        if body.name not in boxed:
            ends += [np.asarray(p.position) for p in model.contact_points if p.body == body.name]
            ends = ends or [2.0 * np.asarray(body.com)]
        long = [end for end in ends if np.linalg.norm(end) > 1e-9]
        if long:
            limbs = [limb(np.zeros(3), end, (thickness, 0.8 * thickness)) for end in long]
            shapes.append(_shape(model, body.name, f"limb_{i}", PLAIN, limbs))
        elif body.name not in boxed:
            shapes.append(_shape(model, body.name, f"ball_{i}", PLAIN, [ball(1.6 * thickness, body.com)]))
        if i > 0 and body.joint.has_axis:
            shapes.append(_shape(model, body.name, f"joint_{i}", JOINT, [ball(1.25 * thickness)]))
    return tuple(shapes)


def _reach(model: Model) -> float:
    """Return a typical length [m] of limbs: the mean distance from joint to joint."""
    lengths = [float(np.linalg.norm(body.joint.position)) for body in model.bodies[1:]]
    lengths = [length for length in lengths if length > 0.0]
    return float(np.mean(lengths)) if lengths else 0.4


# --- bodies of other formulations ---


@lru_cache(maxsize=16)
def _shapes_of_bodies(bodies: Bodies) -> tuple[Shape, ...]:
    """Return a surface for each hull."""
    return tuple(
        Shape(i, f"{name}_{k}", _surface(hull), TINTS[i % len(TINTS)])
        for i, (name, hulls) in enumerate(zip(bodies.body_names, bodies.hulls, strict=True))
        for k, hull in enumerate(hulls)
    )


def _surface(hull: Hull) -> Trimesh:
    points, radius = np.array(hull.points), hull.radius
    if len(points) == 1:
        return ball(radius, points[0])
    if len(points) == 2:
        return limb(points[0], points[1], (radius, radius))
    if radius:
        return joined([ball(radius, point) for point in points]).convex_hull
    surface = Trimesh(points).convex_hull
    surface.unmerge_vertices()  # each face has its own corners, so that edges are sharp
    return surface
