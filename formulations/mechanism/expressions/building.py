"""Construction of a mechanism's parts from forms: the grammar of Table II of Johnson & Murphey 2009, and components."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from biped.errors import InputError
from biped.model.errors import ModelError, unknown
from biped.model.geometry import vector3
from formulations.mechanism.component import COMPONENTS, Component, Constraint, Force, Potential
from formulations.mechanism.expressions.reading import ExpressionError, Form, Place, Symbol, Word
from formulations.mechanism.frames import TRANSFORMS, TWIST, Frame, Kinematic, Mass, Parameter, checked_mass

SYSTEMS = ("system", "mechanical-system")
_KINDS = {"d": str, "k": Kinematic}
Made = TypeVar("Made")


@dataclass
class Parts:
    """Parts of a mechanism; the fields are the arguments of ``Mechanism``."""

    name: str
    frames: list[Frame] = field(default_factory=list)
    gravity: tuple[float, float, float] | None = None
    potentials: list[Potential] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    forces: list[Force] = field(default_factory=list)


#: First words of a frame's form.
_TRANSFORMS = (*TRANSFORMS, TWIST)


@dataclass
class _Head:
    """Parsed form of a frame: one or more transformations, options and children."""

    form: Form
    transforms: list[tuple[Any, Parameter, Any, Place]] = field(default_factory=list)
    name: str | None = None
    mass: Mass | None = None
    children: list[Form] = field(default_factory=list)


def build_parts(system: Form, name: str) -> Parts:
    """Return the parts of a mechanism from its S-expression; ``name`` is used if the expression has no name.

    Raises:
        ExpressionError: the expression is not a mechanism; the message begins with the position of the error.
    """
    if system.head not in SYSTEMS:
        raise ExpressionError(system.place, f"a mechanism begins with (system …), got {_shown(system)}")
    parts, seen = Parts(name), set[str]()
    forms = [_form(item, "a part of the system") for item in system.items[1:]]
    parts.frames = _frames([form for form in forms if _is_frame(form)])
    for form in forms:
        if _is_frame(form):
            continue
        if form.head in ("gravity", "name"):
            if form.head in seen:
                raise ExpressionError(form.place, f"a second ({form.head} …): a system can have only one")
            seen.add(form.head)
        if form.head == "gravity":
            parts.gravity = _at(form.place, partial(vector3, _numbers(form, form.items[1:]), "(gravity …)"))
        elif form.head == "name":
            parts.name = _only_text(form)
        else:
            _add_component(parts, form)
    return parts


# --- frames ---


def _is_frame(form: Form) -> bool:
    return form.head in _TRANSFORMS


def _frames(forms: Sequence[Form]) -> list[Frame]:
    """Return the frames of forms; parents are read first and made last, without recursion, as chains may be long."""
    heads: list[_Head] = []
    parents: list[int] = []
    pending = [(form, -1) for form in reversed(forms)]
    while pending:
        form, parent = pending.pop()
        head = _head(form)
        heads.append(head)
        parents.append(parent)
        pending.extend((child, len(heads) - 1) for child in reversed(head.children))
    made: list[list[Frame]] = [[] for _ in heads]
    top: list[Frame] = []
    for i in range(len(heads) - 1, -1, -1):
        frame = _frame(heads[i], tuple(reversed(made[i])))
        (made[parents[i]] if parents[i] >= 0 else top).append(frame)
    return top[::-1]


def _frame(head: _Head, children: tuple[Frame, ...]) -> Frame:
    """Return nested frames, one for each transformation; the last one has the name and mass."""
    name, mass = head.name, head.mass
    for transform, parameter, twist, place in reversed(head.transforms):
        frame = _at(place, partial(Frame, transform, parameter, children, name, mass, twist))
        children, name, mass = (frame,), None, None
    return children[0]


def _head(form: Form) -> _Head:
    head, items = _Head(form), list(form.items)
    while items and isinstance(items[0], Word):
        kind = _transform(items.pop(0))
        if not items:
            raise ExpressionError(
                form.place, f"({kind} …) needs a parameter: a number, or the name of a variable in quotes"
            )
        item = items.pop(0)
        twist = _twist(form, items) if kind == TWIST else None
        head.transforms.append((kind, _parameter(item, kind), twist, item.place))
    seen = set[str]()
    for item in items:
        part = _form(item, f"a part of the frame ({form.head} …)")
        if _is_frame(part):
            head.children.append(part)
            continue
        if part.head in seen:
            raise ExpressionError(part.place, f"a second ({part.head} …): a frame can have only one")
        seen.add(str(part.head))
        if part.head == "name":
            head.name = _only_text(part)
        elif part.head == "mass":
            head.mass = _mass(part)
        else:
            raise _unknown(part, "frame option or transform", ("name", "mass", *_TRANSFORMS))
    return head


def _transform(word: Word | Form) -> str:
    value = word.value if isinstance(word, Word) else None
    if not isinstance(value, Symbol):
        raise ExpressionError(
            word.place, f"a transform is expected here, one of {', '.join(_TRANSFORMS)}; got {_shown(word)}"
        )
    if value not in _TRANSFORMS:
        raise ExpressionError(word.place, f"unknown transform {str(value)!r}; transforms are {', '.join(_TRANSFORMS)}")
    return str(value)


def _twist(form: Form, items: list[Word | Form]) -> list[float]:
    """Return (v, ω), which follows a twist's parameter."""
    if not items or isinstance(items[0], Word) or items[0].head is not None:
        raise ExpressionError(
            form.place, '(twist …) needs a parameter and then (v ω), as in (twist "q" (0 0 0.1 0 0 1))'
        )
    given = items.pop(0)
    return _numbers(form, given.items)  # type: ignore[union-attr] # it is a form


