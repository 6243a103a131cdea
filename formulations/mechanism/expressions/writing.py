"""Text of a mechanism's parts as S-expressions, from which equal parts are read back."""

from collections.abc import Iterable, Sequence
from dataclasses import MISSING, fields
from typing import Any

from formulations.mechanism.component import Component
from formulations.mechanism.errors import MechanismError
from formulations.mechanism.frames import Frame, Kinematic


def frame_lines(frames: Iterable[Frame], depth: int = 1) -> list[str]:
    """Return S-expressions of frames, a line per frame, two spaces per level; not recursive, as chains may be long."""
    lines: list[str] = []
    pending = [(frame, depth, 0) for frame in reversed(list(frames))]
    while pending:
        frame, level, ends = pending.pop()
        name = f" (name {_text(frame.name)})" if frame.name is not None else ""
        mass = f" (mass {_mass(frame.mass)})" if frame.mass is not None else ""
        closing = ")" * (ends + 1) if not frame.children else ""
        along = f" ({' '.join(map(_number, frame.twist))})" if frame.twist is not None else ""
        lines.append(f"{'  ' * level}({frame.transform} {_parameter(frame.parameter)}{along}{name}{mass}{closing}")
        below = [(child, level + 1, 0) for child in frame.children[:-1]]
        below += [(child, level + 1, ends + 1) for child in frame.children[-1:]]
        pending.extend(reversed(below))
    return lines


def component_line(component: Component) -> str:
    """Return a component as an S-expression ``(keyword value …)``.

    Raises:
        MechanismError: the component's class has no keyword, or a field is not a text or number, such as a function.
    """
    if not component.word:
        raise MechanismError(f"{type(component).__name__} has no keyword for S-expressions: set its attribute word")
    required = [f.name for f in fields(component) if f.default is MISSING and f.default_factory is MISSING]
    words = [_value(getattr(component, name), component, name) for name in required]
    for item in fields(component):
        value = getattr(component, item.name)
        if item.name not in required and value != item.default:
            written = _inside(value, component, item.name)
            words.append(f"({item.name.replace('_', '-')} {written})")
    return f"({' '.join([component.word, *words])})"


def gravity_line(gravity: Sequence[float]) -> str:
    """Return the S-expression of a gravity vector [m/s²], such as ``(gravity 0 0 -9.81)``."""
    return f"(gravity {' '.join(_number(x) for x in gravity)})"


def name_line(name: str) -> str:
    """Return the S-expression of a mechanism's name, such as ``(name "pendulum")``."""
    return f"(name {_text(name)})"


def _parameter(parameter: float | str | Kinematic) -> str:
    if isinstance(parameter, Kinematic):
        return f"(k {_text(parameter.name)})"
    return _text(parameter) if isinstance(parameter, str) else _number(parameter)


def _mass(mass: Sequence[float]) -> str:
    return " ".join(_number(x) for x in (mass if any(mass[1:]) else mass[:1]))


def _value(value: Any, component: Component, field: str) -> str:
    if isinstance(value, (str, Kinematic)):
        return _parameter(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _number(value)
    if isinstance(value, (tuple, list)):
        return f"({_inside(value, component, field)})"
    raise MechanismError(
        f"the {field} of {component.word} is {value!r}: S-expressions can hold only numbers and texts; build this "
        "mechanism in Python"
    )


def _inside(value: Any, component: Component, field: str) -> str:
    """Return the text of a value, without the parentheses if it is a tuple."""
    if isinstance(value, (tuple, list)):
        return " ".join(_value(item, component, field) for item in value)
    return _value(value, component, field)


def _number(value: float) -> str:
    return repr(float(value)).removesuffix(".0") if float(value).is_integer() else repr(float(value))


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
