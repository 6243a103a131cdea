"""Parameters of experiments: dotted names with a default, a unit, a meaning and a source.

One number of a tuple is named by its index from 0: ``controller.kp_position[2]``. An angle may be given in degrees:
``90deg`` or ``90°``. On the command line a unit may follow a number: ``8N·s``, ``8Ns``, ``120ms``, ``60mm``.
"""

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from biped.errors import InputError
from biped.inputs.checks import is_finite
from biped.model.geometry import LARGEST_ANGLE

#: A number, a whole number, a word, or a few numbers such as a position or a quaternion.
Value = float | int | str | tuple[float, ...]
#: Units of degrees after a number.
DEGREES = ("deg", "°")
#: Prefixed units that may follow a number: the SI unit, and their number in one of it.
PARTS = {"ms": ("s", 1e3), "mm": ("m", 1e3), "cm": ("m", 1e2)}


@dataclass(frozen=True)
class Parameter:
    """A parameter of an experiment.

    The type of the default determines the type of the value: float: any number; int: a whole number; tuple: as many
    numbers as the default; str: a word. The Python object that gets the value, such as a `Fall`, checks its range.

    Attributes:
        name: ``group.attribute``, such as ``fall.height`` for the attribute ``height`` of a `Fall`.
        default: default value.
        unit: SI unit; empty for numbers without a unit and for words; alternatives are separated by commas.
        meaning: title in a few words, as shown by ``biped show``.
        source: publication of the default.
        repeats: True if a single number may stand for all numbers of a tuple.
        may_be_matrix: True if n × n numbers, row by row, may be given for a tuple of n numbers.
        may_be_infinite: True if ``inf`` is allowed.
        choices: allowed words; empty for any word.
        span: lowest and highest value of the slider in ``biped live``, not limits of the parameter; None: automatic.
    """

    name: str
    default: Value
    unit: str
    meaning: str
    source: str
    repeats: bool = False
    may_be_matrix: bool = False
    may_be_infinite: bool = False
    choices: tuple[str, ...] = ()
    span: tuple[float, float] | None = None

    def parse(self, text: str) -> Value:
        """Convert a text of the command line to a value.

        Raises:
            InputError: the text cannot be converted to this parameter's type.
        """
        if isinstance(self.default, str):
            return self.checked(text.strip())
        numbers = tuple(self._number(part) for part in text.strip().strip("()[]").split(","))
        return self.checked(numbers if isinstance(self.default, tuple) or len(numbers) > 1 else numbers[0])

    def checked(self, value: Any) -> Value:
        """Return ``value`` in this parameter's type.

        Raises:
            InputError: the value cannot be converted to this type, or is not one of the choices.
        """
        if isinstance(self.default, str):
            return self._word(value)
        if isinstance(value, str) and self.is_angle:
            return self.parse(value)
        if isinstance(self.default, tuple):
            return self._tuple(value)
        is_infinite = isinstance(value, float) and math.isinf(value)
        if isinstance(value, bool) or not (is_infinite or is_finite(value)):
            raise self._wrong(value, "one number")
        if is_infinite and not self.may_be_infinite:
            raise self._wrong(value, "one finite number")
        if isinstance(self.default, float):
            return self._within_a_turn(float(value))
        if value != math.floor(value):
            raise self._wrong(value, "a whole number")
        return int(value)

    @property
    def is_angle(self) -> bool:
        """True for angles and their rates, whose values may be given in degrees."""
        return bool(self._units_of_angles)

    @property
    def _units_of_angles(self) -> dict[str, float]:
        """Factors to SI units, by the unit that may follow an angle."""
        words = {"rad": 1.0} | dict.fromkeys(DEGREES, math.pi / 180.0)
        units = [unit for unit in self.unit.split(", ") if unit.startswith("rad")]
        return {unit.replace("rad", word, 1): factor for unit in units for word, factor in words.items()}

    @property
    def _units(self) -> dict[str, float]:
        """Factors to SI units, by the unit that may follow a number on the command line, the longest unit first."""
        units = [unit for unit in self.unit.split(", ") if unit[:1].isalpha()]
        factors = {unit.replace("·", dot): 1.0 for unit in units for dot in ("·", "*", "")}
        factors |= {part: 1.0 / many for part, (unit, many) in PARTS.items() if unit in units} | self._units_of_angles
        return dict(sorted(factors.items(), key=lambda item: -len(item[0])))

    def _within_a_turn(self, value: float) -> float:
        if self.unit == "rad" and LARGEST_ANGLE < abs(value) < math.inf:
            what = f"{self.name} = {shown(value)}"
            raise InputError(f"{what} rad: it must be from −2π to 2π; write degrees as {shown(value)}deg")
        return value

    def _word(self, value: Any) -> str:
        if not isinstance(value, str):
            raise self._wrong(value, "a word")
        if self.choices and value not in self.choices:
            raise self._wrong(value, f"one of {', '.join(self.choices)}")
        return value

    def _tuple(self, value: Any) -> tuple[float, ...]:
        assert isinstance(self.default, tuple)
        count = len(self.default)
        try:
            numbers = tuple(float(part) for part in (value if isinstance(value, Iterable) else (value,)))
        except (TypeError, ValueError, OverflowError):
            numbers = ()
        if self.repeats and len(numbers) == 1:
            numbers *= count
        counts = (count, count**2) if self.may_be_matrix else (count,)
        if len(numbers) not in counts or not all(map(math.isfinite, numbers)):
            scalar = "one number or " if self.repeats else ""
            lengths = " or ".join(map(str, counts))
            raise self._wrong(value, f"{scalar}{lengths} finite numbers with commas between them")
        return tuple(map(self._within_a_turn, numbers))

    def _number(self, text: str) -> float:
        text = text.strip()
        units = self._units
        unit = next((unit for unit in units if text.endswith(unit)), "")
        try:
            if text.isdecimal():
                return int(text)
            number = float(text.removesuffix(unit))
            return number / PARTS[unit][1] if unit in PARTS else number * units.get(unit, 1.0)
        except ValueError:
            degrees = ", or in degrees as 90deg" if "rad" in units else ""
            raise self._wrong(text, "a number" + (f" [{self.unit}]" if self.unit else "") + degrees) from None

    def _wrong(self, value: object, requirement: str) -> InputError:
        example = "1" if self.default == 0 else shown(self.default)
        if isinstance(self.default, float):
            example += self.unit.partition(", ")[0]
        return InputError(f"{self.name} = {shown(value)}: it must be {requirement}, such as {example}")


