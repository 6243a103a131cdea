"""A study's configuration: a TOML file, or the same as a mapping, read key by key and checked.

Every key that is there has to be asked for; ``finish`` refuses the others. Errors name the file and the line.
"""

import difflib
import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from biped.errors import InputError

if TYPE_CHECKING:
    from experiments.catalogue.experiment import Experiment
    from experiments.catalogue.parameters.parameter import Value

T = TypeVar("T")


class _Required:
    """Says that a key has to be there."""


REQUIRED: Any = _Required()


class Config:
    """One table of a configuration.

    Attributes:
        data: the table, as it was given.
        source: the file's name; empty for a mapping.
    """

    def __init__(self, data: Mapping[str, Any], source: str = "", text: str = "", path: tuple[str, ...] = ()) -> None:
        self.data, self.source = data, source
        self._text, self._path = text, path
        self._asked: dict[str, None] = {}
        self._tables: list[Config] = []

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def error(self, message: str, key: str = "") -> InputError:
        """An error about a key of this table, or about the table."""
        place = self.source and self.source + line_of(self._text, (*self._path, key) if key else self._path)
        return InputError(f"{place}: {message}" if place else message)

    def name(self, key: str) -> str:
        """A key with its table's name before it."""
        return ".".join((*self._path, key))

    def take(self, key: str, default: Any = REQUIRED) -> Any:
        """What is there, unchecked.

        Raises:
            InputError: nothing is there, and there is no default.
        """
        self._asked[key] = None
        if key in self.data:
            return self.data[key]
        if default is REQUIRED:
            raise self.error(f"{self.name(key)} is missing")
        return default

    def _typed(self, key: str, default: Any, right: bool, wanted: str) -> Any:
        if key not in self.data or right:
            return self.take(key, default)
        raise self.wrong(key, wanted)

    def wrong(self, key: str, wanted: str) -> InputError:
        """The error of a value that is not what is wanted."""
        return self.error(f"{self.name(key)} = {self.data.get(key)!r}: it must be {wanted}", key)

    def word(self, key: str, default: Any = REQUIRED, choices: Iterable[str] = ()) -> str:
        """A text, one of the choices if there are any."""
        value = self.data.get(key)
        found: str = self._typed(key, default, isinstance(value, str), "a text")
        choices = list(choices)
        if key in self.data and choices and found not in choices:
            raise self.error(
                f"{self.name(key)} = {found!r}: {_meant(found, choices)}it must be one of {', '.join(choices)}", key
            )
        return found

    def number(self, key: str, default: Any = REQUIRED) -> float:
        """A finite number."""
        value = self.data.get(key)
        return self._typed(key, default, is_number(value), "a finite number")

    def whole(self, key: str, default: Any = REQUIRED, least: int = 0) -> int:
        """A whole number."""
        value = self.data.get(key)
        right = isinstance(value, int) and not isinstance(value, bool) and value >= least
        return self._typed(key, default, right, f"a whole number, {least} or above")

    def switch(self, key: str, default: Any = REQUIRED) -> bool:
        """True or false."""
        return self._typed(key, default, isinstance(self.data.get(key), bool), "true or false")

    def items(self, key: str, default: Any = REQUIRED) -> list[Any]:
        """A list with something in it."""
        value = self.data.get(key)
        right = isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 0
        return list(self._typed(key, default, right, "a list"))

    def words(self, key: str, default: Any = REQUIRED) -> list[str]:
        """A list of texts, each once."""
        found = self.items(key, default)
        if not all(isinstance(item, str) for item in found) or len(set(found)) != len(found):
            raise self.wrong(key, "a list of different texts")
        return found

    def table(self, key: str, default: Any = REQUIRED) -> "Config":
        """A table below this one; ``finish`` looks into it too."""
        value = self._typed(key, default, isinstance(self.data.get(key), Mapping), "a table")
        table = Config(value, self.source, self._text, (*self._path, key))
        self._tables.append(table)
        return table

    def tables(self, key: str, default: Any = REQUIRED) -> "list[Config]":
        """A list of tables, ``[[key]]``."""
        found = self.items(key, default)
        if not all(isinstance(item, Mapping) for item in found):
            raise self.wrong(key, f"tables, each beginning with [[{key}]]")
        tables = [Config(item, self.source, self._text, (*self._path, key)) for item in found]
        self._tables += tables
        return tables

    def parameters(self, but: Iterable[str] = ()) -> dict[str, Any]:
        """All of this table but some keys, by the dotted names of parameters, quoted in the file or not."""
        found: dict[str, Any] = {}
        for key, value in self.data.items():
            if key in but:
                continue
            self._asked[key] = None
            nested = value if isinstance(value, Mapping) and "." not in key else {}
            for name, item in ((f"{key}.{last}", item) for last, item in nested.items()):
                if name in found:
                    raise self.error(f"{name} is there twice", name)
                found[name] = item
            if not nested:
                if key in found:
                    raise self.error(f"{key} is there twice", key)
                found[key] = value
        return found

    def finish(self) -> None:
        """Refuse what nothing has asked for, here and in the tables below.

        Raises:
            InputError: there is such a key; the message says what it could be.
        """
        for key in self.data:
            if key not in self._asked:
                known = list(self._asked)
                raise self.error(
                    f"unknown key {self.name(key)!r}; {_meant(key, known)}keys are {', '.join(known)}", key
                )
        for table in self._tables:
            table.finish()


def is_number(value: Any) -> bool:
    """Whether a value of TOML is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _meant(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {close[0]!r}? " if close else ""


def read_config(path: str | Path) -> Config:
    """The configuration in a file.

    Raises:
        InputError: it is not TOML.
        OSError: it cannot be read.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        return Config(tomllib.loads(text), str(path), text)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not TOML: it is not a text in UTF-8 ({error.reason})") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from None


_HEADER = re.compile(r"^\s*\[\[?(?P<name>[^\[\]]+|.*\".*\".*)\]\]?\s*(#.*)?$")
_KEY = re.compile(r"^\s*(?P<name>(?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*=")


def line_of(text: str, path: Sequence[str]) -> str:
    """``, line 3`` where the file has this key or table, or the nearest table around it; else nothing."""
    wanted = ".".join(path)
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
        inside = wanted == here or wanted.startswith(here + ".")
        if inside and len(here) > best_length:
            best, best_length = f", line {number}", len(here)
    return best


def _plain(name: str) -> str:
    """A dotted name without quotes and blanks."""
    return ".".join(part.strip().strip("\"'") for part in name.strip().split("."))


def changes_from(config: Config, experiment: "Experiment") -> "dict[str, Value]":
    """The values of parameters in a table.

    Raises:
        InputError: one does not exist, or is not of its kind; the message says in which line.
    """
    found: dict[str, Any] = {}
    for name, value in config.parameters().items():
        try:
            found[name] = experiment.parameter(name).checked(tuple(value) if isinstance(value, list) else value)
        except InputError as error:
            raise config.error(str(error), name) from None
    return found
