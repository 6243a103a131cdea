"""Conversion of dataclasses to and from JSON."""

import math
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints


def finite(value: Any) -> Any:
    """Return nested values with None in place of infinite numbers and NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def built(kind: Any, value: Any) -> Any:
    """Return an object of a type from its JSON value, as made by ``dataclasses.asdict``.

    For null as a number of a dataclass, the field gets its default, since JSON has no infinity.

    Raises:
        ValueError: a field is missing or unknown.
    """
    origin, kinds = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return None if value is None else built(next(part for part in kinds if part is not NoneType), value)
    if origin is tuple:
        each = kinds[:1] * len(value) if kinds[1:] == (...,) else kinds
        return tuple(built(part, item) for part, item in zip(each, value, strict=True))
    if not is_dataclass(kind):
        return value
    by_name, hints = {part.name: part for part in fields(kind)}, get_type_hints(kind)
    if by_name.keys() != value.keys():
        raise ValueError(f"{', '.join(sorted(by_name.keys() ^ value.keys()))}: missing or unknown field")
    return kind(
        **{  # type: ignore[operator]
            name: by_name[name].default if item is None and hints[name] is float else built(hints[name], item)
            for name, item in value.items()
        }
    )
