"""Dataclass fields with unit and title, for the command line, pages and the API reference."""

import dataclasses
from collections.abc import Mapping
from typing import Any


def quantity(unit: str, title: str, default: Any = dataclasses.MISSING, **more: Any) -> Any:
    """Return a dataclass field with unit, title and further metadata (``experiments.catalogue.parameters.fields``)."""
    return dataclasses.field(default=default, metadata={"unit": unit, "title": title, **more})


def inline(default: Any) -> Any:
    """Return a field for a nested dataclass whose fields count as fields of the outer one."""
    return dataclasses.field(default=default, metadata={"inline": True})


def like(owner: type, name: str, default: Any = dataclasses.MISSING) -> Any:
    """Return a field with unit, title and, unless given, default of a field of another dataclass."""
    given = next(item for item in dataclasses.fields(owner) if item.name == name)
    return dataclasses.field(
        default=given.default if default is dataclasses.MISSING else default, metadata=dict(given.metadata)
    )


def replaced(owner: Any, changes: Mapping[str, Any]) -> Any:
    """Return a dataclass object with some fields changed; a name with dots is a field of a nested dataclass."""
    values = {name: value for name, value in changes.items() if "." not in name}
    for first in dict.fromkeys(name.partition(".")[0] for name in changes if "." in name):
        inner = {name.partition(".")[2]: value for name, value in changes.items() if name.startswith(f"{first}.")}
        values[first] = replaced(getattr(owner, first), inner)
    return dataclasses.replace(owner, **values)
