"""A model as MJCF, the XML that MuJoCo reads.

This module does not import MuJoCo. MuJoCo's ``qpos`` equals our q number by number, because a floating body's frame is
put at its centre of mass. MuJoCo's ``qvel`` is our v except for angular velocities, which MuJoCo gives in the moving
body's axes, and we in world axes (``mujoco_velocity``).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import ArrayLike

from biped.control.controller import Impedance
from biped.disturbances import Throw
from biped.model import Body, ContactPoint, Model, box_inertia
from biped.model.geometry import quaternion_matrix
from biped.model.legs import foot_under
from contact.arrays import Floats
from experiments.engines.engine import frame_of, struck_box
from experiments.engines.restitution import damping_ratio

_KINDS = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball", "floating": "free"}

# Collision filters (contype, conaffinity): feet touch only the floor, a thrown box touches only its target.
_FLOOR = ("1", "0")
_FOOT = ("0", "1")
_TARGET = ("2", "0")
_THROWN = ("0", "2")

#: Least duration of the contact between a thrown box and its target, in seconds and in time steps.
IMPACT, IMPACT_STEPS = 6e-3, 12
# [rad or m] limit of a joint, too large to have an effect
_FAR = 1e6
#: Names of the thrown box, its target, and the floor.
THROWN, TARGET, FLOOR = "thrown_box", "thrown_box_target", "floor"
#: [m] half edges of a moving floor, which is a box: MuJoCo's planes cannot move.
HALF = (100.0, 100.0, 1.0)
#: [kg], [kg m²] mass and inertia of a moving floor, whose pose is set at each step: the human's weight changes its
#: velocity by 4e-5 m/s in 0.5 ms. With 10⁹ MuJoCo's solver stops early, and a standing foot creeps by millimetres.
RESISTANCE = 1e4


@dataclass(frozen=True)
class MujocoOptions:
    """Options of MuJoCo for a model, with MuJoCo's names and choices."""

    step: float = 5e-4  # [s] step size
    integrator: str = "implicitfast"  # Euler, implicit, implicitfast, discrete (since 3.13) or RK4
    solver: str = "Newton"  # solver of the constraints: Newton, CG or PGS
    cone: str = "pyramidal"  # friction cone: pyramidal or elliptic
    friction: float = 0.3  # coefficient of sliding friction of the floor
    point_radius: float = 1e-3  # [m] radius of the sphere at a contact point, whose centre is this far above the point
    #: "points" for a sphere at each contact point, "boxes" for the model's boxes of the feet, "none"
    soles: str = "points"
    islands: bool = True  # True to solve constraints island by island
    impratio: float = 1.0  # ratio of frictional to normal impedance; larger: less creep, with elliptic cones
    solref: tuple[float, float] = (0.02, 1.0)  # solref of contacts with the floor
    solimp: tuple[float, float, float, float, float] = (0.9, 0.95, 0.001, 0.5, 2.0)  # solimp of contacts with the floor
    floor_moves: bool = False  # True for a floor that is a movable body


def mjcf(
    model: Model, options: MujocoOptions | None = None, impedance: Impedance | None = None, throw: Throw | None = None
) -> str:
    """Return a model with revolute, prismatic, spherical and floating joints as MJCF with these options.

    ``impedance`` of joints with one degree of freedom becomes passive forces. ``throw`` is a box that may hit one of
    the model's boxes. In ``qpos`` and ``qvel``, its free joint follows the model's joints, and a moving floor is last.
    """
    options = options or MujocoOptions()
    root = Element("mujoco", model=model.name)
    SubElement(root, "compiler", angle="radian", inertiafromgeom="false")
    _add_options(root, model, options)
    world = SubElement(root, "worldbody")
    if not options.floor_moves:
        _add_geom(world, options.friction, _FLOOR, name=FLOOR, type="plane", size="0 0 1")
    elements: dict[str, Element] = {}
    for body in model.bodies:
        parent = world if body.parent is None else elements[body.parent]
        elements[body.name] = _add_body(parent, model, body, impedance or Impedance())
    if options.soles == "boxes":
        _add_sole_boxes(elements, model, options)
    elif options.soles == "points":
        for point in model.contact_points:
            _add_point(elements[point.body], model, point, options)
    if throw is not None:
        _add_throw(world, elements[throw.target], model, throw, options)
    if options.floor_moves:
        _add_moving_floor(world, options)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode")


def mujoco_velocity(model: Model, q: ArrayLike, v: ArrayLike) -> Floats:
    return velocity_map(model, q) @ np.asarray(v, dtype=float)


def velocity_map(model: Model, q: ArrayLike) -> Floats:
    """Return the orthogonal matrix T (nv, nv) in MuJoCo's ``qvel`` = T v; with its mass matrix M, ours is Tᵀ M T."""
    T = np.eye(model.nv)
    for body, R in zip(model.bodies, _rotations(model, np.asarray(q, dtype=float)), strict=True):
        if body.joint.kind in ("floating", "spherical"):
            angular = slice(model.dofs(body.joint.name).stop - 3, model.dofs(body.joint.name).stop)
            T[angular, angular] = R.T
    return T


def _rotations(model: Model, q: Floats) -> list[Floats]:
    rotations: list[Floats] = []
    for body in model.bodies:
        R = np.eye(3) if body.parent is None else rotations[model.body_index(body.parent)]
        place = model.coordinates(body.joint.name)
        if body.joint.kind == "revolute":
            half = float(q[place.start]) / 2
            R = R @ np.asarray(quaternion_matrix([np.cos(half), *(np.sin(half) * np.asarray(body.joint.axis))]))
        elif body.joint.kind in ("floating", "spherical"):
            R = R @ np.asarray(quaternion_matrix(q[place.stop - 4 : place.stop]))
        rotations.append(R)
    return rotations


