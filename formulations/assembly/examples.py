"""Example assemblies: those of Brüdigam et al. 2024, with the dimensions of the authors' program, and others.

Links are boxes 0.1 m thick that hang along −z if all joints are at zero, and turn about x.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from biped.inputs.checks import above_zero, integer
from biped.model.geometry import Vector3
from biped.model.inertia import box_inertia
from formulations.assembly.assembly import Assembly
from formulations.assembly.body import BodyContact, PointContact, RigidBody, cast, floor_contacts
from formulations.assembly.errors import AssemblyError
from formulations.assembly.joint import Joint, joint
from formulations.assembly.placement import Placement
from formulations.assembly.shapes import box_corners

_X: Vector3 = (1.0, 0.0, 0.0)
#: [m] Thickness of a link.
THICKNESS = 0.1
#: [rad] Angles of the first and the second joint of the three-link loop; the third link hangs upside down, at π.
LOOP_START = (2.842889445268244, -1.209429202890086)


def link(name: str, length: float, mass: float) -> RigidBody:
    """Return a box of this length [m] along z and this mass [kg]."""
    return RigidBody(name, mass, box_inertia(mass, (THICKNESS, THICKNESS, length)))


def thin_rod(name: str, length: float, mass: float) -> RigidBody:
    """Return a thin rod along z, with inertia m l²/12 about its centre."""
    across = mass * length**2 / 12.0
    return RigidBody(name, mass, ((across, 0.0, 0.0), (0.0, across, 0.0), (0.0, 0.0, 1e-3 * across)))


def pendulum(links: int, *, kind: str = "revolute") -> Assembly:
    """Return a hanging chain of links of 1 m and 1 kg (Brüdigam et al. 2024, figures 7b, 7c, 8a and 10).

    Args:
        links: number of links, named ``link_1`` …; the joints above them are ``joint_1`` …, the first at the origin.
        kind: kind of all joints, a name in ``KINDS``; revolute joints turn about x.

    Raises:
        InputError: the number of links is not a whole number above zero.
    """
    integer(links, "links")
    above_zero(links, "links")
    joints = [
        joint(
            kind, f"joint_{k}", f"link_{k - 1}" if k > 1 else None, f"link_{k}", _X,
            inboard_point=(0.0, 0.0, -0.5 if k > 1 else 0.0), outboard_point=(0.0, 0.0, 0.5),
        )
        for k in range(1, links + 1)
    ]  # fmt: skip
    bodies = [link(f"link_{k}", 1.0, 1.0) for k in range(1, links + 1)]
    return Assembly(f"pendulum_{links}", tuple(bodies), tuple(joints))


def three_link_loop() -> tuple[Assembly, Placement]:
    """Return the loop of figure 7a, links of 1, √½ and 1 m between two fixed points 1 m apart, and its start.

    All joints are hinges about x. Three of the twenty constraints are redundant: they keep the links in one plane.
    """
    long, short = 1.0, math.sqrt(0.5)
    first, second = LOOP_START
    joints = (
        joint("revolute", "left", None, "left_link", _X, outboard_point=(0.0, 0.0, 0.5 * long)),
        joint("revolute", "left_tip", "left_link", "coupler", _X,
              inboard_point=(0.0, 0.0, -0.5 * long), outboard_point=(0.0, 0.0, 0.5 * short)),
        joint("revolute", "right_tip", "coupler", "right_link", _X,
              inboard_point=(0.0, 0.0, -0.5 * short), outboard_point=(0.0, 0.0, -0.5 * long)),
        joint("revolute", "right", None, "right_link", _X,
              inboard_point=(0.0, 1.0, 0.0), outboard_point=(0.0, 0.0, 0.5 * long)),
    )  # fmt: skip
    bodies = (link("left_link", long, long), link("coupler", short, short), link("right_link", long, long))
    assembly = Assembly("three_link_loop", bodies, joints)
    start = assembly.place({"left": first, "left_tip": second, "right_tip": math.pi - first - second})
    return assembly, assembly.assemble(start)


def box(
    size: Sequence[float], mass: float, friction: float, *, normal: Vector3 = (0.0, 0.0, 1.0), directions: int = 4
) -> Assembly:
    """Return a free box with contacts ``corner_1`` … between its corners and a plane through the origin (figure 7d).

    Args:
        size: (3,) [m] lengths of the edges.
        mass: [kg] mass.
        friction: coefficient of friction.
        normal: (3,) normal of the plane, towards the box.
        directions: number of sides of the friction pyramid; 0: Coulomb's cone.

    Raises:
        InputError: the mass is not above zero.
        ModelError: an edge is not above zero.
    """
    if len(size) != 3:
        raise AssemblyError(f"size = {size!r}: it must have three numbers, the lengths of the edges [m]")
    contacts = tuple(
        PointContact(f"corner_{k}", "box", corner, friction, normal) for k, corner in enumerate(box_corners(size), 1)
    )
    body = RigidBody("box", mass, box_inertia(mass, size))
    return Assembly("box", (body,), (), contacts, directions=directions)


def on_incline(
    size: Sequence[float], mass: float, friction: float, tilt: float, speed: float = 0.0
) -> tuple[Assembly, Placement]:
    """Return a box that slides down a plane at ``speed`` [m/s]; the plane falls towards +x by ``tilt`` [rad]."""
    normal = (math.sin(tilt), 0.0, math.cos(tilt))
    assembly = box(size, mass, friction, normal=normal)
    turn = (math.cos(0.5 * tilt), 0.0, math.sin(0.5 * tilt), 0.0)
    place = 0.5 * size[2] * np.array(normal)
    start = assembly.place(poses={"box": (tuple(place.tolist()), turn)})
    down = np.array([math.cos(tilt), 0.0, -math.sin(tilt)])
    return assembly, start.moving(np.concatenate([speed * down, np.zeros(3)]))


def four_bar_chain(segments: int) -> tuple[Assembly, Placement]:
    """Return the chain of figure 9a, and its start: rhombi of four 1 m links, each hung from the previous one.

    Joints of a segment are hinges about x. The joint that closes the segment also slides along x, so that fewer
    constraints are redundant. The remaining redundant ones do not affect the motion.

    Args:
        segments: number of rhombi.

    Raises:
        InputError: the number of segments is not a whole number above zero.
    """
    integer(segments, "segments")
    above_zero(segments, "segments")
    top, tip = (0.0, 0.0, 0.5), (0.0, 0.0, -0.5)
    bodies: list[RigidBody] = []
    joints: list[Joint] = []
    start: dict[str, float] = {}
    open_by = math.pi / 4.0
    for k in range(1, segments + 1):
        names = {part: f"{part}_{k}" for part in ("left", "left_lower", "right", "right_lower")}
        bodies += [link(name, 1.0, 1.0) for name in names.values()]
        above, hung_at = (f"left_lower_{k - 1}", tip) if k > 1 else (None, (0.0, 0.0, 0.0))
        for side in ("left", "right"):
            joints.append(joint("revolute", f"top_{side}_{k}", above, names[side], _X,
                                inboard_point=hung_at, outboard_point=top))  # fmt: skip
            joints.append(joint("revolute", f"middle_{side}_{k}", names[side], names[f"{side}_lower"], _X,
                                inboard_point=tip, outboard_point=top))  # fmt: skip
        joints.append(joint("cylindrical", f"bottom_{k}", names["left_lower"], names["right_lower"], _X,
                            inboard_point=tip, outboard_point=tip))  # fmt: skip
        tilt = 0.0 if k == 1 else open_by  # of the link that it hangs on
        start |= {f"top_left_{k}": -open_by - tilt, f"middle_left_{k}": 2.0 * open_by}
        start |= {f"top_right_{k}": open_by - tilt, f"middle_right_{k}": -2.0 * open_by}
    assembly = Assembly(f"four_bar_chain_{segments}", tuple(bodies), tuple(joints))
    return assembly, assembly.assemble(assembly.place(start))


def n_four_bar(windows: int, speed: float = 1.0) -> tuple[Assembly, Placement]:
    """Return the N four-bar windows in a row of figure 12, and their start.

    This is benchmark A02 of IFToMM's library of multibody problems (González, Dopico, Lugrís and Cuadrado 2006): N + 1
    thin rods of 1 m and 1 kg stand on the ground, 1 m apart, and N couplers connect their tips. All joints are hinges
    about x. At the start the rods are upright, and the couplers move along +y. There is one degree of freedom; there
    are N + 1 when all rods lie in one line, twice per revolution.

    Args:
        windows: number of windows N.
        speed: [m/s] speed of the couplers at the start.

    Raises:
        InputError: the number of windows is not a whole number above zero.
    """
    integer(windows, "windows")
    above_zero(windows, "windows")
    top, tip = (0.0, 0.0, 0.5), (0.0, 0.0, -0.5)
    bodies: list[RigidBody] = []
    joints: list[Joint] = []
    start, rates = {}, {}
    for k in range(windows + 1):
        bodies.append(thin_rod(f"rod_{k}", 1.0, 1.0))
        joints.append(joint("revolute", f"ground_{k}", None, f"rod_{k}", _X,
                            inboard_point=(0.0, float(k), 0.0), outboard_point=top))  # fmt: skip
        start[f"ground_{k}"], rates[f"ground_{k}"] = math.pi, -speed
    for k in range(windows):
        bodies.append(thin_rod(f"coupler_{k}", 1.0, 1.0))
        joints.append(joint("revolute", f"left_{k}", f"rod_{k}", f"coupler_{k}", _X,
                            inboard_point=tip, outboard_point=top))  # fmt: skip
        joints.append(joint("revolute", f"right_{k}", f"coupler_{k}", f"rod_{k + 1}", _X,
                            inboard_point=tip, outboard_point=tip))  # fmt: skip
        start[f"left_{k}"], rates[f"left_{k}"] = -0.5 * math.pi, speed
    assembly = Assembly(f"{windows}_four_bar", tuple(bodies), tuple(joints))
    return assembly, assembly.assemble(assembly.place(start, rates=rates))


def arch(
    stones: int, thickness: float, *, friction: float = 0.8, density: float = 2000.0
) -> tuple[Assembly, Placement]:
    """Return a semicircular arch of equal stones ``stone_1`` … without mortar, on a floor; its mean radius is 1 m.

    An arch thinner than 0.1075 m falls with any number of stones (Milankovitch 1907; Heyman 1969, Int. J. Mech. Sci.
    11); with few stones slightly thinner arches stand.

    Args:
        stones: number of stones.
        thickness: [m] thickness along the radius.
        friction: coefficient of friction of all contacts.
        density: [kg/m³] density of the stones.

    Raises:
        InputError: ``stones`` is zero, or a number is not above zero.
    """
    integer(stones, "stones")
    above_zero(stones, "stones")
    above_zero(thickness, "thickness")
    bodies, poses = [], {}
    for k in range(stones):
        ends = [math.pi * (1.0 - end / stones) for end in (k, k + 1)]
        points = np.array([
            (r * math.cos(angle), y, r * math.sin(angle))
            for angle in ends for r in (1.0 - 0.5 * thickness, 1.0 + 0.5 * thickness) for y in (-0.15, 0.15)
        ])  # fmt: skip
        body, center = cast(f"stone_{k + 1}", points, density)
        bodies.append(body)
        poses[body.name] = (center, (1.0, 0.0, 0.0, 0.0))
    touching = [
        BodyContact(f"bed_{k}", stone.name, then.name, friction) for k, (stone, then) in enumerate(pairwise(bodies), 1)
    ]
    contacts = tuple(contact for body in bodies for contact in floor_contacts(body, friction))
    assembly = Assembly(f"arch_{stones}", tuple(bodies), (), contacts, touching=tuple(touching))
    return assembly, assembly.place(poses=poses)
