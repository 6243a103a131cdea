"""What a model looks like: surfaces on its bodies.

The human is drawn as a person: head, arms, torso and pelvis on the trunk's body, thighs, shanks and feet on theirs. Its
joints, the soles and the height of the hips are the model's; where the text of the model says nothing (how long the
arms are, where the chin is), parts are in the proportions of Winter, *Biomechanics and Motor Control of Human Movement*
(2009), figure 4.1, for a stature of 1.77 m. Any other model is drawn by its boxes, and by limbs from joint to joint.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biped.model import Model, human
from contact.arrays import Floats
from experiments.visualization.viewer.mesh import Loop, Mesh, ball, box, joined, limb, skin

Color = tuple[int, int, int]

SKIN: Color = (226, 178, 148)
HAIR: Color = (74, 52, 40)
SHIRT: Color = (58, 104, 150)
SHORTS: Color = (66, 76, 98)
SHOE: Color = (236, 236, 232)
SOLE: Color = (70, 76, 88)
EYE: Color = (40, 40, 44)
PLAIN: Color = (150, 164, 178)
JOINT: Color = (96, 108, 122)

#: [m] a stature that the model's legs and centre of mass fit.
STATURE = 1.77
#: Parts of the stature: Winter 2009, figure 4.1.
SHOULDER, ELBOW, WRIST, CHIN = 0.818 * STATURE, 0.63 * STATURE, 0.485 * STATURE, 0.87 * STATURE


@dataclass(frozen=True)
class Shape:
    """A surface on a body."""

    body: int  # number of the body
    name: str  # of the part, unique in a model
    vertices: Floats  # (V, 3) [m] from the body's centre of mass, home axes
    faces: NDArray[np.int64]  # (F, 3) numbers of vertices, counter-clockwise from outside
    color: Color  # red, green, blue, 0 … 255


def shapes_of(model: Model) -> tuple[Shape, ...]:
    """What a model looks like; a model with the human's bodies and joints as a person."""
    return _person(model) if is_human(model) else _machine(model)


def is_human(model: Model) -> bool:
    """Whether its bodies and joints are those of the human; masses and loads do not matter."""
    return _skeleton(model) == _skeleton(human())


def _skeleton(model: Model) -> list[tuple[object, ...]]:
    return [(body.name, body.parent, body.joint) for body in model.bodies]


# --- the human ---


def _person(model: Model) -> tuple[Shape, ...]:
    parts: list[tuple[str, str, Color, Callable[[], Mesh]]] = [
        ("trunk", "torso", SHIRT, _torso),
        ("trunk", "pelvis", SHORTS, _pelvis),
        ("trunk", "head", SKIN, _head),
        ("trunk", "hair", HAIR, _hair),
        ("trunk", "eyes", EYE, _eyes),
        ("trunk", "sleeves", SHIRT, lambda: joined([_sleeve(-1.0), _sleeve(1.0)])),
        ("trunk", "arms", SKIN, lambda: joined([_arm(-1.0), _arm(1.0)])),
    ]
    for side in ("left", "right"):
        parts += [
            (f"{side}_thigh", f"{side}_shorts", SHORTS, _shorts),
            (f"{side}_thigh", f"{side}_thigh", SKIN, _thigh),
            (f"{side}_shank", f"{side}_shank", SKIN, _shank),
            (f"{side}_foot", f"{side}_shoe", SHOE, _shoe),
            (f"{side}_foot", f"{side}_sole", SOLE, _sole),
        ]
    return tuple(_shape(model, body, name, color, make()) for body, name, color, make in parts)


def _shape(model: Model, body: str, name: str, color: Color, mesh: Mesh) -> Shape:
    number = model.body_index(body)
    return Shape(number, name, mesh.vertices - np.asarray(model.bodies[number].com), mesh.faces, color)


def _standing(loops: Sequence[tuple[float, float, float, float, float]]) -> Mesh:
    """A part of the trunk; loops (height above the floor at home, x, half depth, half breadth, power)."""
    base = human().root.joint.position[2]
    return skin([Loop((x, 0.0, z - base), (depth, width), power) for z, x, depth, width, power in loops], 2)


def _torso() -> Mesh:
    return _standing(
        [
            (1.020, 0.000, 0.060, 0.100, 2.3),
            (1.022, 0.000, 0.104, 0.158, 2.4),
            (1.090, -0.002, 0.101, 0.149, 2.4),
            (1.160, -0.004, 0.103, 0.150, 2.4),
            (1.260, -0.010, 0.115, 0.166, 2.4),
            (1.345, -0.012, 0.117, 0.178, 2.5),
            (1.400, -0.004, 0.106, 0.192, 2.3),
            (1.440, 0.004, 0.086, 0.184, 2.1),
            (1.466, 0.010, 0.068, 0.138, 2.0),
            (1.490, 0.012, 0.060, 0.080, 2.0),
            (1.500, 0.012, 0.056, 0.060, 2.0),
            (1.502, 0.012, 0.040, 0.040, 2.0),
        ]
    )