def is_in_degrees(value: object) -> bool:
    """Return True for a value in degrees or degrees a second: ``45deg``, ``45°``, ``10deg/s``."""
    return isinstance(value, str) and value.rstrip().removesuffix("/s").endswith(DEGREES)


def shown(value: object) -> str:
    """Return a value as text for ``--set NAME=``."""
    if isinstance(value, tuple):
        return ",".join(shown(part) for part in value)
    return f"{value:.9g}" if isinstance(value, float) else str(value)


class Values(Mapping[str, Value]):
    """Values of all parameters of an experiment by name, read-only."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = dict(values)
        self._groups: dict[str, dict[str, Value]] = {}
        for name, value in self._values.items():
            group, _, attribute = name.partition(".")
            self._groups.setdefault(group, {})[attribute] = value

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def number(self, name: str) -> float:
        value = self._values[name]
        assert isinstance(value, (int, float)), name
        return float(value)

    def integer(self, name: str) -> int:
        value = self._values[name]
        assert isinstance(value, int), name
        return value

    def word(self, name: str) -> str:
        value = self._values[name]
        assert isinstance(value, str), name
        return value

    def group(self, group: str) -> dict[str, Any]:
        """Return the values of a group by names without it: the arguments of the object that they set up."""
        return dict(self._groups.get(group, {}))

    def items_of(self, group: str) -> tuple[tuple[str, Value], ...]:
        """Return the values of a group as a hashable key."""
        return tuple(self._groups.get(group, {}).items())

    def as_json(self) -> dict[str, Any]:
        """Return the values for JSON: a tuple as a list, infinity as the word ``inf``."""
        return {name: as_json(value) for name, value in self.items()}


def as_json(value: Value) -> Any:
    """Return a value for JSON: a tuple as a list, infinity as the word ``inf``."""
    if isinstance(value, tuple):
        return list(value)
    return "inf" if value == math.inf else value


def from_json(parameter: Parameter, data: Any) -> Value:
    """Return a parameter's value from the result of ``as_json``."""
    return parameter.checked(math.inf if data == "inf" and not isinstance(parameter.default, str) else data)


