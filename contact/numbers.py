"""Conversion of nested named tuples of numbers to rows of arrays and back."""

import itertools
from collections.abc import Iterator
from typing import Any

from kernelcache import stands_for


def numbers_in(value: Any) -> Iterator[float]:
    """Yield all numbers in a named tuple, in order, including those in nested tuples."""
    for item in value:
        yield from numbers_in(item) if isinstance(item, tuple) else (item,)


def filled(like: Any, numbers: Any) -> Any:
    """Return a named tuple of the type of ``like`` with ``numbers`` in the order of ``numbers_in``."""
    return _filled_from(like, iter(numbers))


def _filled_from(like: Any, numbers: Iterator[Any]) -> Any:
    return type(like)(*(_filled_from(item, numbers) if isinstance(item, tuple) else next(numbers) for item in like))


def _compiled_filled(like: Any, numbers: Any) -> Any:
    """Return the implementation of ``filled`` for compiled code, which calls each class with its numbers by index."""
    places, classes = itertools.count(), {"__name__": __name__}

    def call_of(kind: Any) -> str:
        if not hasattr(kind, "instance_class"):
            return f"numbers[{next(places)}]"
        name = f"kind{len(classes)}"
        classes[name] = kind.instance_class
        return f"{name}({', '.join(map(call_of, getattr(kind, 'kinds', kind)))})"  # packed, or made in a kernel

    return eval(f"lambda like, numbers: {call_of(like)}", classes)


stands_for(filled, _compiled_filled)