def _pelvis() -> Mesh:
    return _standing(
        [
            (0.868, 0.005, 0.030, 0.050, 2.0),
            (0.876, 0.005, 0.066, 0.100, 2.2),
            (0.915, 0.008, 0.104, 0.168, 2.5),
            (0.960, 0.010, 0.113, 0.190, 2.5),
            (1.005, 0.006, 0.108, 0.176, 2.5),
            (1.040, 0.001, 0.106, 0.161, 2.4),
            (1.044, 0.001, 0.080, 0.120, 2.4),
        ]
    )


def _head() -> Mesh:
    neck = _standing(
        [
            (1.455, 0.014, 0.060, 0.062, 2.0),
            (1.500, 0.012, 0.055, 0.057, 2.0),
            (1.560, 0.006, 0.052, 0.054, 2.0),
            (1.600, 0.004, 0.050, 0.052, 2.0),
        ]
    )
    face = _standing(
        [
            (1.5330, -0.036, 0.012, 0.012, 2.0),
            (1.5370, -0.036, 0.034, 0.034, 2.0),
            (1.5500, -0.026, 0.058, 0.052, 2.1),
            (1.5900, -0.012, 0.083, 0.066, 2.2),
            (1.6400, -0.002, 0.095, 0.074, 2.2),
            (1.6900, 0.002, 0.097, 0.077, 2.2),
            (1.7300, 0.005, 0.085, 0.069, 2.1),
            (1.7580, 0.006, 0.054, 0.046, 2.0),
            (1.7680, 0.006, 0.012, 0.012, 2.0),
        ]
    )
    base = human().root.joint.position[2]
    nose = ball((0.017, 0.012, 0.022), (-0.098, 0.0, 1.636 - base), rows=6)
    ears = [ball((0.018, 0.010, 0.030), (0.006, sign * 0.075, 1.640 - base), rows=6) for sign in (-1.0, 1.0)]
    return joined([neck, face, nose, *ears])


def _hair() -> Mesh:
    return _standing(
        [
            (1.6100, 0.060, 0.030, 0.050, 2.1),
            (1.6120, 0.052, 0.044, 0.066, 2.2),
            (1.6700, 0.034, 0.072, 0.080, 2.3),
            (1.7000, 0.010, 0.098, 0.082, 2.2),
            (1.7350, 0.005, 0.094, 0.077, 2.1),
            (1.7650, 0.005, 0.066, 0.056, 2.0),
            (1.7780, 0.005, 0.014, 0.014, 2.0),
        ]
    )


def _eyes() -> Mesh:
    base = human().root.joint.position[2]
    return joined([ball((0.005, 0.008, 0.008), (-0.0885, y, 1.662 - base), rows=6) for y in (-0.028, 0.028)])


def _joint_places(sign: float) -> tuple[Floats, Floats, Floats]:
    """Shoulder, elbow and wrist of an arm that hangs, slightly bent."""
    base = human().root.joint.position[2]
    shoulder = np.array([0.004, sign * 0.190, SHOULDER - 0.046 - base])
    elbow = np.array([0.022, sign * 0.252, ELBOW - base])
    wrist = np.array([-0.050, sign * 0.262, WRIST + 0.015 - base])
    return shoulder, elbow, wrist


def _sleeve(sign: float) -> Mesh:
    shoulder, elbow, _ = _joint_places(sign)
    return limb(shoulder, shoulder + 0.50 * (elbow - shoulder), (0.060, 0.052))


def _arm(sign: float) -> Mesh:
    shoulder, elbow, wrist = _joint_places(sign)
    hand = wrist + np.array([-0.016, -0.004 * sign, -0.075])
    palm = limb(wrist + np.array([-0.004, 0.0, -0.02]), hand, (0.028, 0.026), 1.2)
    thumb = limb(
        wrist + np.array([-0.022, -0.010 * sign, -0.035]), hand + np.array([-0.026, 0.0, 0.012]), (0.012, 0.010)
    )
    return joined([limb(shoulder, elbow, (0.050, 0.040)), limb(elbow, wrist, (0.042, 0.027), 1.12), palm, thumb])


def _leg(loops: Sequence[tuple[float, float, float, float]]) -> Mesh:
    """A part of a leg; loops (height above the link frame's origin, x, half depth, half breadth)."""
    return skin([Loop((x, 0.0, z), (depth, width)) for z, x, depth, width in loops], 2)


def _knee_height() -> float:
    """[m] from the hip; below zero."""
    model = human()
    return float(model.bodies[model.body_index("left_shank")].joint.position[2])


def _shorts() -> Mesh:
    return _leg(
        [
            (-0.262, -0.002, 0.040, 0.040),
            (-0.264, -0.002, 0.091, 0.089),
            (-0.180, 0.000, 0.096, 0.091),
            (-0.080, 0.003, 0.102, 0.090),
            (0.000, 0.006, 0.098, 0.080),
            (0.060, 0.006, 0.070, 0.056),
            (0.088, 0.006, 0.020, 0.016),
        ]
    )


