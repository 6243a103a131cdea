"""What figures call things, and how they group them; whatever draws them."""

from collections.abc import Iterable, Sequence

from biped.model import Model
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
#: What a ledger's works are called.
WORKS = {
    "ledger_actuators": "work of the joints",
    "ledger_contacts": "work of the contacts",
    "ledger_pushes": "work of pushes",
    "ledger_impacts": "work of impacts",
    "ledger_dissipated": "lost in contacts",
}
_SOLE = {"1": "outer toe", "2": "inner toe", "3": "inner heel", "4": "outer heel"}
#: Parts of the time axis that a mark's label takes; labels that come closer go on the next line above.
LABEL_WIDTH = 0.1
_LABEL_ROWS = 4


def point_label(name: str) -> str:
    side, _, number = name.rpartition("_")
    if side in SIDES and number in _SOLE:
        return f"{side} {_SOLE[number]}"
    return name.replace("box_", "vertex ").replace("_", " ")


def contact_groups(model: Model) -> list[tuple[str, list[str]]]:
    """The contact points of each foot, or each by itself where there are no feet; with a label."""
    names = list(model.contact_names)
    sides = [(f"{side} foot", [name for name in names if name.startswith(f"{side}_")]) for side in SIDES]
    if sum(len(members) for _, members in sides) != len(names):
        return [(point_label(name), [name]) for name in names]
    return sides


def joint_label(joint: str) -> str:
    for side in SIDES:
        joint = joint.removeprefix(f"{side}_")
    return joint.replace("_", " ")


def joint_groups(joints: Sequence[str], most: int) -> list[tuple[str, list[str]]]:
    """Joints left and right where there are sides, else so many a group; with a label, or an empty one."""
    sides = [(f"{side} leg", [joint for joint in joints if joint.startswith(f"{side}_")]) for side in SIDES]
    if joints and sum(len(members) for _, members in sides) == len(joints):
        return sides
    return [("", list(joints[k : k + most])) for k in range(0, len(joints), most)]


def label_rows(places: Iterable[float]) -> list[int]:
    """On which line each label goes, so that none covers another; places are parts of the axis, rising."""
    taken = [-float("inf")] * _LABEL_ROWS
    rows = []
    for place in places:
        row = next((k for k in range(_LABEL_ROWS) if place - taken[k] >= LABEL_WIDTH), _LABEL_ROWS - 1)
        taken[row] = place
        rows.append(row)
    return rows
