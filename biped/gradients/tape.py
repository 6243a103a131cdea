"""How a kernel becomes a tape: run once as the Python that it is, on numbers that note what is done with them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from biped.kernels.gradients.tape import (
    ADD,
    COS,
    DIV,
    EQUAL,
    LESS,
    LESS_OR_EQUAL,
    MAX,
    MIN,
    MUL,
    NEG,
    SIN,
    SQRT,
    SUB,
    Tape,
)
from contact.analytic import Symbol
from contact.arrays import Integers

_FUNCTIONS = {"sqrt": SQRT, "sin": SIN, "cos": COS}
_COMPUTE: dict[int, Callable[[float, float], float]] = {
    ADD: operator.add,
    SUB: operator.sub,
    MUL: operator.mul,
    DIV: operator.truediv,
    NEG: lambda x, _: -x,
    SQRT: lambda x, _: math.sqrt(x),
    SIN: lambda x, _: math.sin(x),
    COS: lambda x, _: math.cos(x),
    MAX: max,
    MIN: min,
}
_COMPARE: dict[int, Callable[[float, float], bool]] = {
    LESS: operator.lt,
    LESS_OR_EQUAL: operator.le,
    EQUAL: operator.eq,
}


class Recorder:
    """What is noted of a function while it runs: numbers, and the operations that they come from."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.operations: list[tuple[int, int, int] | None] = []  # of each number; None of an argument or a constant
        self.guards: dict[tuple[int, int, int], bool] = {}
        self._known: dict[tuple[int, int, int], int] = {}
        self._constants: dict[float, int] = {}

    def argument(self, value: float) -> Noted:
        """A new argument, with the value that it has in this run."""
        return Noted(self, self._add(float(value), None), float(value))

    def arguments(self, values: Iterable[float]) -> list[Noted]:
        """Several."""
        return [self.argument(value) for value in values]

    def _add(self, value: float, operation: tuple[int, int, int] | None) -> int:
        self.values.append(value)
        self.operations.append(operation)
        return len(self.values) - 1

    def place_of(self, value: Any) -> int:
        """Where a number stands, or a constant."""
        if isinstance(value, Noted):
            return value.place
        number = float(value)
        if number not in self._constants:
            self._constants[number] = self._add(number, None)
        return self._constants[number]

    def noted(self, kind: int, first: Any, second: Any) -> Noted:
        """What an operation makes of two numbers; the same one twice is one."""
        a, b = self.place_of(first), self.place_of(second)
        if kind in (ADD, MUL) and a > b:
            a, b = b, a
        place = self._known.get((kind, a, b))
        if place is None:
            place = self._add(_COMPUTE[kind](self.values[a], self.values[b]), (kind, a, b))
            self._known[kind, a, b] = place
        return Noted(self, place, self.values[place])

    def compared(self, kind: int, first: Any, second: Any) -> bool:
        """The outcome of a comparison, by which the function branches."""
        a, b = self.place_of(first), self.place_of(second)
        found = bool(_COMPARE[kind](self.values[a], self.values[b]))
        self.guards[kind, a, b] = found
        return found

    def tape(self, arguments: Sequence[Noted], results: Sequence[Any]) -> Tape:
        """The function from the arguments, which come first in its ``value``, to the results."""
        ends = [self.place_of(x) if isinstance(x, Noted) or x != 0.0 else -1 for x in results]
        wanted = self._needed([place for place in ends if place >= 0])
        level = self._levels(wanted)
        inputs = [argument.place for argument in arguments]
        others = [k for k in sorted(wanted) if self.operations[k] is None and k not in set(inputs)]
        made = sorted((k for k in wanted if self.operations[k] is not None), key=lambda k: (level[k], self._kind(k), k))
        order = inputs + others + made
        new = {old: place for place, old in enumerate(order)}
        operations = [self.operations[k] or (0, 0, 0) for k in made]
        return Tape(
            value=np.array([self.values[k] for k in order]),
            weight=np.zeros(len(order)),
            first=np.array([new[a] for _, a, _ in operations], dtype=np.int64),
            second=np.array([new[b] for _, _, b in operations], dtype=np.int64),
            run=_runs([(level[k], self._kind(k)) for k in made]),
            result=np.array([new.get(place, -1) for place in ends], dtype=np.int64),
            guard=np.array(
                [(kind, new[a], new[b], found) for (kind, a, b), found in self.guards.items()], dtype=np.int64
            ).reshape(-1, 4),
        )

    def _kind(self, place: int) -> int:
        operation = self.operations[place]
        assert operation is not None
        return operation[0]

    def _needed(self, ends: list[int]) -> set[int]:
        """What results and guards come from."""
        left = ends + [place for _, a, b in self.guards for place in (a, b)]
        found: set[int] = set()
        while left:
            place = left.pop()
            if place in found:
                continue
            found.add(place)
            operation = self.operations[place]
            if operation is not None:
                left += operation[1:]
        return found

    def _levels(self, wanted: set[int]) -> dict[int, int]:
        """How many operations, one after the other, lead to each number."""
        level: dict[int, int] = {}
        for place in sorted(wanted):
            operation = self.operations[place]
            level[place] = 0 if operation is None else 1 + max(level[operation[1]], level[operation[2]])
        return level


