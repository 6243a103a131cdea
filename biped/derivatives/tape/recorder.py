"""The recorder of tapes: it runs a kernel as Python on numbers that record the operations on them.

This module defines the derivatives of all operations as numbers of the tape; the kernels of the tape sum them up.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from biped.derivatives.tape import kernels
from contact.analytic import Symbol
from contact.arrays import Integers

_FUNCTIONS = {"sqrt": kernels.SQRT, "sin": kernels.SIN, "cos": kernels.COS}


def _quotient(x: float, y: float) -> float:
    """Return x / y as compiled kernels compute it, by IEEE rules for zero."""
    return x / y if y != 0.0 else float(np.float64(x) * np.copysign(np.inf, y))


_COMPUTE: dict[int, Callable[[float, float], float]] = {
    kernels.ADD: operator.add,
    kernels.SUB: operator.sub,
    kernels.MUL: operator.mul,
    kernels.DIV: _quotient,
    kernels.NEG: lambda x, _: -x,
    kernels.SQRT: lambda x, _: math.sqrt(x),
    kernels.SIN: lambda x, _: math.sin(x),
    kernels.COS: lambda x, _: math.cos(x),
    kernels.MAX: max,
    kernels.MIN: min,
    kernels.AT_LEAST: lambda x, y: float(x >= y),
}
_COMPARE: dict[int, Callable[[float, float], bool]] = {
    kernels.LESS: operator.lt,
    kernels.LESS_OR_EQUAL: operator.le,
    kernels.EQUAL: operator.eq,
}


class Edge(NamedTuple):
    """An operand of an operation, and the derivative by it: ±1 times a number of the tape."""

    of: int
    partial: int
    sign: float


class Rows(NamedTuple):
    """The rows of weights and their edges, which ``biped.derivatives.tape.kernels.Tape`` holds as arrays."""

    of: dict[int, int]  # the row of each number that has one
    edges: list[list[tuple[int, int, float]]]  # for each row: earlier row, partial derivative, sign


class Recorder:
    """Recorder of every intermediate value of a function and its operation; ``tape`` returns the tape."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.operations: list[tuple[int, int, int] | None] = []  # by number; None for an argument or a constant
        self.guards: dict[tuple[int, int, int], bool] = {}
        self._known: dict[tuple[int, int, int], int] = {}
        self._constants: dict[float, int] = {}

    def argument(self, value: float) -> Noted:
        """Return a new argument with its value in this run."""
        return Noted(self, self._add(float(value), None), float(value))

    def arguments(self, values: Iterable[float]) -> list[Noted]:
        """Return several numbers as new arguments."""
        return [self.argument(value) for value in values]

    def _add(self, value: float, operation: tuple[int, int, int] | None) -> int:
        self.values.append(value)
        self.operations.append(operation)
        return len(self.values) - 1

    def place_of(self, value: Any) -> int:
        """Return the index of a recorded number or a constant."""
        if isinstance(value, Noted):
            return value.place
        number = float(value)
        if number not in self._constants:
            self._constants[number] = self._add(number, None)
        return self._constants[number]

    def noted(self, kind: int, first: Any, second: Any) -> Noted:
        """Return the recorded result of an operation on two numbers; equal operations are recorded once."""
        place = self._made(kind, self.place_of(first), self.place_of(second))
        return Noted(self, place, self.values[place])

    def _made(self, kind: int, a: int, b: int) -> int:
        if kind in (kernels.ADD, kernels.MUL) and a > b:
            a, b = b, a
        place = self._known.get((kind, a, b))
        if place is None:
            place = self._add(_COMPUTE[kind](self.values[a], self.values[b]), (kind, a, b))
            self._known[kind, a, b] = place
        return place

    def compared(self, kind: int, first: Any, second: Any) -> bool:
        """Record a comparison on which the function branches, and return its outcome."""
        a, b = self.place_of(first), self.place_of(second)
        outcome = bool(_COMPARE[kind](self.values[a], self.values[b]))
        self.guards[kind, a, b] = outcome
        return outcome

    def tape(self, arguments: Sequence[Noted], results: Sequence[Any]) -> kernels.Tape:
        """Return the tape from the arguments, which come first in its ``value``, to the results."""
        ends = [self.place_of(x) if isinstance(x, Noted) or x != 0.0 else -1 for x in results]
        inputs = [argument.place for argument in arguments]
        rows = self._rows(inputs, ends)
        partials = {partial for edges in rows.edges for _, partial, _ in edges}
        needed = self._needed([place for place in ends if place >= 0] + sorted(partials))
        level = self._levels(needed)
        constants = [k for k in sorted(needed) if self.operations[k] is None and k not in set(inputs)]
        made = sorted((k for k in needed if self.operations[k] is not None), key=lambda k: (level[k], self._kind(k), k))
        order = inputs + constants + made
        new = {old: place for place, old in enumerate(order)}
        operations = [self.operations[k] or (0, 0, 0) for k in made]
        edges = [edge for row in rows.edges for edge in row]
        integer = np.int64
        return kernels.Tape(
            value=np.array([self.values[k] for k in order]),
            first=np.array([new[a] for _, a, _ in operations], dtype=integer),
            second=np.array([new[b] for _, _, b in operations], dtype=integer),
            run=_runs([(level[k], self._kind(k)) for k in made]),
            result=np.array([new.get(place, -1) for place in ends], dtype=integer),
            guard=np.array(
                [(kind, new[a], new[b], outcome) for (kind, a, b), outcome in self.guards.items()], dtype=integer
            ).reshape(-1, 4),
            edge=np.cumsum([0, *(len(row) for row in rows.edges)], dtype=integer),
            user=np.array([row for row, _, _ in edges], dtype=integer),
            partial=np.array([new[partial] for _, partial, _ in edges], dtype=integer),
            sign=np.array([sign for _, _, sign in edges], dtype=float),
            weight=np.zeros(len(rows.edges)),
            argument=np.array([rows.of.get(place, -1) for place in inputs], dtype=integer),
            gradient=np.zeros(len(inputs)),
        )

    def _rows(self, inputs: list[int], ends: list[int]) -> Rows:
        """Return rows for the weights of the results, then of the numbers they depend on, the last first.

        A number used by a single sum, or only as a result, shares its row, up to a sign.
        """
        unit, active, given = self.place_of(1.0), self._active(inputs), set(inputs)
        used: dict[int, list[tuple[int, int, float]]] = {}
        for k, place in enumerate(ends):
            used.setdefault(place, []).append((k, unit, 1.0))
        rows = Rows({}, [[] for _ in ends])
        for place in range(len(self.operations) - 1, -1, -1):
            edges = used.pop(place, ())
            if not edges or place not in active:
                continue
            if len(edges) == 1 and edges[0][1] == unit and place not in given:
                row, sign = edges[0][0], edges[0][2]
            else:
                row, sign = len(rows.edges), 1.0
                rows.of[place] = row
                rows.edges.append(list(edges))
            for edge in self._slopes(place):
                if edge.of in active:
                    used.setdefault(edge.of, []).append((row, edge.partial, sign * edge.sign))
        return rows

    def _active(self, inputs: list[int]) -> set[int]:
        """Return the numbers that depend on the arguments."""
        active = set(inputs)
        for place, operation in enumerate(self.operations):
            if operation is not None and (operation[1] in active or operation[2] in active):
                active.add(place)
        return active

    def _slopes(self, place: int) -> tuple[Edge, ...]:
        """Return the derivatives of an operation by its operands; new ones are appended to the numbers."""
        operation = self.operations[place]
        if operation is None:
            return ()
        kind, a, b = operation
        unit = self.place_of(1.0)
        if kind in (kernels.ADD, kernels.SUB):
            return Edge(a, unit, 1.0), Edge(b, unit, 1.0 if kind == kernels.ADD else -1.0)
        if kind == kernels.MUL:
            return Edge(a, b, 1.0), Edge(b, a, 1.0)
        if kind == kernels.DIV:
            return Edge(a, self._made(kernels.DIV, unit, b), 1.0), Edge(b, self._made(kernels.DIV, place, b), -1.0)
        if kind == kernels.NEG:
            return (Edge(a, unit, -1.0),)
        if kind == kernels.SQRT:
            return (Edge(a, self._made(kernels.DIV, self.place_of(0.5), place), 1.0),)
        if kind == kernels.SIN:
            return (Edge(a, self._made(kernels.COS, a, a), 1.0),)
        if kind == kernels.COS:
            return (Edge(a, self._made(kernels.SIN, a, a), -1.0),)
        if kind == kernels.AT_LEAST:
            return ()
        first = self._made(kernels.AT_LEAST, a, b) if kind == kernels.MAX else self._made(kernels.AT_LEAST, b, a)
        return Edge(a, first, 1.0), Edge(b, self._made(kernels.SUB, unit, first), 1.0)

    def _kind(self, place: int) -> int:
        operation = self.operations[place]
        assert operation is not None
        return operation[0]

    def _needed(self, ends: list[int]) -> set[int]:
        """Return the numbers that results and guards depend on."""
        left = ends + [place for _, a, b in self.guards for place in (a, b)]
        needed: set[int] = set()
        while left:
            place = left.pop()
            if place in needed:
                continue
            needed.add(place)
            operation = self.operations[place]
            if operation is not None:
                left += operation[1:]
        return needed

    def _levels(self, needed: set[int]) -> dict[int, int]:
        """Return the length of the longest chain of operations to each number."""
        level: dict[int, int] = {}
        for place in sorted(needed):
            operation = self.operations[place]
            level[place] = 0 if operation is None else 1 + max(level[operation[1]], level[operation[2]])
        return level


