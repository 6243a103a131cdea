"""Registry of the project's and the user's controllers, experiments, contact laws and metrics, by name.

A name is that of an object of the project, or of an entry point of an installed package (in the group
``biped.controllers``, ``biped.experiments``, …), or ``FILE.py:NAME`` or ``package.module:NAME``, where ``:NAME`` may be
left out if there is only one candidate. Paths are relative to the current folder; files may import their neighbours.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from biped.errors import InputError
from biped.inputs import modules
from contact.errors import BipedError, did_you_mean

PROJECT = "this project"


@dataclass(frozen=True)
class Entry:
    """An object or class that was found by its name, such as a controller, with its file."""

    name: str  # name that is valid in any folder
    thing: Any  # the object or class
    origin: str  # ``this project``, a distribution and its version, or a file
    file: Path | None = None  # file that defines it; None for the project's objects
    digest: str = ""  # digest of the file when it was loaded; empty for the project's objects


@dataclass(frozen=True)
class OpenRegistry:
    """Objects or classes of one kind, by name.

    Attributes:
        what: name of the kind, such as ``controller``; entry points are in the group ``biped.controllers``.
        builtin: the project's objects, as ``module:NAME``, by name.
        fits: function that returns True for an object of the kind.
        requirement: description of an object of the kind, for messages.
    """

    what: str
    builtin: Mapping[str, str]
    fits: Callable[[Any], bool]
    requirement: str

    @cached_property
    def installed(self) -> dict[str, EntryPoint]:
        """Entry points of installed packages, by name, without those that have the name of a project's object."""
        entries = entry_points(group=f"biped.{self.what}s")
        return {entry.name: entry for entry in entries if entry.name not in self.builtin}

    def installed_from(self) -> dict[str, str]:
        """Return the distribution of each entry in ``installed``, without importing it."""
        return {name: _distribution(entry) for name, entry in self.installed.items()}

    def origins(self) -> dict[str, str]:
        """Return all names, with the origin of each."""
        return dict.fromkeys(self.builtin, PROJECT) | self.installed_from()

    def find(self, name: str) -> Entry:
        """Return the entry of this name.

        Raises:
            InputError: the name is unknown, it cannot be imported, or its object is of another kind.
            SavedNameError: only a saved file, not the user, names this code.
        """
        if name in self.builtin:
            return Entry(name, self._of(name, self.builtin[name]).thing, PROJECT)
        if name in self.installed:
            entry = self._of(name, self.installed[name].value)
            return Entry(name, entry.thing, _distribution(self.installed[name]), entry.file, entry.digest)
        if ":" in name or name.endswith(".py"):
            modules.check_may_import(name)
        entry = self._of(name, name)
        modules.may_import(entry.name)
        return entry

    def _of(self, name: str, place: str) -> Entry:
        """Return the entry of the object at ``FILE.py:NAME`` or ``module:NAME``."""
        where, colon, attribute = place.rpartition(":") if ":" in place else (place, "", "")
        if not where.endswith(".py") and not colon:
            raise self._unknown(name)
        try:
            module = modules.module_of_file(Path(where)) if where.endswith(".py") else modules.module_named(where)
        except BipedError as error:
            raise InputError(f"{self.what} {name!r}: {error}") from error
        attribute = attribute or self._only(name, module)
        thing = getattr(module, attribute, None)
        if not self.fits(thing):
            raise InputError(f"{self.what} {name!r}: {self._misfit(module, attribute)}")
        file = Path(str(module.__file__))
        if module.__name__.partition(".")[0] in modules.PROJECT_PACKAGES:
            return Entry(place, thing, PROJECT)
        address = str(Path(where).resolve()) if where.endswith(".py") else where  # a name that is valid in any process
        return Entry(f"{address}:{attribute}", thing, str(file), file, modules.digest_of(file))

    def _candidates(self, module: ModuleType) -> list[str]:
        """Return the names of all objects of the kind that a module defines, without imported classes."""
        return [
            name
            for name, thing in vars(module).items()
            if not name.startswith("_")
            and self.fits(thing)
            and (not isinstance(thing, type) or thing.__module__ == module.__name__)
        ]

    def _only(self, name: str, module: ModuleType) -> str:
        names = self._candidates(module)
        if len(names) != 1:
            have = f"it has {', '.join(names)}: name one, as in {name}:{names[0]}" if names else f"no {self.what} in it"
            raise InputError(f"{self.what} {name!r}: {have}; {self._requirement}")
        return names[0]

    def _misfit(self, module: ModuleType, attribute: str) -> str:
        names = self._candidates(module)
        have = f"there is {', '.join(names)}" if names else f"there is no {self.what} in it"
        if hasattr(module, attribute):
            return f"{attribute} is no {self.what}; {have}; {self._requirement}"
        return f"it has no {attribute!r}; {did_you_mean(attribute, names)}{have}"

    @property
    def _requirement(self) -> str:
        return (
            f"a {self.what} is {self.requirement}"
            if self.what[0] not in "aeiou"
            else f"an {self.what} is {self.requirement}"
        )

    def _unknown(self, name: str) -> InputError:
        known = list(self.origins())
        return InputError(
            f"unknown {self.what} {name!r}; {did_you_mean(name, known)}{self.what}s are {', '.join(known)}, "
            "FILE.py:NAME, and MODULE:NAME"
        )


def made_from(what: str, entry: Entry, make: Callable[[], Any]) -> Any:
    """Return the object that ``make`` makes of an entry.

    Raises:
        BipedError: a value is impossible.
        InputError: the entry's class raises another error; the message names both.
    """
    try:
        return make()
    except BipedError:
        raise
    except Exception as error:
        raise InputError(f"{what} {entry.name!r} cannot be made: {type(error).__name__}: {error}") from error


def is_project_code(thing: Any) -> bool:
    """Return True for a class or function of the project or of Python."""
    return thing.__module__.partition(".")[0] in (*modules.PROJECT_PACKAGES, "builtins")


def digest_at(name: str) -> str:
    """Return the present digest of the file of an ``Entry`` of this name, without running it; empty without a file."""
    where = name.rpartition(":")[0]
    if Path(name).is_absolute() and not where.endswith(".py"):  # a file that a controller reads
        return modules.digest_of(Path(name))
    file = modules.file_of(where)
    return modules.digest_of(file) if file else ""


def _distribution(entry: EntryPoint) -> str:
    return PROJECT if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
