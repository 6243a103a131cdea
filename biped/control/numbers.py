"""The real numbers of a controller or another dataclass, by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any


def numbers_of(value: Any, prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield all numbers with their names, such as ``gains.kp_position[2]``, also of nested dataclasses and tuples."""
    for item in fields(value):
        if not item.init:
            continue
        inner = getattr(value, item.name)
        if is_dataclass(inner) and not isinstance(inner, type):
            yield from numbers_of(inner, f"{prefix}{item.name}.")
        elif isinstance(inner, float):
            yield f"{prefix}{item.name}", inner
        elif isinstance(inner, tuple) and inner and all(isinstance(x, float) for x in inner):
            yield from ((f"{prefix}{item.name}[{k}]", x) for k, x in enumerate(inner))


def with_number(value: Any, name: str, number: float) -> Any:
    """Return a copy of a dataclass with one number changed, by its name in ``numbers_of``."""
    first, _, rest = name.partition(".")
    if rest:
        return replace(value, **{first: with_number(getattr(value, first), rest, number)})
    member, _, index = first.rstrip("]").partition("[")
    if index:
        old = getattr(value, member)
        return replace(value, **{member: tuple(number if k == int(index) else x for k, x in enumerate(old))})
    return replace(value, **{member: number})
