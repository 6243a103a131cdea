"""Configuration of a study: a TOML file, or a mapping with the same keys, read key by key and checked.

``finish`` raises an error if a key was not read. Errors name the file and the line, which libraries for schemas do not
know. ``make`` reads a table into a dataclass, whose fields declare the allowed keys.
"""

import dataclasses
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

from biped.errors import InputError
from biped.inputs.checks import is_finite
from contact.errors import BipedError, did_you_mean
from experiments.catalogue.parameters.parameter import Parameter, Value, from_json
from experiments.studies.counting import checked_losses

if TYPE_CHECKING:
    from experiments.catalogue.experiment import Experiment

T = TypeVar("T")
REQUIRED: Any = object()


def _texts(value: Any) -> Any:
    texts = isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)
    return tuple(value) if texts and 0 < len(set(value)) == len(value) else None


def _numbers(value: Any) -> tuple[float, ...] | None:
    """Return a list of numbers as a tuple, and None for anything else."""
    return tuple(map(float, value)) if isinstance(value, Sequence) and all(map(is_number, value)) else None


#: By type annotation: text that describes an allowed value, and function that converts a value (None: not allowed).
_READERS: dict[Any, tuple[str, Callable[[Any], Any]]] = {
    float: ("a finite number", lambda value: float(value) if is_number(value) else None),
    int: ("a whole number", lambda value: value if isinstance(value, int) and not isinstance(value, bool) else None),
    bool: ("true or false", lambda value: value if isinstance(value, bool) else None),
    str: ("a text", lambda value: value if isinstance(value, str) else None),
    tuple[str, ...]: ("a list of different texts", _texts),
    tuple[float, ...]: ("a list of finite numbers", _numbers),
}


