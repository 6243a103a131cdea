"""Which method is the cheapest for which accuracy, from what was measured."""

from experiments.benchmarks.ranking import Ranked, ranked
from experiments.benchmarks.work_precision.step_sizes import Comparison

#: [m] accuracies that are looked at, from coarse to fine.
ACCURACIES = tuple(10.0**-k for k in range(2, 11))


def ranked_methods(comparison: Comparison, accuracy: float) -> list[Ranked]:
    """[s/s] what an accuracy [m] costs with each method; nothing where none reaches it."""
    costs = {curve.label: curve.cost_at(accuracy) for curve in comparison.curves}
    if all(cost is None for cost in costs.values()):
        return []
    out = {name: "does not get there" for name, cost in costs.items() if cost is None}
    refused = {name: f"does not take it: {why}" for name, why in comparison.refusals.items()}
    return ranked(costs, 0.0, out | refused)


def cheapest_lines(comparison: Comparison) -> list[tuple[str, ...]]:
    """Rows of a table for readers: accuracy, the cheapest methods for it, their cost, the next one and its ratio."""
    lines: list[tuple[str, ...]] = []
    for accuracy in ACCURACIES:
        able = sorted(
            (one for one in ranked_methods(comparison, accuracy) if one.ratio is not None and one.value is not None),
            key=lambda one: one.value or 0.0,
        )
        if not able:
            continue
        best = [one.label for one in able if one.best] or [able[0].label]
        others = [one for one in able if one.label not in best]
        rival = (others[0].label, f"{others[0].ratio:.1f}") if others else ("none gets there", "")
        lines.append((f"{accuracy:.0e}", ", ".join(best), f"{1e3 * (able[0].value or 0.0):.3g}", *rival))
    return lines


#: Of ``cheapest_lines``.
HEADINGS = ("error [m]", "cheapest", "cost [ms/s]", "next", "times as much")
