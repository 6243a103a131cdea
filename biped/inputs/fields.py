"""Fields of dataclasses with unit and title, from which command lines, pages and the API reference take them."""

from dataclasses import MISSING, Field, field, fields
from typing import Any


def quantity(unit: str, title: str, default: Any = MISSING, **more: Any) -> Any:
    """Return a field with a unit, a title and further metadata (``experiments.catalogue.parameters.fields``)."""
    return field(default=default, metadata={"unit": unit, "title": title, **more})


def inline(default: Any) -> Any:
    """Return a field that is a dataclass, whose own fields count as fields of the owner."""
    return field(default=default, metadata={"inline": True})


def like(owner: type, name: str, default: Any = MISSING) -> Any:
    """Return a field with unit and title of a field of another dataclass."""
    given: Field[Any] = next(one for one in fields(owner) if one.name == name)
    return field(default=given.default if default is MISSING else default, metadata=dict(given.metadata))
