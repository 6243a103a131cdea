"""Evaluations that the paper's recursions (2) to (10) take for Newton's matrix, with a cache and without.

Counted, not timed, so that no machine and no language has a say: a key stands for one value of one recursion, and
``needs`` tells which values its equation asks for. Links are numbered from 0 at the top; a link is one frame here, its
constant length merged into it.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

#: A recursion's name, the frame, and the configuration variables by which it is differentiated.
Key = tuple[str, int, tuple[int, ...]]


def needs(key: Key) -> tuple[Key, ...]:
    """Return the values that the equation of this one evaluates again, as often as they stand in it."""
    name, k, by = key
    above = k - 1
    if above < 0 or max(by, default=0) > k:
        return ()  # the world stands still, and nothing moves with what comes after it
    if name == "v_d":  # (8)
        return () if by[0] == k else (("v_d", above, by),)
    if name == "v_dq":  # (10), by = (rate, variable)
        rate, variable = by
        if rate == k:
            return ()
        return (("v_d", above, (rate,)),) * 2 if variable == k else (("v_dq", above, by),)
    kept = tuple(i for i in by if i != k)
    again = {"g": 1, "v": 1 + len(by) - len(kept)}[name[0]]  # (5)-(7): g⁻¹ v g, its derivative by one factor, by both
    return ((name[0] + "_" * bool(kept) + "q" * len(kept), above, kept),) * again


def requests(links: int) -> Iterator[Key]:
    """Yield what (23)-(27) and (30)-(32) ask for in the matrix of equation (22), of each body and pair of variables."""
    for k, i, j in product(range(links), repeat=3):
        if max(i, j) <= k:
            yield from (("v", k, ()), ("v_q", k, (i,)), ("v_q", k, (j,)), ("v_qq", k, (i, j)))  # (24)
            yield from (("v_d", k, (j,)), ("v_dq", k, (j, i)), ("v_d", k, (i,)))  # (26), (27)
            yield ("g_qq", k, (i, j))  # (32)


@cache
def _cost(key: Key) -> int:
    return 1 + sum(_cost(other) for other in needs(key))


def evaluations(links: int, *, cached: bool) -> int:
    """Count the evaluations for one matrix of a pendulum of so many links."""
    if not cached:
        return sum(_cost(key) for key in requests(links))
    known: set[Key] = set()
    pending = list(requests(links))
    while pending:
        key = pending.pop()
        if key not in known:
            known.add(key)
            pending.extend(needs(key))
    return len(known)
