"""Fields of a dataclass as parameters, and an object of it from their values.

A field is a parameter if its default is a number, a few numbers, a word, or a boolean. A field that is a dataclass
contributes its own fields, named ``group.field.NAME``, or ``group.NAME`` if its metadata has ``inline``. ``biped show``
shows the metadata ``unit``, ``title`` and ``source``; ``range`` is the range of the sliders of ``biped live``;
``choices`` are the allowed words, as for a ``Literal``. With ``repeats`` a single number may be given for all numbers
of a tuple; with ``matrix`` a matrix may replace its diagonal. A ``hidden`` field is a parameter only on request.
"""

import copy
import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

from biped.inputs.fields import replaced
from experiments.catalogue.parameters.parameter import Parameter, Value

#: A field: its parameter's name without group, its path, its owner, and the field itself.
_Leaf = tuple[str, tuple[str, ...], Any, "dataclasses.Field[Any]"]
BOOLEANS = {"false": False, "true": True}


def field_parameters(prototype: Any, group: str, source: str, *, hidden: bool = False) -> tuple[Parameter, ...]:
    """Return a parameter for each suitable field of an object, with the field's value as default.

    ``hidden`` is True to include hidden fields.
    """
    return tuple(
        _parameter(owner, field, f"{group}.{name}", source)
        for name, _, owner, field in _leaves(prototype)
        if hidden or not _is_hidden(prototype, name)
    )


def _is_hidden(prototype: Any, name: str) -> bool:
    first = name.partition(".")[0]
    return any(field.name == first and field.metadata.get("hidden") for field in dataclasses.fields(prototype))


def object_from(thing: Any, values: Mapping[str, Value]) -> Any:
    """Return a new object of a class, or a copy of an object, with values of ``field_parameters`` (without group).

    Mutable parts are not shared. An object that is no dataclass is copied unchanged.
    """
    made = thing() if isinstance(thing, type) else copy.deepcopy(thing)
    changes: dict[str, Any] = {}
    for name, path, owner, field in _leaves(made):
        if name in values:
            is_switch = isinstance(getattr(owner, field.name), bool)
            changes[".".join(path)] = BOOLEANS[str(values[name])] if is_switch else values[name]
    return replaced(made, changes) if changes else made


def _leaves(owner: Any, group: str = "", path: tuple[str, ...] = ()) -> Iterator[_Leaf]:
    """Yield the fields that can be parameters, of an object and of the dataclasses in it."""
    for field in dataclasses.fields(owner) if dataclasses.is_dataclass(owner) else ():
        value, name = getattr(owner, field.name), f"{group}{field.name}"
        if not field.init or field.name.startswith("_") or not field.metadata.get("parameter", True):
            continue
        if dataclasses.is_dataclass(value):
            inner = group if field.metadata.get("inline") else f"{name}."
            yield from _leaves(value, inner, (*path, field.name))
        elif _as_value(value) is not None:
            yield name, (*path, field.name), owner, field


def _parameter(owner: Any, field: "dataclasses.Field[Any]", name: str, source: str) -> Parameter:
    default, metadata = _as_value(getattr(owner, field.name)), field.metadata
    assert default is not None
    return Parameter(
        name, default, metadata.get("unit", ""), metadata.get("title", ""), metadata.get("source", source),
        repeats=bool(metadata.get("repeats")), may_be_matrix=bool(metadata.get("matrix")),
        may_be_infinite=bool(metadata.get("infinite")) or (isinstance(default, float) and math.isinf(default)),
        choices=_choices(owner, field), span=metadata.get("range"),
    )  # fmt: skip


def _as_value(value: Any) -> Value | None:
    """Return a default as a parameter's value, or None if it cannot be one."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float, str)):
        return value
    numbers = isinstance(value, (tuple, list)) and value and all(isinstance(x, (int, float)) for x in value)
    return tuple(float(x) for x in value) if numbers else None


def _choices(owner: Any, field: "dataclasses.Field[Any]") -> tuple[str, ...]:
    if isinstance(getattr(owner, field.name), bool):
        return tuple(BOOLEANS)
    if "choices" in field.metadata:
        return tuple(field.metadata["choices"])
    try:
        hint = get_type_hints(type(owner))[field.name]
    except NameError:  # an annotation for type checkers only
        return ()
    return get_args(hint) if get_origin(hint) is Literal else ()
