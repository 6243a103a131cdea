"""Lasting contact changes of the edges of the feet: landings and lift-offs without bounces."""

from dataclasses import dataclass
from typing import Any

#: [s] Shortest lasting change; a shorter one is a bounce of a stiff contact, not a step of a person.
BRIEF = 0.010


@dataclass(frozen=True)
class Change:
    """A lasting landing or lift-off of an edge of a foot."""

    time: float  # [s]
    edge: str  # left_toes, left_heel, right_toes, right_heel
    change: str  # down, up


def lasting_changes(edges: list[dict[str, Any]], brief: float = BRIEF) -> tuple[list[Change], int]:
    """Return the lasting changes in a summary's ``events["edges"]``, and the number of all other changes.

    A change that is undone within ``brief`` [s] is omitted, and so is the change that undoes it.
    """
    kept: list[Change] = []
    last: dict[str, str] = {}
    for event in edges:
        lasted = event["lasted"]
        is_lasting = lasted is None or lasted >= brief
        if is_lasting and last.get(event["edge"]) != event["change"]:
            last[event["edge"]] = event["change"]
            kept.append(Change(event["time"], event["edge"], event["change"]))
    return kept, len(edges) - len(kept)
