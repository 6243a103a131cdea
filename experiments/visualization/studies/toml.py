"""Configurations as TOML, as commands read them."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def as_toml(data: Mapping[str, Any]) -> str:
    """Return numbers, texts, booleans, lists and tables of them as TOML; None is left out."""
    return "\n".join(_lines(data, ())).strip()


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """Yield plain values first, then tables; a table of plain values within a table takes one line."""
    rest = {}
    for key, value in table.items():
        if (isinstance(value, Mapping) and not _is_flat(value, path)) or _is_tables(value):
            rest[key] = value
        elif value is not None:
            yield f"{_key(key)} = {_value(value)}"
    for key, value in rest.items():
        name = ".".join(map(_key, (*path, key)))
        for part in value if _is_tables(value) else [value]:
            yield ""
            yield f"[[{name}]]" if _is_tables(value) else f"[{name}]"
            yield from _lines(part, (*path, key))


def _is_flat(value: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    return bool(path) and not any(isinstance(item, Mapping) or _is_tables(item) for item in value.values())


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        parts = (f"{_key(key)} = {_value(item)}" for key, item in value.items() if item is not None)
        return f"{{ {', '.join(parts)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