class Config:
    """One table of a study's configuration, with methods that read and check its keys.

    Attributes:
        data: keys and values of the table.
        source: path of the TOML file; empty for a mapping that was given in Python.
    """

    def __init__(self, data: Mapping[str, Any], source: str = "", text: str = "", path: tuple[str, ...] = ()) -> None:
        self.data, self.source = data, source
        self._text, self._path = text, path
        self._asked: dict[str, None] = {}
        self._tables: list[Config] = []
        self._names: set[str] = set()  # names of the experiment's parameters, once it is known; shared by all tables

    def __contains__(self, key: str) -> bool:
        return key in self.data

    @property
    def stem(self) -> str:
        """Name of the file without its suffix; empty for a mapping."""
        return Path(self.source).stem

    def but(self, **values: Any) -> "Config":
        """Return a copy of this table in which some keys have other values."""
        return self._like({**self.data, **values})

    def without(self, *keys: str) -> "Config":
        """Return a copy of this table without some keys."""
        return self._like({key: value for key, value in self.data.items() if key not in keys})

    def _like(self, data: Mapping[str, Any]) -> "Config":
        other = Config(data, self.source, self._text, self._path)
        other._names = self._names
        return other

    def setting(self, parameter: str, value: Any) -> "Config":
        """Return a copy with a parameter set for all trials: in ``[set]``, or in ``set`` of each ``[[scenario]]``."""
        scenarios = self.data.get("scenario")
        if isinstance(scenarios, Sequence):
            return self.but(scenario=[{**old, "set": {**old.get("set", {}), parameter: value}} for old in scenarios])
        return self.but(set={**self.data.get("set", {}), parameter: value})

    def error(self, message: str, key: str = "") -> InputError:
        place = self.source and self.source + line_of(self._text, (*self._path, key) if key else self._path)
        return InputError(f"{place}: {message}" if place else message)

    def wrong(self, key: str, allowed: str) -> InputError:
        return self.error(f"{self.name(key)} = {self.data.get(key)!r}: it must be {allowed}", key)

    def within(self, make: Callable[[], T], key: str = "") -> T:
        """Return the result of ``make``; its errors begin with the file and line of this table, or of its ``key``."""
        try:
            return make()
        except BipedError as error:
            raise self.error(str(error), key) from None

    def name(self, key: str) -> str:
        return ".".join((*self._path, key))

    def get(self, key: str, kind: Any, default: Any = REQUIRED) -> Any:
        """Return the value of a key; raises InputError unless its type is ``kind``, such as ``float | str``."""
        self._asked[key] = None
        if key not in self.data:
            if default is REQUIRED:
                raise self.error(f"{self.name(key)} is missing")
            return default
        allowed = []
        for type_ in get_args(kind) if isinstance(kind, UnionType) else (kind,):
            if type_ in _READERS:
                description, read = _READERS[type_]
                value = read(self.data[key])
                if value is not None:
                    return value
                allowed.append(description)
        raise self.wrong(key, " or ".join(allowed))

    def word(self, key: str, default: Any = REQUIRED, choices: Iterable[str] = ()) -> str:
        word: str = self.get(key, str, default)
        choices = list(choices)
        if key in self.data and choices and word not in choices:
            hint = did_you_mean(word, choices)
            raise self.error(f"{self.name(key)} = {word!r}: {hint}it must be one of {', '.join(choices)}", key)
        return word

    def integer(self, key: str, default: Any = REQUIRED, least: int = 0) -> int:
        value = self.data.get(key, least)
        if not is_finite(value) or not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.wrong(key, f"a whole number, {least} or above")
        return int(self.get(key, int, default))

    def make(self, kind: type[T], /, **given: Any) -> T:
        """Make an object of a dataclass; fields that are not given are read from this table.

        A field's ``metadata`` may have ``key``, the field's name in the table, and ``least``, its least whole number.
        """
        hints = get_type_hints(kind)
        for field in dataclasses.fields(kind):  # type: ignore[arg-type]
            if field.name not in given and field.init:
                key = field.metadata.get("key", field.name)
                default = REQUIRED if field.default is dataclasses.MISSING else field.default
                least = field.metadata.get("least")
                given[field.name] = (
                    self.get(key, hints[field.name], default) if least is None else self.integer(key, default, least)
                )
        return self.within(lambda: kind(**given))

    def table(self, key: str, default: Any = REQUIRED) -> "Config":
        """Return the table under a key; ``finish`` checks the keys of that table, too."""
        if key not in self.data and default is REQUIRED:
            raise self.error(f"the table [{self.name(key)}] is missing")
        value = self._listed(key, Mapping, default, "a table")
        return self._below(key, value)

    def tables(self, key: str, default: Any = REQUIRED) -> "list[Config]":
        tables = self._listed(key, Sequence, default, f"tables, each beginning with [[{key}]]")
        if key in self.data and (not tables or not all(isinstance(item, Mapping) for item in tables)):
            raise self.wrong(key, f"tables, each beginning with [[{key}]]")
        return [self._below(key, item) for item in tables]

    def _below(self, key: str, data: Mapping[str, Any]) -> "Config":
        table = Config(data, self.source, self._text, (*self._path, key))
        table._names = self._names
        self._tables.append(table)
        return table

    def _listed(self, key: str, kind: type, default: Any, allowed: str) -> Any:
        self._asked[key] = None
        if key in self.data and not isinstance(self.data[key], kind):
            raise self.wrong(key, allowed)
        return self.data[key] if key in self.data else self.get(key, kind, default)

    def parameters(self, but: Iterable[str] = ()) -> dict[str, Any]:
        """Return the table's values by dotted parameter name, quoted in the file or not, except the keys ``but``."""
        values: dict[str, Any] = {}
        for key, value in self.data.items():
            if key in but:
                continue
            self._asked[key] = None
            for name, item in self._leaves(key, value):
                if name in values:
                    raise self.error(f"{name} is given twice: leave one of them out", name)
                values[name] = item
        return values

    def _leaves(self, key: str, value: Any) -> Iterator[tuple[str, Any]]:
        """Yield dotted name and value of each entry below an unquoted key, at any depth; a quoted key as it is."""
        is_group = "." not in key or any(name.startswith(f"{key}.") for name in self._names)
        if isinstance(value, Mapping) and value and is_group and key not in self._names:
            for last, item in value.items():
                yield from self._leaves(f"{key}.{last}", item)
        else:
            yield key, value

    def experiment(self) -> "Experiment":
        """Return the named experiment, with the robot, controller and metrics that the configuration names.

        File names in ``data`` are replaced by absolute paths.
        """
        from experiments.catalogue.registry import experiment_named

        name, robot, controller = self.word("experiment"), self.word("robot", ""), self.word("controller", "")
        files = self.get("metric_files", tuple[str, ...], ())
        experiment = self.within(lambda: experiment_named(name), "experiment")
        self.data = {**self.data, "experiment": experiment.address}
        if robot:
            experiment = self.within(lambda: experiment.of_robot(robot), "robot")
            self.data["robot"] = experiment.robot
        if controller:
            experiment = self.within(lambda: experiment.driven_by(controller), "controller")
            self.data["controller"] = experiment.controller
        if files:
            experiment = self.within(lambda: experiment.measured_by(files), "metric_files")
            self.data["metric_files"] = [entry.name for entry in experiment.metrics]
        self._names |= {parameter.name for parameter in experiment.parameters}
        return experiment

    def losses(self) -> tuple[str, ...]:
        """Return the verdicts that count as losses, from the key ``counts``; empty if it is missing."""
        return self.within(lambda: checked_losses(self.get("counts", tuple[str, ...], ())), "counts")

    def changes(self, experiment: "Experiment") -> dict[str, Value]:
        """Return this table as values of an experiment's parameters; an error names the line."""
        return {name: self.value(experiment, name, value) for name, value in self.parameters().items()}

    def value(self, experiment: "Experiment", name: str, value: Any) -> Value:
        plain = tuple(value) if isinstance(value, list) else value
        return self.within(lambda: from_json(experiment.parameter(name), plain), name)

    def read_angles(self, parameter: Parameter, *keys: str) -> None:
        """Convert values with an angle's unit, such as ``90deg``, under these keys if the parameter is an angle."""
        for key in keys if parameter.is_angle else ():
            if isinstance(self.data.get(key), str):
                self.data = {**self.data, key: self.within(partial(parameter.checked, self.data[key]), key)}

    def finish(self) -> None:
        """Raise InputError if this table, or one below it, has a key that was not read; the message lists the keys."""
        for key in self.data:
            if key not in self._asked:
                known = list(self._asked)
                hint = did_you_mean(key, known)
                raise self.error(f"unknown key {self.name(key)!r}; {hint}keys are {', '.join(known)}", key)
        for table in self._tables:
            table.finish()