def _runs(kinds: list[tuple[int, int]]) -> Integers:
    """Return (runs, 3) kind, first and end of runs of equal operations, which are sorted by level and kind."""
    if not kinds:
        return np.zeros((0, 3), dtype=np.int64)
    starts = [k for k in range(len(kinds)) if k == 0 or kinds[k] != kinds[k - 1]]
    ends = [*starts[1:], len(kinds)]
    rows = [(kinds[begin][1], begin, end) for begin, end in zip(starts, ends, strict=True)]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _is(value: Any, number: float) -> bool:
    return not isinstance(value, Noted) and float(value) == number


class Noted(Symbol):
    """A number that records the operations on it; it cannot become a plain number, which would lose derivatives."""

    __slots__ = ("place", "recorder", "value")
    __array_ufunc__ = None  # sums and products with numpy scalars are computed by this class
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, recorder: Recorder, place: int, value: float) -> None:
        self.recorder, self.place, self.value = recorder, place, value

    @property
    def real(self) -> Noted:
        """This number, which is real."""
        return self

    def applied(self, function: str) -> Noted:
        """Return a recorded function of this number."""
        return self.recorder.noted(_FUNCTIONS[function], self, self)

    def within(self, low: Any, high: Any) -> Noted:
        """Return this number clipped to ``low`` and ``high``, recorded without a branch."""
        return self.recorder.noted(kernels.MIN, self.recorder.noted(kernels.MAX, self, low), high)

    def __add__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else self.recorder.noted(kernels.ADD, self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else self.recorder.noted(kernels.SUB, self, other)

    def __rsub__(self, other: Any) -> Any:
        return -self if _is(other, 0.0) else self.recorder.noted(kernels.SUB, other, self)

    def __mul__(self, other: Any) -> Any:
        if _is(other, 0.0):
            return 0.0
        return self if _is(other, 1.0) else self.recorder.noted(kernels.MUL, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self if _is(other, 1.0) else self.recorder.noted(kernels.DIV, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if _is(other, 0.0) else self.recorder.noted(kernels.DIV, other, self)

    def __neg__(self) -> Noted:
        return self.recorder.noted(kernels.NEG, self, self)

    def __pos__(self) -> Noted:
        return self

    def __abs__(self) -> Noted:
        return -self if self < 0.0 else self

    def __lt__(self, other: Any) -> bool:
        return self.recorder.compared(kernels.LESS, self, other)

    def __le__(self, other: Any) -> bool:
        return self.recorder.compared(kernels.LESS_OR_EQUAL, self, other)

    def __gt__(self, other: Any) -> bool:
        return self.recorder.compared(kernels.LESS, other, self)

    def __ge__(self, other: Any) -> bool:
        return self.recorder.compared(kernels.LESS_OR_EQUAL, other, self)

    def __eq__(self, other: object) -> bool:
        return self.recorder.compared(kernels.EQUAL, self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        raise TypeError("a number of a differentiated controller has no truth value: compare it with zero")
