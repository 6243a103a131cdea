"""JSON of the expected types; other JSON is refused by a ValueError."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict


def json_of(text: str, kinds: Mapping[str, Any]) -> dict[str, Any]:
    """The object of a JSON file.

    Args:
        text: of the file.
        kinds: annotations of values by key, as ``fits`` takes them; other keys have any value, and any may be missing.

    Raises:
        ValueError: it is no JSON, no object, or a value is of another type.
    """
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"it must be an object, and is {_shown(found)}")
    for name, kind in kinds.items():
        if name in found and not fits(found[name], kind):
            raise ValueError(f"{name} is {_shown(found[name])}: a value of another type is expected")
    return found


def fits(value: Any, kind: Any) -> bool:
    """Whether a value of JSON is what an annotation says.

    JSON has lists for tuples, objects for dataclasses and typed dictionaries, whole numbers among floats, and null for
    those of a dataclass that are not finite.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin in (Union, UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return value in parts
    if origin is tuple and parts[1:] != (...,):
        return isinstance(value, list) and len(value) == len(parts) and all(map(fits, value, parts))
    if origin in (tuple, list):
        return isinstance(value, list) and all(fits(item, parts[0]) for item in value)
    if origin in (dict, Mapping):
        return isinstance(value, dict) and all(fits(item, parts[1]) for item in value.values())
    if is_typeddict(kind) or is_dataclass(kind):
        needed, hints = _hints(kind)
        whole = isinstance(value, dict) and needed <= value.keys()
        return whole and all(fits(item, hints.get(name, Any)) for name, item in value.items())
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else origin or kind)


@cache
def _hints(kind: Any) -> tuple[frozenset[str], dict[str, Any]]:
    """The keys that must be there, and the annotations of all."""
    hints = get_type_hints(kind)
    if not is_dataclass(kind):
        return kind.__required_keys__, hints
    needed = frozenset(one.name for one in fields(kind) if one.default is MISSING is one.default_factory)
    return needed, {name: float | None if hint is float else hint for name, hint in hints.items()}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
