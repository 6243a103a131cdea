"""Checks of a start on constraints, and projection onto them."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from biped.errors import InputError
from contact.arrays import Floats

#: Tolerance of constraints at a start, and relative tolerance of their rates.
ON_CONSTRAINTS = 1e-9
#: Singular values of Dh, with rows of length one, below which they count as zero.
RANK = 1e-10
#: Shares of constraints in a dependency below which they are rounding.
SHARE = 1e-3

Q = TypeVar("Q")


def check_on_constraints(
    values: Floats,
    rows: Floats,
    v: Floats | None,
    names: Sequence[str],
    *,
    what: str = "the start",
    error: type[InputError] = InputError,
    free: Any = slice(None),
    independent: bool = True,
    scale: Floats | float = 1.0,
    still: float = 0.0,
    off: str = "{what} is off the constraints: {name} is {value:.3g} there, not zero",
    leaving: str = "the rates at the start leave the constraints: {name} changes at {value:.3g}/s, and must not",
    hint: str = "",
) -> None:
    """Check that a motion may begin here: h(q) = 0, Dh(q) v = 0, and Dh of full rank.

    Args:
        values: (m,) h(q).
        rows: (m, n) Dh(q).
        v: (n,) rates; None if they are not to be checked.
        names: (m,) names of the constraints in messages.
        what: name of the configuration in messages.
        error: class of the error to raise.
        free: index of the columns of ``rows`` whose coordinates can move.
        independent: True to refuse linearly dependent constraints.
        scale: (m,) or one number, the values of constraints relative to which ``ON_CONSTRAINTS`` applies.
        still: smallest rate of a constraint relative to which ``ON_CONSTRAINTS`` applies.
        off: message if a constraint is not zero; its fields are ``what``, ``name``, ``value`` and ``size``.
        leaving: message if a constraint does not stay zero; its fields are ``name``, ``value`` and ``size``.
        hint: text after ``off``.

    Raises:
        InputError: the start is refused, with an error of the class ``error`` that names the worst constraint.
    """
    if not (np.all(np.isfinite(values)) and np.all(np.isfinite(rows))):
        raise error(f"{what}: the constraints or their derivatives are not finite there")
    if not len(values):
        return
    if independent:
        _check_independent(rows[:, free], names, what, error)
    relative = np.abs(values) / scale
    worst = int(np.argmax(relative))
    if relative[worst] > ON_CONSTRAINTS:
        raise error(off.format(what=what, name=names[worst], value=values[worst], size=abs(values[worst])) + hint)
    if v is None:
        return
    rates = rows @ v
    amount = np.abs(rows).sum(axis=1) * np.abs(v).max(initial=0.0)  # rates that should be zero are rounding
    excess = np.abs(rates) / np.maximum(np.maximum(amount, still), np.finfo(float).tiny)
    worst = int(np.argmax(excess))
    if excess[worst] > ON_CONSTRAINTS:
        raise error(leaving.format(name=names[worst], value=rates[worst], size=abs(rates[worst])))


def _check_independent(rows: Floats, names: Sequence[str], what: str, error: type[InputError]) -> None:
    """Refuse linearly dependent constraints, by the singular values of the rows scaled to length one."""
    sizes = np.linalg.norm(rows, axis=1)
    left, singular, _ = np.linalg.svd(rows / np.where(sizes > 0.0, sizes, 1.0)[:, None])
    if len(rows) <= rows.shape[1] and singular[-1] >= RANK:
        return
    part = np.abs(left[:, -1])
    which = [name for name, share in zip(names, part, strict=True) if share > SHARE]
    raise error(
        f"the constraints depend on each other at {what}, where the Jacobian of the constraints is singular: remove "
        f"one of {', '.join(which)}, or free the coordinates that it acts on"
    )


def project(
    start: Q,
    linearize: Callable[[Q], tuple[Floats, Floats]],
    least: Callable[[Q, Floats, Floats], Floats],
    displace: Callable[[Q, Floats], Q],
    is_closed: Callable[[Q, Floats], bool],
    *,
    longest: float,
    rounds: int,
) -> tuple[Q, bool]:
    """Return a point on the constraints near ``start``, by Gauss–Newton steps of limited length.

    Args:
        start: the first point.
        linearize: function of a point that returns h (m,) and Dh (m, n).
        least: function of a point, Dh and −h that returns the least displacement δ (n,) with Dh δ = −h.
        displace: function of a point and a displacement that returns the next point.
        is_closed: function of a point and its h that returns True if the point is near enough to the constraints.
        longest: greatest entry of a displacement.
        rounds: greatest number of displacements.

    Returns:
        The last point, and True if it is near enough to the constraints.
    """
    place = start
    for _ in range(rounds):
        values, rows = linearize(place)
        if is_closed(place, values):
            return place, True
        if not np.all(np.isfinite(values)):
            return place, False
        change = least(place, rows, -values)
        largest = float(np.abs(change).max(initial=0.0))
        if largest == 0.0:
            return place, False
        place = displace(place, change * min(1.0, longest / largest))
    return place, False