def _parameter(item: Word | Form, transform: str) -> Parameter:
    if isinstance(item, Word) and not isinstance(item.value, Symbol):
        return item.value
    if isinstance(item, Form) and item.head in _KINDS:
        return _KINDS[item.head](_only_text(item))
    raise ExpressionError(
        item.place,
        f'the parameter of {transform} is a number, or a variable in quotes: "q", (D "q"), or (K "q") if its motion is '
        f"prescribed; got {_shown(item)}",
    )


def _mass(form: Form) -> Mass:
    given = _numbers(form, form.items[1:])
    return _at(form.place, lambda: checked_mass(given if len(given) != 1 else given[0], "(mass …)"))


# --- components ---


def _add_component(parts: Parts, form: Form) -> None:
    if form.head not in COMPONENTS:
        raise _unknown(form, "expression", ("gravity", "name", *_TRANSFORMS, *sorted(COMPONENTS)))
    component = _component(form, COMPONENTS[form.head])
    if isinstance(component, Potential):
        parts.potentials.append(component)
    elif isinstance(component, Constraint):
        parts.constraints.append(component)
    elif isinstance(component, Force):
        parts.forces.append(component)
    else:
        raise ExpressionError(form.place, f"({form.head} …) is neither a potential, nor a constraint, nor a force")


def _component(form: Form, kind: type[Component]) -> Component:
    words: list[Any] = []
    options: dict[str, Any] = {}
    for item in form.items[1:]:
        if isinstance(item, Form) and item.head is not None and not _is_variable(item, kind):
            if item.head in options:
                raise ExpressionError(item.place, f"({item.head} …) is given twice in ({form.head} …)")
            given = [_value(part, kind) for part in item.items[1:]]
            options[str(item.head).replace("-", "_")] = given[0] if len(given) == 1 else tuple(given)
        else:
            words.append(_value(item, kind))
    return _at(form.place, lambda: kind.from_words(words, options))


def _is_variable(form: Form, kind: type[Component]) -> bool:
    """Return whether a form is (D "q") or (K "q"), and not an option of the same name."""
    return form.head in _KINDS and form.head not in kind.roles()


def _value(item: Word | Form, kind: type[Component]) -> Any:
    if isinstance(item, Form):
        if _is_variable(item, kind):
            return _KINDS[str(item.head)](_only_text(item))
        return tuple(_value(part, kind) for part in item.items)
    if isinstance(item.value, Symbol):
        raise ExpressionError(item.place, f"names and other texts must be in quotes; got {item.value} without quotes")
    return item.value


# --- helpers ---


def _form(item: Word | Form, what: str) -> Form:
    if not isinstance(item, Form):
        raise ExpressionError(item.place, f"{what} must be in parentheses; got {_shown(item)}")
    if item.head is None:
        raise ExpressionError(item.place, f"{what} must begin with a word, such as (tz -1 …); got {_shown(item)}")
    return item


def _numbers(form: Form, items: Iterable[Word | Form]) -> list[float]:
    numbers = []
    for item in items:
        if not isinstance(item, Word) or isinstance(item.value, str):
            raise ExpressionError(item.place, f"({form.head} …) needs numbers; got {_shown(item)}")
        numbers.append(item.value)
    return numbers


def _only_text(form: Form) -> str:
    words = [item.value for item in form.items[1:] if isinstance(item, Word)]
    if len(form.items) != 2 or len(words) != 1 or isinstance(words[0], (Symbol, float)) or not words[0].strip():
        raise ExpressionError(form.place, f'({form.head} …) needs one name in quotes, as in ({form.head} "A")')
    return str(words[0])


def _unknown(form: Form, what: str, known: Sequence[str]) -> ExpressionError:
    return ExpressionError(form.place, str(unknown(what, str(form.head), known)))


def _at(place: Place, make: Callable[[], Made]) -> Made:
    """Return ``make()``; the position in the text is added to the message of its error."""
    try:
        return make()
    except (InputError, ModelError) as error:
        raise ExpressionError(place, str(error)) from error


def _shown(item: Word | Form) -> str:
    if isinstance(item, Form):
        return f"({item.head} …)" if item.head is not None else "(…)" if item.items else "()"
    return str(item.value) if isinstance(item.value, Symbol) else repr(item.value)
