"""Checks of a start on constraints, and the place on them near by."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from biped.errors import InputError
from contact.arrays import Floats

#: A start is on the constraints up to this, and its rates on theirs relative to what the terms amount to.
ON_CONSTRAINTS = 1e-9
#: Singular values of Dh, its rows of length one, below this are zero.
RANK = 1e-10
#: Parts of the names in a dependency below this are rounding.
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
    """Whether a motion may begin here: h(q) = 0, Dh(q) v = 0, and Dh of full rank.

    Args:
        values: (m,) h(q).
        rows: (m, n) Dh(q).
        v: (n,) rates; None where they are not to be checked.
        names: (m,) of the constraints, as messages have them.
        what: the configuration is called.
        error: what is raised.
        free: which of the coordinates can move, an index of columns.
        independent: whether dependent constraints are refused.
        scale: (m,) or one number: what constraints are zero relative to.
        still: what rates times gradients are at least zero relative to: below it is rounding.
        off: message of a constraint that is not zero, with ``what``, ``name``, ``value`` and its ``size``.
        leaving: message of one that does not stay zero.
        hint: what follows the former.

    Raises:
        InputError: of the kind ``error``; the message names the constraint that is worst.
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
    """By the singular values of rows of length one."""
    sizes = np.linalg.norm(rows, axis=1)
    left, singular, _ = np.linalg.svd(rows / np.where(sizes > 0.0, sizes, 1.0)[:, None])
    if len(rows) <= rows.shape[1] and singular[-1] >= RANK:
        return
    part = np.abs(left[:, -1])
    which = [name for name, share in zip(names, part, strict=True) if share > SHARE]
    raise error(
        f"the constraints depend on each other at {what}, where the Jacobian of the constraints is singular: of "
        f"{', '.join(which)} one is too many, or acts on nothing that can move"
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
    """A place on the constraints near ``start``, by Gauss and Newton's steps, none of which is longer than a cap.

    Args:
        start: where to begin.
        linearize: a place to its h (m,) and Dh (m, n).
        least: a place, Dh and −h to the least displacement (n,) that takes the one to the other.
        displace: a place and a displacement to the next place.
        is_closed: whether a place with this h is near enough.
        longest: the greatest entry of a displacement.
        rounds: displacements at most.

    Returns:
        Where it ended, and whether that is near enough.
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
