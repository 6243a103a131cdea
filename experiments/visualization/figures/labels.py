"""Names and groups of joints, contact points and states, shared by figures and pages."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from biped.model import Model, human
from biped.model.legs import common_name, foot_under, legs_of
from contact import ContactState

SIDES = ("left", "right")
#: The contact states in words.
STATES = {
    ContactState.NONE: "no contact",
    ContactState.SLIDING: "sliding",
    ContactState.SLIDING_TO_STICKING: "sliding → sticking",
    ContactState.STICKING: "sticking",
    ContactState.STICKING_TO_SLIDING: "sticking → sliding",
    ContactState.PULLING: "normal force < 0",
}
#: Labels of the columns of works, losses and stored energies in the energy balance.
WORKS = {
    "ledger_actuators": "work of the joints",
    "ledger_contacts": "work of the contacts",
    "ledger_pushes": "work of pushes",
    "ledger_impacts": "work of impacts",
    "ledger_joints": "work of stops, bearings and tendons",
    "ledger_dissipated": "dissipated in contacts",
    "ledger_joints_dissipated": "dissipated in joints",
    "ledger_contact_stored": "stored in contacts",
    "ledger_stops_stored": "stored in stops and tendons",
}
_SOLE = {
    "1": "outer toe", "2": "inner toe", "3": "inner heel", "4": "outer heel", "5": "outer ball", "6": "inner ball",
}  # fmt: skip
#: Width of a letter of a mark's label / length of the time axis; labels that would overlap are on different lines.
LETTER_WIDTH = 0.011
_LABEL_ROWS = 5


def point_label(name: str) -> str:
    side, _, number = name.rpartition("_")
    if side in SIDES and number in _SOLE:
        return f"{side} {_SOLE[number]}"
    return name.replace("box_", "vertex ").replace("_", " ")


def name_in_text(model: Model) -> str:
    """Return the name of a model for use in a sentence."""
    return "the human" if model.name == human().name else model.name


def capitalized(text: str) -> str:
    """Return a text with a capital letter if it starts with "the"; names of models stay as they are."""
    return f"T{text[1:]}" if text.startswith("the ") else text


def along(axis: str, model: Model) -> str:
    """Return a heading for x or y that says which end of the axis is in front of the model, or on its left."""
    k = "xy".index(axis)
    if abs(model.facing[k]) > abs(model.left[k]):
        return f"Along {axis}; {name_in_text(model)} faces {'+' if model.facing[k] > 0.0 else '−'}{axis}"
    return f"Along {axis}; its left is {'+' if model.left[k] > 0.0 else '−'}{axis}"


def contact_groups(model: Model) -> list[tuple[str, list[str]]]:
    """Return (label, contact points) of each foot, or of each point if some points are on no foot."""
    feet = {leg.foot: f"{leg.side} foot" for leg in legs_of(model)} or {foot: foot for foot in model.feet}
    on = {point.name: foot_under(model, point.body) for point in model.contact_points}
    points = [(label, [name for name in on if on[name] == foot]) for foot, label in feet.items()]
    if sum(len(members) for _, members in points) != model.nc:
        return [(point_label(name), [name]) for name in model.contact_names]
    return points


def joint_label(joint: str) -> str:
    return joint.removesuffix("_joint").replace("_", " ")


def joint_groups(model: Model, joints: Sequence[str], most: int) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return groups (label, joints): each leg, then the other joints in groups without a label, of at most ``most``.

    A joint is a pair (name, label); the labels of leg joints omit left and right.
    """
    legs, groups = legs_of(model), []
    for leg, other in zip(legs, reversed(legs), strict=True):
        twins = dict(zip(leg.joints, other.joints, strict=False))
        named = [(joint, joint_label(common_name(joint, twins.get(joint, joint)))) for joint in leg.joints]
        groups.append((f"{leg.side} leg", [pair for pair in named if pair[0] in joints]))
    in_legs = {joint for leg in legs for joint in leg.joints}
    rest = [(joint, joint_label(joint)) for joint in joints if joint not in in_legs]
    few = math.ceil(len(rest) / max(math.ceil(len(rest) / most), 1))  # groups of nearly equal size
    return [group for group in groups if group[1]] + [("", rest[k : k + few]) for k in range(0, len(rest), few or 1)]


#: Motions of joints of the legs, and their opposites.
OPPOSITES = {
    "flexion": "extension",
    "dorsiflexion": "plantarflexion",
    "abduction": "adduction",
    "inversion": "eversion",
    "external rotation": "internal rotation",
}


def joint_motions(model: Model) -> dict[str, tuple[str, float]]:
    """Return the anatomical motion of each leg joint, and the sign (1 or -1) of the joint angle in this motion.

    The sign follows from how the leg, the toes or the sole moves in the home configuration.
    """
    motions: dict[str, tuple[str, float]] = {}
    forwards = np.array(model.facing)
    for leg in legs_of(model):
        outwards = np.array(model.left) * (1.0 if leg.side == SIDES[0] else -1.0)
        for joint in leg.joints:
            axis = np.array(model.bodies[model.joint_index(joint)].joint.axis)
            below, toes = np.cross(axis, (0.0, 0.0, -1.0)), np.cross(axis, forwards)
            is_last = joint in (leg.sagittal[-1:] + leg.frontal[-1:])
            if joint in leg.sagittal:
                word, size = ("dorsiflexion", toes[2]) if is_last else ("flexion", below @ forwards)
                size = -size if joint == leg.knee else size
            elif joint in leg.frontal:
                word, size = ("inversion", -below @ outwards) if is_last else ("abduction", below @ outwards)
            else:
                word, size = "external rotation", toes @ outwards
            motions[joint] = word, 1.0 if size > 0.0 else -1.0
    return motions


def motion_label(joint: str, motion: str) -> str:
    """Return a joint's label with its anatomical motion: "hip flexion" for "hip pitch"."""
    stem, _, axis = joint.rpartition(" ")
    return f"{stem if stem and axis in ('pitch', 'roll', 'yaw') else joint} {motion}"


def label_width(label: str) -> float:
    """Return the width of a label with a gap behind it, as a part of the time axis."""
    return LETTER_WIDTH * (len(label) + 1)


def label_rows(places: Iterable[float], labels: Iterable[str]) -> list[int]:
    """Return the line of each label so that no two overlap; ``places`` are parts of the axis, ascending.

    The line is -1 for a label that is left out because no line has space for it.
    """
    ends = [-float("inf")] * _LABEL_ROWS
    rows = []
    for place, label in zip(places, labels, strict=True):
        row = next((k for k in range(_LABEL_ROWS) if place >= ends[k]), -1)
        if row >= 0:
            ends[row] = place + label_width(label)
        rows.append(row)
    return rows
