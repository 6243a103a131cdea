"""Who is best at something: one rule for all comparisons.

Nobody is favoured: the least number is the best, whoever has it. What differs by less than noise is a tie, and so is
what lies below a floor under which numbers differ by rounding only. Who is out (fell, failed, has no number) is not the
best, and neither is who is alone.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

#: Numbers that are closer than this factor are a tie.
CLOSE = 1.15


@dataclass(frozen=True)
class Ranked:
    """A number of one of those that are compared."""

    label: str  # whose
    value: float | None  # the number, if there is one
    ratio: float | None = None  # to the best; None for who is out
    low: float | None = None  # lower end of the ratio's interval, where it has one
    high: float | None = None  # the upper end
    at_least: bool = False  # whether the ratio is a bound, since the best is below the floor
    best: bool = False  # whether none is better
    note: str = ""  # why it is out, or that it is below the floor


def ranked(
    values: Mapping[str, float | None], floor: float = 0.0, out: Mapping[str, str] | None = None
) -> list[Ranked]:
    """All, in order, whatever their sign; below ``floor`` they are equal; ``out`` says why one cannot be the best."""
    notes = {name: "has no number" for name, value in values.items() if value is None or not math.isfinite(value)}
    notes |= out or {}
    sizes = {name: abs(value) for name, value in values.items() if name not in notes and value is not None}
    least = min(sizes.values(), default=math.nan)
    best = max(least, floor)
    found = []
    for name in dict.fromkeys((*values, *notes)):
        if name in notes:
            found.append(Ranked(name, values.get(name), note=notes[name]))
            continue
        size = sizes[name]
        note = f"below {floor:g}" if size < floor else ""
        ratio = size / best if size > best else 1.0
        wins = len({**values, **notes}) > 1 and size <= CLOSE * best
        found.append(Ranked(name, values[name], ratio, None, None, least < floor <= size, wins, note))
    return found