def _runs(kinds: list[tuple[int, int]]) -> Integers:
    """(runs, 3) what the operations from … to do, of those sorted by level and kind."""
    if not kinds:
        return np.zeros((0, 3), dtype=np.int64)
    starts = [k for k in range(len(kinds)) if k == 0 or kinds[k] != kinds[k - 1]]
    ends = [*starts[1:], len(kinds)]
    rows = [(kinds[begin][1], begin, end) for begin, end in zip(starts, ends, strict=True)]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _is(value: Any, number: float) -> bool:
    return not isinstance(value, Noted) and float(value) == number


class Noted(Symbol):
    """A number of a run that is noted. It cannot be made a plain one: what would lose its derivative is an error."""

    __slots__ = ("place", "recorder", "value")
    __array_ufunc__ = None  # numpy's scalars leave sums and products with it to it
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, recorder: Recorder, place: int, value: float) -> None:
        self.recorder, self.place, self.value = recorder, place, value

    @property
    def real(self) -> Noted:
        """Itself."""
        return self

    def applied(self, function: str) -> Noted:
        """A function of it, noted."""
        return self.recorder.noted(_FUNCTIONS[function], self, self)

    def within(self, low: Any, high: Any) -> Noted:
        """The nearest number from ``low`` to ``high``, noted as such: which side counts is no branch."""
        return self.recorder.noted(MIN, self.recorder.noted(MAX, self, low), high)

    def __add__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else self.recorder.noted(ADD, self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else self.recorder.noted(SUB, self, other)

    def __rsub__(self, other: Any) -> Any:
        return -self if _is(other, 0.0) else self.recorder.noted(SUB, other, self)

    def __mul__(self, other: Any) -> Any:
        if _is(other, 0.0):
            return 0.0
        return self if _is(other, 1.0) else self.recorder.noted(MUL, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self if _is(other, 1.0) else self.recorder.noted(DIV, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if _is(other, 0.0) else self.recorder.noted(DIV, other, self)

    def __neg__(self) -> Noted:
        return self.recorder.noted(NEG, self, self)

    def __pos__(self) -> Noted:
        return self

    def __abs__(self) -> Noted:
        return -self if self < 0.0 else self

    def __lt__(self, other: Any) -> bool:
        return self.recorder.compared(LESS, self, other)

    def __le__(self, other: Any) -> bool:
        return self.recorder.compared(LESS_OR_EQUAL, self, other)

    def __gt__(self, other: Any) -> bool:
        return self.recorder.compared(LESS, other, self)

    def __ge__(self, other: Any) -> bool:
        return self.recorder.compared(LESS_OR_EQUAL, other, self)

    def __eq__(self, other: object) -> bool:
        return self.recorder.compared(EQUAL, self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        raise TypeError("a number that is noted is no truth value: compare it with zero")
