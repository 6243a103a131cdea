"""One sentence a problem: which method to pick at which accuracy, from what was measured."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.benchmarks.work_precision.step_sizes import Curve

#: [m] accuracies that are looked at, from coarse to fine.
ACCURACIES = tuple(10.0**-k for k in range(2, 11))
#: Costs that are closer than this are told apart by nothing but luck.
CLOSE = 1.15


@dataclass(frozen=True)
class Winner:
    """The cheapest method for an accuracy.

    Attributes:
        accuracy: [m].
        method: its name.
        cost: [s/s].
        second: the next cheapest, or None if no other gets there.
        margin: its cost over this one's; below one only by luck.
    """

    accuracy: float
    method: str
    cost: float
    second: str | None
    margin: float


def winners(curves: Sequence[Curve]) -> list[Winner]:
    """The cheapest method for each accuracy that any method reaches.

    The one for the accuracy before stays so while another is cheaper only by luck.
    """
    found: list[Winner] = []
    for accuracy in ACCURACIES:
        costs = {c.label: cost for c in curves if (cost := c.cost_at(accuracy)) is not None}
        if not costs:
            continue
        best = min(costs, key=lambda name: costs[name])
        former = found[-1].method if found else best
        if costs.get(former, math.inf) < CLOSE * costs[best]:
            best = former
        cost = costs.pop(best)
        second = min(costs, key=lambda name: costs[name], default=None)
        found.append(Winner(accuracy, best, cost, second, math.inf if second is None else costs[second] / cost))
    return found


def advice(curves: Sequence[Curve]) -> str:
    """One sentence."""
    found = winners(curves)
    if not found:
        return "No method gets within 1 cm of this motion on these ladders."
    spans: list[list[Winner]] = []
    for winner in found:
        if spans and spans[-1][-1].method == winner.method:
            spans[-1].append(winner)
        else:
            spans.append([winner])
    parts = [_part(span, first=k == 0, last=k == len(spans) - 1) for k, span in enumerate(spans)]
    return f"{', then '.join(parts)}."


def _part(span: list[Winner], *, first: bool, last: bool) -> str:
    """What to take over a range of accuracies, and what it costs at its finest."""
    finest = span[-1]
    take = f"{'Take' if first else 'take'} {finest.method}"
    reach = f"down to an error of {finest.accuracy:.0e} m"
    if last and finest.accuracy > ACCURACIES[-1]:
        reach += ", the finest that any method reaches here"
    cost = f"{1e3 * finest.cost:.3g} ms for a second of motion"
    return f"{take} {reach} ({cost}; {_rival(finest)})"


def _rival(winner: Winner) -> str:
    if winner.second is None:
        return "no other gets there"
    if winner.margin < CLOSE:
        return f"{winner.second} costs about the same"
    return f"{winner.margin:.1f} times less than {winner.second}"