def is_number(value: Any) -> bool:
    return is_finite(value) and not isinstance(value, bool)


def read_config(path: str | Path) -> Config:
    """Read the configuration in a TOML file; raises InputError if it is not TOML, OSError if it cannot be read."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a TOML file; to show a study's folder, use `biped report`")
    try:
        text = path.read_text(encoding="utf-8")
        return Config(tomllib.loads(text), str(path), text)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not TOML: the text is not in UTF-8 ({error.reason}); save it as UTF-8") from None
    except ValueError as error:
        raise InputError(f"{path}: not TOML: {error}") from None


_HEADER = re.compile(r"^\s*\[\[?(?P<name>[^\[\]]+|.*\".*\".*)\]\]?\s*(#.*)?$")
_KEY = re.compile(r"^\s*(?P<name>(?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*=")


def line_of(text: str, path: Sequence[str]) -> str:
    """Return ``, line 3`` for the line of a key or table, or of the nearest table around it; empty if there is none."""
    dotted = ".".join(path)
    best, best_length = "", 0
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        header, key = _HEADER.match(line), _KEY.match(line)
        if key:
            here = ".".join(part for part in (table, _plain(key["name"])) if part)
        elif header:
            here = table = _plain(header["name"])
        else:
            continue
        inside = dotted == here or dotted.startswith(here + ".")
        if inside and len(here) > best_length:
            best, best_length = f", line {number}", len(here)
    return best


def _plain(name: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in name.strip().split("."))
