"""Base classes of a mechanism's potentials, constraints and forces, and their construction from S-expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, get_type_hints

from biped.inputs.checks import is_finite, numbers
from formulations.mechanism.errors import MechanismError

if TYPE_CHECKING:
    from formulations.mechanism.compilation import Builder

#: The name of a frame, or "world".
FrameName = Annotated[str, "frame"]
#: The name of a configuration variable.
CoordinateName = Annotated[str, "coordinate"]
#: Three numbers.
Vector = Annotated[tuple[float, float, float], "vector"]

#: Classes of components by the keyword with which their S-expressions begin.
COMPONENTS: dict[str, type[Component]] = {}


@dataclass(frozen=True)
class Component:
    """Part of a mechanism other than its frames: a potential, a constraint or a force.

    A class with a keyword can be written as an S-expression ``(keyword value …)`` with its fields' values in order.
    ``(field value)`` in place of a value gives a field by name. The three numbers of a vector need no parentheses.

    Attributes:
        word: keyword, the first symbol of the S-expression; empty if the class has no S-expression.
    """

    word: ClassVar[str] = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        word = cls.__dict__.get("word", "")
        if not word:
            return
        other = COMPONENTS.get(word)
        if other is not None and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise MechanismError(
                f"{cls.__qualname__}: the keyword {word!r} already belongs to {other.__qualname__}; choose another"
            )
        COMPONENTS[word] = cls

    def add_to(self, builder: Builder) -> None:
        """Add the component's arrays to a mechanism that is being compiled."""
        raise NotImplementedError

    @classmethod
    def roles(cls) -> dict[str, str]:
        """Return the role of each field: frame, coordinate, vector, or ""."""
        hints = get_type_hints(cls, include_extras=True)
        return {field.name: _role(hints[field.name]) for field in fields(cls)}

    def named(self, role: str) -> list[str]:
        """Return the names in the fields that have a role, "frame" or "coordinate"."""
        values = [getattr(self, name) for name, what in self.roles().items() if what == role]
        return [name for name in values if isinstance(name, str)]

    @classmethod
    def from_words(cls, words: Sequence[Any], options: Mapping[str, Any] | None = None) -> Self:
        """Return a component from the items of its S-expression that follow the keyword.

        Args:
            words: values of the fields, in order: texts, numbers and tuples of these; a vector may be three numbers.
            options: values of fields by name.

        Raises:
            MechanismError: a value is missing, superfluous or given twice, or an option is unknown.
        """
        roles, waiting = cls.roles(), list(words)
        values: dict[str, Any] = {}
        for name, role in roles.items():
            if not waiting:
                break
            values[name] = _vector_of(waiting) if role == "vector" else waiting.pop(0)
        if waiting:
            raise MechanismError(f"({cls.word} …): too many values; its fields are {', '.join(roles)}")
        for name, value in (options or {}).items():
            if name not in roles or name in values:
                what = "given twice" if name in values else f"unknown; options are {', '.join(roles)}"
                raise MechanismError(f"({cls.word} …): option {name!r} is {what}")
            values[name] = value
        try:
            return cls(**values)
        except TypeError:
            missing = [f.name for f in fields(cls) if f.name not in values and f.default is f.default_factory]
            raise MechanismError(
                f"({cls.word} …): {', '.join(missing) or 'a value'} missing; its fields are {', '.join(roles)}"
            ) from None


def _vector_of(waiting: list[Any]) -> Any:
    """Remove the next vector from the values and return it: one tuple, or three numbers."""
    if not is_finite(waiting[0]):
        return waiting.pop(0)
    vector = tuple(waiting[:3])
    del waiting[:3]
    return vector


def _role(hint: Any) -> str:
    """Return the role in a field's annotation, also if the field may be None."""
    for part in (hint, *getattr(hint, "__args__", ())):
        for note in getattr(part, "__metadata__", ()):
            if isinstance(note, str):
                return note
    return ""


class Potential(Component):
    """Base class of potential energies V(q) of the configuration q."""


class Constraint(Component):
    """Base class of holonomic constraints h(q) = 0 on the configuration q."""


class Force(Component):
    """Base class of forces f(q, q̇, t) that have no potential; q: configuration, t: time."""


def finite(value: float, what: str) -> float:
    """Return ``value`` as a finite number.

    Raises:
        MechanismError: ``value`` is not a finite number.
    """
    if not is_finite(value):
        raise MechanismError(f"{what} = {value!r}: it must be a finite number")
    return float(value)


def several(given: float | Sequence[float], what: str) -> tuple[float, ...]:
    """Return one or more finite numbers, given as a number or a sequence, as a tuple.

    Raises:
        MechanismError: ``given`` is neither a number nor a sequence.
    """
    listed = (given,) if is_finite(given) else given
    try:
        return numbers(listed, len(listed), what) if len(listed) else ()  # type: ignore[arg-type]
    except TypeError:
        raise MechanismError(f"{what} = {given!r}: it must be one or more finite numbers") from None