_COMPONENT = re.compile(r"(?P<whole>[^\[\]]+)\[(?P<place>[^\[\]]*)\]")


def split_name(name: str) -> tuple[str, str | None]:
    """Split a name into the parameter, and the index of one of its numbers, or None."""
    match = _COMPONENT.fullmatch(name)
    return (match["whole"], match["place"].strip()) if match else (name, None)


def parameter_named(name: str, parameters: Iterable[Parameter]) -> Parameter:
    """Return the parameter of this name, or a parameter for one number of a tuple: ``NAME[INDEX]``."""
    table = {parameter.name: parameter for parameter in parameters}
    owner, place = split_name(name)
    if owner not in table:
        raise InputError(f"unknown parameter {name!r}; {_hint(owner, list(table))}")
    return table[owner] if place is None else _component(table[owner], place, name)


def _component(parameter: Parameter, place: str, name: str) -> Parameter:
    default = parameter.default
    if not isinstance(default, tuple):
        raise InputError(f"unknown parameter {name!r}: {parameter.name} is a single value; leave out the index")
    if not place.isdecimal() or int(place) >= len(default):
        last = f"{parameter.name}[{len(default) - 1}]"
        raise InputError(f"unknown parameter {name!r}: the elements are {parameter.name}[0] to {last}")
    return replace(parameter, name=f"{parameter.name}[{int(place)}]", default=float(default[int(place)]), repeats=False)


def assembled(changes: Mapping[str, Value], defaults: Mapping[str, Value]) -> dict[str, Value]:
    """Return the changes; a change of one number, such as ``push.point[0]``, becomes a change of the whole tuple.

    The other numbers of the tuple are those of ``changes``, or else of ``defaults``.
    """
    parameters = {name: value for name, value in changes.items() if split_name(name)[1] is None}
    for name, value in changes.items():
        owner, place = split_name(name)
        if place is not None:
            numbers = parameters.get(owner, defaults[owner])
            assert isinstance(numbers, tuple)
            assert isinstance(value, float)
            parameters[owner] = (*numbers[: int(place)], value, *numbers[int(place) + 1 :])
    return parameters


def with_group(parameters: tuple[Parameter, ...], group: str, new: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """Return the parameters, with those of a group replaced by new ones."""
    is_of_group = [parameter.name.startswith(f"{group}.") for parameter in parameters]
    place = is_of_group.index(True)
    rest = [parameter for parameter, inside in zip(parameters, is_of_group, strict=True) if not inside]
    return (*rest[:place], *new, *rest[place:])


def value_under(name: str, changes: Mapping[str, Value], parameters: Iterable[Parameter]) -> Value:
    """Return the value of a parameter, or of one of its numbers, under these changes."""
    if name in changes:
        return changes[name]
    parameters = tuple(parameters)
    parameter_named(name, parameters)
    owner, place = split_name(name)
    value = assembled(changes, {p.name: p.default for p in parameters}).get(owner)
    if value is None:
        value = parameter_named(owner, parameters).default
    if place is None:
        return value
    assert isinstance(value, tuple)
    return value[int(place)]


def _hint(name: str, known: list[str]) -> str:
    """Return a hint that names similar parameters, or else the known groups."""
    last = name.rpartition(".")[2].lower()
    containing = [candidate for candidate in known if last and last in candidate.lower()]
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    same = [candidate for candidate in known if candidate.endswith(f".{last}")]
    matches = list(dict.fromkeys([*same, *close, *containing]))[:3]
    if matches:
        return f"did you mean {' or '.join(repr(candidate) for candidate in matches)}?"
    return f"groups of parameters are {', '.join(dict.fromkeys(each.partition('.')[0] for each in known))}"
