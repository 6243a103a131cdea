"""Criteria of agreement between printed values and ours, and findings judged by them.

A criterion combines a text with a test, so that a page shows the limit that was applied.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from experiments.papers.item import Finding, Kind


class Criterion(NamedTuple):
    """A criterion of agreement between a printed value and ours."""

    text: str  # text of the column "holds if"
    holds: Callable[[Any], bool]  # returns True if our value agrees


def stated(
    quantity: str,
    published: float | str,
    ours: float | str,
    criterion: Criterion,
    note: str = "",
    *,
    why: str = "",
    kind: Kind = "evidence",
) -> Finding:
    """Return a finding: a statement of a paper, judged; ``why`` is its note if it differs and has no ``note``."""
    agrees = criterion.holds(ours)
    return Finding(quantity, published, ours, criterion.text, agrees, note if agrees else note or why, kind)


def when(text: str, holds: bool) -> Criterion:
    """Return a criterion that the caller has evaluated, for conditions on more than our value."""
    return Criterion(text, lambda _: holds)


def _number(limit: float) -> str:
    return f"{limit:g}".replace("e-0", "e-")


def below(limit: float, text: str = "") -> Criterion:
    return Criterion(text or f"below {_number(limit)}", lambda ours: ours < limit)


def smaller(limit: float, text: str = "") -> Criterion:
    """Return the criterion that the magnitude of our value is below a limit."""
    return Criterion(text or f"below {_number(limit)}", lambda ours: abs(ours) < limit)


def above(limit: float, text: str = "") -> Criterion:
    return Criterion(text or f"above {_number(limit)}", lambda ours: ours > limit)


def at_most(limit: float, text: str = "") -> Criterion:
    return Criterion(text or f"at most {_number(limit)}", lambda ours: ours <= limit)


#: Criterion for a linear cost: exponent with which the time grows with the size of a system.
LINEAR = at_most(1.1, "O(n): at most 1.1")


def at_least(limit: float, text: str = "") -> Criterion:
    return Criterion(text or f"at least {_number(limit)}", lambda ours: ours >= limit)


def no_more(printed: float) -> Criterion:
    return at_most(printed, "no more than printed")


def near(value: float, margin: float, text: str = "") -> Criterion:
    return Criterion(text or f"{value:g} ± {margin:g}", lambda ours: abs(ours - value) <= margin)


def within(printed: float, part: float) -> Criterion:
    """Return the criterion that our value differs from the printed value by at most a fraction ``part`` of it."""
    return near(printed, part * abs(printed), f"within {100 * part:g}%")


def within_factor(printed: float, factor: float) -> Criterion:
    return Criterion(f"within a factor of {factor:g}", lambda ours: printed / factor <= ours <= printed * factor)


def same(printed: float | str) -> Criterion:
    return Criterion("the same", lambda ours: ours == printed)
