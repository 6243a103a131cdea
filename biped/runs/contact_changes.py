"""When the edges of the feet leave the floor and come down again, without what lasts too short to matter."""

from dataclasses import dataclass
from typing import Any

#: [s] a change that is undone before this is a bounce of a stiff contact, not a step of a person.
BRIEF = 0.010


@dataclass(frozen=True)
class Change:
    """An edge of a foot that came down or went up, and stayed so."""

    time: float
    edge: str  # left_toes, left_heel, right_toes, right_heel
    change: str  # down, up


def lasting_changes(edges: list[dict[str, Any]], brief: float = BRIEF) -> tuple[list[Change], int]:
    """The changes of a summary's ``events["edges"]`` that last, and how many of the others there are.

    A change that is undone within ``brief`` [s] is left out, and so is the one that undoes it.
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