def _thigh() -> Mesh:
    knee = _knee_height()
    return _leg(
        [
            (knee - 0.052, 0.0, 0.016, 0.014),
            (knee - 0.036, 0.0, 0.044, 0.040),
            (knee, -0.002, 0.056, 0.052),
            (knee + 0.060, -0.002, 0.058, 0.054),
            (knee + 0.160, -0.002, 0.074, 0.070),
            (knee + 0.260, 0.000, 0.083, 0.080),
            (knee + 0.340, 0.002, 0.070, 0.068),
        ]
    )


def _shank() -> Mesh:
    model = human()
    ankle = float(model.bodies[model.body_index("left_ankle")].joint.position[2])
    return _leg(
        [
            (ankle - 0.022, 0.000, 0.020, 0.018),
            (ankle, 0.000, 0.037, 0.034),
            (ankle + 0.070, 0.002, 0.036, 0.033),
            (ankle + 0.170, 0.008, 0.047, 0.043),
            (ankle + 0.270, 0.012, 0.059, 0.052),
            (ankle + 0.360, 0.006, 0.055, 0.051),
            (-0.020, 0.000, 0.053, 0.050),
            (0.022, 0.000, 0.046, 0.044),
            (0.048, 0.000, 0.018, 0.018),
        ]
    )


def _outline(inset: float) -> list[tuple[float, float, float]]:
    """(x, half breadth, middle y) of a shoe from toe to heel, within the contact points' rectangle."""
    low, high, half = _sole_extent()
    length = high - low
    parts = (
        (0.0, 0.45),
        (0.015, 0.62),
        (0.06, 0.83),
        (0.16, 0.97),
        (0.30, 1.0),
        (0.55, 0.84),
        (0.75, 0.78),
        (0.92, 0.74),
    )
    ends = (*parts, (0.985, 0.58), (1.0, 0.40))
    return [(low + inset + t * (length - 2.0 * inset), half * b - inset, 0.0) for t, b in ends]


def _sole_extent() -> tuple[float, float, float]:
    """[m] the contact points' least and greatest x from the ankle, and half of their distance along y."""
    points = np.array([point.position for point in human().contact_points[:4]])
    return float(points[:, 0].min()), float(points[:, 0].max()), float(np.ptp(points[:, 1])) / 2.0


def _floor_height() -> float:
    """[m] the contact points' height from the ankle."""
    return float(human().contact_points[0].position[2])


def _sole() -> Mesh:
    """A plate whose lower face is the plane of the contact points, and which reaches as far as they do."""
    floor, thick = _floor_height(), 0.020
    loops = [Loop((x, y, floor + thick / 2.0), (half, thick / 2.0), 6.0) for x, half, y in _outline(0.0)]
    return skin(loops, 0, fine=2)


def _shoe() -> Mesh:
    floor = _floor_height()
    heights = (0.026, 0.036, 0.044, 0.052, 0.062, 0.086, 0.104, 0.106, 0.098, 0.080)
    loops = []
    for (x, half, y), top in zip(_outline(0.004), heights, strict=True):
        low = floor + 0.012
        loops.append(Loop((x, y, (low + floor + top) / 2.0), (half, (floor + top - low) / 2.0), 2.6))
    collar = limb((0.004, 0.0, 0.0), (0.0, 0.0, 0.052), (0.046, 0.041))
    return joined([skin(loops, 0, fine=2), collar])


# --- any other model ---


def _machine(model: Model) -> tuple[Shape, ...]:
    shapes = [
        _shape(model, item.body, f"box_{k}", PLAIN, _turned_box(item.size, item.rotation, item.center))
        for k, item in enumerate(model.shapes)
    ]
    boxed = {item.body for item in model.shapes}
    thickness = 0.035 * max(_reach(model), 0.1)
    for i, body in enumerate(model.bodies):
        ends = [np.asarray(child.joint.position) for child in model.bodies if child.parent == body.name]
        if body.name not in boxed:
            ends += [np.asarray(p.position) for p in model.contact_points if p.body == body.name]
            ends = ends or [2.0 * np.asarray(body.com)]
        long = [end for end in ends if np.linalg.norm(end) > 1e-9]
        if long:
            mesh = joined([limb(np.zeros(3), end, (thickness, 0.8 * thickness)) for end in long])
            shapes.append(_shape(model, body.name, f"limb_{i}", PLAIN, mesh))
        elif body.name not in boxed:
            shapes.append(_shape(model, body.name, f"ball_{i}", PLAIN, ball(1.6 * thickness, body.com)))
        if i > 0 and body.joint.has_axis:
            shapes.append(_shape(model, body.name, f"joint_{i}", JOINT, ball(1.25 * thickness)))
    return tuple(shapes)


def _turned_box(size: Sequence[float], rotation: object, center: Sequence[float]) -> Mesh:
    return box(size).turned(np.asarray(rotation, dtype=float)).moved(center)


def _reach(model: Model) -> float:
    """[m] a typical length of its limbs: the mean distance from joint to joint."""
    lengths = [float(np.linalg.norm(body.joint.position)) for body in model.bodies[1:]]
    lengths = [length for length in lengths if length > 0.0]
    return float(np.mean(lengths)) if lengths else 0.4
