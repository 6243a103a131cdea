"""Names that figures give to things, and groups of them, for whatever draws them."""

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
#: What a ledger's works, losses and stores are called.
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
#: The part of the time axis that a letter of a mark's label takes; labels that come closer go on the next line above.
LETTER_WIDTH = 0.011
_LABEL_ROWS = 5


def point_label(name: str) -> str:
    side, _, number = name.rpartition("_")
    if side in SIDES and number in _SOLE:
        return f"{side} {_SOLE[number]}"
    return name.replace("box_", "vertex ").replace("_", " ")


def who(model: Model) -> str:
    """The words for a model in a sentence."""
    return "the human" if model.name == human().name else model.name


def at_the_start(text: str) -> str:
    """A text as the beginning of a sentence; the names of models stay as they are."""
    return f"T{text[1:]}" if text.startswith("the ") else text


def along(axis: str, model: Model) -> str:
    """A heading for what is along x or y: where on it the model looks, or its left is."""
    k = "xy".index(axis)
    if abs(model.facing[k]) > abs(model.left[k]):
        return f"Along {axis}; {who(model)} faces {'+' if model.facing[k] > 0.0 else '−'}{axis}"
    return f"Along {axis}; its left is {'+' if model.left[k] > 0.0 else '−'}{axis}"


def contact_groups(model: Model) -> list[tuple[str, list[str]]]:
    """The contact points of each foot, or each by itself where there are no feet; with a label."""
    feet = {leg.foot: f"{leg.side} foot" for leg in legs_of(model)} or {foot: foot for foot in model.feet}
    on = {point.name: foot_under(model, point.body) for point in model.contact_points}
    points = [(label, [name for name in on if on[name] == foot]) for foot, label in feet.items()]
    if sum(len(members) for _, members in points) != model.nc:
        return [(point_label(name), [name]) for name in model.contact_names]
    return points


def joint_label(joint: str) -> str:
    return joint.removesuffix("_joint").replace("_", " ")


def joint_groups(model: Model, joints: Sequence[str], most: int) -> list[tuple[str, list[tuple[str, str]]]]:
    """A label and joints: of each leg, then, without a label, the others, so many a group at most.

    Joints are (name, label); those of legs are called by what left and right have in common.
    """
    legs, groups = legs_of(model), []
    for leg, other in zip(legs, reversed(legs), strict=True):
        twins = dict(zip(leg.joints, other.joints, strict=False))
        named = [(joint, joint_label(common_name(joint, twins.get(joint, joint)))) for joint in leg.joints]
        groups.append((f"{leg.side} leg", [pair for pair in named if pair[0] in joints]))
    in_legs = {joint for leg in legs for joint in leg.joints}
    others = [(joint, joint_label(joint)) for joint in joints if joint not in in_legs]
    few = math.ceil(len(others) / max(math.ceil(len(others) / most), 1))  # as many in each, nearly
    return [group for group in groups if group[1]] + [
        ("", others[k : k + few]) for k in range(0, len(others), few or 1)
    ]


#: Motions of joints of the legs, and their opposites.
OPPOSITES = {
    "flexion": "extension",
    "dorsiflexion": "plantarflexion",
    "abduction": "adduction",
    "inversion": "eversion",
    "external rotation": "internal rotation",
}


def joint_motions(model: Model) -> dict[str, tuple[str, float]]:
    """Return the anatomical motion of each joint of the legs, and the sign (1 or -1) of the angle that goes with it.

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
    """The part of the time axis that it takes, with room behind it."""
    return LETTER_WIDTH * (len(label) + 1)


def label_rows(places: Iterable[float], labels: Iterable[str]) -> list[int]:
    """On which line each label goes, so that none covers another; places are parts of the axis, rising.

    -1 for one that has room on no line, and is left out.
    """
    ends = [-float("inf")] * _LABEL_ROWS
    rows = []
    for place, label in zip(places, labels, strict=True):
        row = next((k for k in range(_LABEL_ROWS) if place >= ends[k]), -1)
        if row >= 0:
            ends[row] = place + label_width(label)
        rows.append(row)
    return rows
