"""The body above the hips: one body, or several with joints at the lumbar spine, the neck, and in the arms.

De Leva's table cuts the trunk at the navel; the lumbar joint there is our choice. The neck joint is at the lower end of
the table's head, at the angle of the jaw. Hands are parts of the forearms. The mass properties of the whole do not
depend on the choice of joints.
"""

import math
from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from biped.model.anthropometry import SHOULDERS_BREADTH, Lump, People, hanging, limp, together
from biped.model.body import Body
from biped.model.compound import jointed
from biped.model.geometry import Vector3, matrix3, vector3
from biped.model.human import SIDES, X, Y, Z, ranges_of_side
from biped.model.joint import revolute

#: Segments that can have joints: the trunk on the pelvis, the head, the arms, or arms without muscles.
SEGMENTS = ("lumbar", "head", "arms", "limp-arms")
#: Names of the bodies above the hips.
BODIES = ("trunk", "pelvis", "head", *(f"{side}_{part}" for side, _ in SIDES for part in ("upper_arm", "forearm")))
#: Damping of limp arms over the critical damping. Our choice.
_LIMP_DAMPING = 0.1
# [°] Ranges of motion, from the source of the legs' (`biped.model.human`). Positive: extension of spine and neck;
# adduction, flexion and internal rotation of left shoulders; flexion of elbows.
_MIDDLE_RANGES = {
    "lumbar_roll": (-35.0, 35.0), "lumbar_pitch": (-80.0, 25.0), "lumbar_yaw": (-45.0, 45.0),
    "neck_roll": (-45.0, 45.0), "neck_pitch": (-45.0, 45.0),
}  # fmt: skip
_ARM_RANGES = {
    "shoulder_roll": (-180.0, 75.0), "shoulder_pitch": (-60.0, 180.0), "shoulder_yaw": (-90.0, 70.0),
    "elbow_pitch": (0.0, 150.0),
}  # fmt: skip
_AXES = {"roll": X, "pitch": Y, "yaw": Z}


class Part(NamedTuple):
    """Rigid part of the body above the hips."""

    name: str
    lump: Lump  # in home positions
    parent: str | None = None
    joints: tuple[str, ...] = ()
    at: Vector3 = (0.0, 0.0, 0.0)  # [m] home position of the joints; for the root, of its centre of mass

    def here(self, place: ArrayLike) -> Vector3:
        """Return a home position [m] relative to the link frame."""
        return vector3(np.subtract(place, self.at), "place")


def parts_of(people: People, stature: float, mass: float, hip: float, segments: Collection[str]) -> tuple[Part, ...]:
    """Return the root, which carries the legs, followed by the parts with joints.

    Args:
        people: anthropometric table.
        stature: [m] body height.
        mass: [kg] body mass for the table's shares.
        hip: [m] height of the hip joints.
        segments: some of `SEGMENTS`.
    """

    def length(measured: float) -> float:
        return measured / people.stature * stature

    def hung(name: str, y: float, z: float) -> Lump:
        return hanging(getattr(people, name), people, stature, mass, np.array([0.0, y, z]))

    navel, neck = hip + length(people.pelvis.length), stature - length(people.head.length)
    head, trunk, parts = hung("head", 0.0, stature), hung("trunk", 0.0, hip + length(people.trunk.length)), []
    in_one = [head, trunk]
    if "head" in segments:
        in_one = [trunk]
        parts.append(Part("head", head, "trunk", ("neck_roll", "neck_pitch"), (0.0, 0.0, neck)))
    shoulder = hip + length(people.shoulders)
    elbow = shoulder - length(people.upper_arm.length)
    wrist = elbow - length(people.forearm.length)
    for side, sign in SIDES:
        y = sign * SHOULDERS_BREADTH / 2.0 * stature
        upper, lower = hung("upper_arm", y, shoulder), (hung("forearm", y, elbow), hung("hand", y, wrist))
        if {"arms", "limp-arms"} & set(segments):
            turns = tuple(f"{side}_shoulder_{axis}" for axis in _AXES)
            parts.append(Part(f"{side}_upper_arm", upper, "trunk", turns, (0.0, y, shoulder)))
            bends, at = (f"{side}_elbow_pitch",), (0.0, y, elbow)
            parts.append(Part(f"{side}_forearm", together(*lower), f"{side}_upper_arm", bends, at))
        else:
            in_one += [upper, *lower]
    rest = together(*in_one)
    if "lumbar" not in segments:
        return _root("trunk", rest), *parts
    pelvis = hung("pelvis", 0.0, navel)
    above = Part("trunk", rest.without(pelvis), "pelvis", tuple(f"lumbar_{axis}" for axis in _AXES), (0.0, 0.0, navel))
    return _root("pelvis", pelvis), above, *parts


def _root(name: str, lump: Lump) -> Part:
    return Part(name, lump, at=(0.0, 0.0, float(lump.com[2])))


def part_of(parts: tuple[Part, ...], what: str) -> Part:
    """Return the part that carries a point of the human's trunk, such as ``left_hand``, ``head_top`` or ``chest``."""
    side, _, rest = what.partition("_")
    names = {
        "head": "head", "hip": "pelvis", "groin": "pelvis", "buttock": "pelvis", "upper": f"{side}_upper_arm",
        "elbow": f"{side}_forearm", "forearm": f"{side}_forearm", "hand": f"{side}_forearm",
    }  # fmt: skip
    by_name = {part.name: part for part in parts}
    word = (rest if side in dict(SIDES) else what).partition("_")[0]
    return by_name.get(names.get(word, "trunk"), by_name["trunk"])


def bodies_of(parts: tuple[Part, ...], segments: Collection[str], weight: float, stature: float) -> Iterator[Body]:
    """Yield the bodies on joints, which are hinges about X, Y and Z in series, limp for ``limp-arms``."""
    by_name = {part.name: part for part in parts}
    for part in parts[1:]:
        at = by_name[str(part.parent)].here(part.at)
        joints = [revolute(name, _AXES[name.rpartition("_")[2]], at if k == 0 else (0.0, 0.0, 0.0))
                  for k, name in enumerate(part.joints)]  # fmt: skip
        if "limp-arms" in segments and part.name.endswith("arm"):
            carried = together(*(other.lump for other in parts if part.name in (other.name, other.parent)))
            below = part.at[2] - float(carried.com[2])
            joints = [limp(joint, carried, below, weight * stature, _LIMP_DAMPING) for joint in joints]
        mass, spin = part.lump.mass, matrix3(part.lump.inertia, "inertia")
        yield from jointed(part.name, joints, mass, spin, part.here(part.lump.com), part.parent)


def ranges_of(parts: tuple[Part, ...]) -> tuple[tuple[str, float, float], ...]:
    """Return the ranges of motion [rad] by joint."""
    joints = [joint for part in parts for joint in part.joints]
    all_ranges = [(joint, math.radians(low), math.radians(high)) for joint, (low, high) in _MIDDLE_RANGES.items()]
    all_ranges += [row for side, sign in SIDES for row in ranges_of_side(side, sign, _ARM_RANGES)]
    return tuple(row for row in all_ranges if row[0] in joints)