def _add_options(root: Element, model: Model, options: MujocoOptions) -> None:
    element = SubElement(
        root, "option", timestep=_text([options.step]), gravity=_text(model.gravity), integrator=options.integrator,
        solver=options.solver, cone=options.cone, impratio=_text([options.impratio]),
    )  # fmt: skip
    # Disable MuJoCo's automatic reset of a state that is not finite.
    SubElement(element, "flag", island="enable" if options.islands else "disable", autoreset="disable")


def _add_body(parent: Element, model: Model, body: Body, impedance: Impedance) -> Element:
    frame = frame_of(body)
    parent_frame = np.zeros(3) if body.parent is None else frame_of(model.bodies[model.body_index(body.parent)])
    element = SubElement(parent, "body", name=body.name, pos=_text(body.joint.position + frame - parent_frame))
    J = np.asarray(body.inertia)
    SubElement(
        element,
        "inertial",
        pos=_text(body.com - frame),
        mass=_text([body.mass]),
        fullinertia=_text([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]),
    )
    _add_joint(element, body, impedance)
    return element


def _add_joint(element: Element, body: Body, impedance: Impedance) -> None:
    joint = body.joint
    attributes = {"name": joint.name, "type": _KINDS[joint.kind]}
    if joint.has_axis:
        attributes["axis"] = _text(joint.axis)
        attributes["armature"] = _text([joint.armature])
        attributes["stiffness"] = _text([impedance.stiffness.get(joint.name, 0.0)])
        attributes["damping"] = _text([impedance.damping.get(joint.name, 0.0) + joint.damping])
        attributes["frictionloss"] = _text([joint.friction])
        if joint.lower > -math.inf or joint.upper < math.inf:
            attributes |= {"limited": "true", "range": _text(np.clip((joint.lower, joint.upper), -_FAR, _FAR))}
        attributes["springref"] = _text([impedance.rest.get(joint.name, 0.0)])
    SubElement(element, "joint", attributes)


def _add_point(element: Element, model: Model, point: ContactPoint, options: MujocoOptions) -> None:
    """Add a small sphere whose lowest point, in the home configuration, is the contact point."""
    frame = frame_of(model.bodies[model.body_index(point.body)])
    centre = np.add(point.position, (0.0, 0.0, options.point_radius)) - frame
    size = _text([options.point_radius])
    _add_geom(element, options.friction, _FOOT, name=point.name, size=size, pos=_text(centre), **_law(options))


def _add_sole_boxes(elements: dict[str, Element], model: Model, options: MujocoOptions) -> None:
    for box in model.shapes:
        if foot_under(model, box.body) is not None:
            centre = box.center - frame_of(model.bodies[model.body_index(box.body)])
            half = _text(np.asarray(box.size) / 2)
            place = {"size": half, "pos": _text(centre)}
            _add_geom(elements[box.body], options.friction, _FOOT, type="box", **place, **_law(options))


def _law(options: MujocoOptions) -> dict[str, str]:
    """Return attributes of a contact geometry that override the floor's, so that contact points may differ in them."""
    return {"solref": _text(options.solref), "solimp": _text(options.solimp), "priority": "1"}


def _add_moving_floor(world: Element, options: MujocoOptions) -> None:
    """Add a free box with its upper side at height zero, where the origin of its body is."""
    body = SubElement(world, "body", name=FLOOR)
    SubElement(body, "inertial", pos="0 0 0", mass="1", diaginertia="1 1 1")
    SubElement(body, "joint", name=FLOOR, type="free", armature=_text([RESISTANCE]))
    place = {"size": _text(HALF), "pos": _text((0.0, 0.0, -HALF[2]))}
    _add_geom(body, options.friction, _FLOOR, name=FLOOR, type="box", **place)


def _add_throw(world: Element, target: Element, model: Model, throw: Throw, options: MujocoOptions) -> None:
    """Add a free box, and the box that it may hit; restitution is the damping of their contact."""
    hit = struck_box(model, throw)
    centre = hit.center - frame_of(model.bodies[model.body_index(throw.target)])
    _add_geom(target, 1.0, _TARGET, name=TARGET, type="box", size=_text(np.asarray(hit.size) / 2), pos=_text(centre))
    body = SubElement(world, "body", name=THROWN, pos=_text(throw.position))
    J = np.diag(box_inertia(throw.mass, throw.size))
    SubElement(body, "inertial", pos="0 0 0", mass=_text([throw.mass]), diaginertia=_text(J))
    SubElement(body, "joint", name=THROWN, type="free")
    frequency, ratio = math.pi / max(IMPACT, IMPACT_STEPS * options.step), damping_ratio(throw.restitution)
    solref = (-(frequency**2), -2.0 * ratio * frequency)
    law = {"solref": _text(solref), "solimp": "0.95 0.95 0.001 0.5 2", "priority": "1"}
    _add_geom(body, throw.friction, _THROWN, name=THROWN, type="box", size=_text(np.asarray(throw.size) / 2), **law)


def _add_geom(element: Element, friction: float, touches: tuple[str, str], **attributes: str) -> None:
    contype, conaffinity = touches
    masks = {"contype": contype, "conaffinity": conaffinity}
    SubElement(element, "geom", {**attributes, **masks, "friction": _text([friction])})


def _text(values: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in values)
