"""Things that go by a name, of this project and of anybody: in a file, in a module, or of an installed package.

A name is one of the registry's own, one that an installed package registers as an entry point of the group
``biped.controllers`` (or ``biped.experiments``), ``FILE.py:NAME``, or ``package.module:NAME``; a file or a module that
has only one such thing needs no ``:NAME``. A file is looked for from the current folder, and may import its neighbours.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from biped.errors import InputError
from biped.inputs.known_code import check_known, files_of, remember
from biped.inputs.modules import OWN, digest_of, module_named, module_of_file
from contact.errors import BipedError, did_you_mean

PROJECT = "this project"


@dataclass(frozen=True)
class Entry:
    """A thing that was found."""

    name: str  # by which it is found from any folder
    thing: Any
    origin: str  # ``this project``, a distribution and its version, or a file
    file: Path | None = None  # that it stands in; None for the project's own
    digest: str = ""  # of that file, when it was loaded


@dataclass(frozen=True)
class OpenRegistry:
    """Things of one kind, by name.

    Attributes:
        what: the kind, such as ``controller``; entry points are in the group ``biped.controllers``.
        own: the project's, by name, as ``module:NAME``.
        fits: whether an object is of the kind.
        wanted: what such an object is, in words.
    """

    what: str
    own: Mapping[str, str]
    fits: Callable[[Any], bool]
    wanted: str

    @cached_property
    def installed(self) -> dict[str, EntryPoint]:
        """The entry points of installed packages; the project's own names stay the project's."""
        found = entry_points(group=f"biped.{self.what}s")
        return {entry.name: entry for entry in found if entry.name not in self.own}

    def installed_from(self) -> dict[str, str]:
        """The distribution of each of ``installed``; nothing is imported for it."""
        return {name: _distribution(entry) for name, entry in self.installed.items()}

    def origins(self) -> dict[str, str]:
        """All that have a name of their own, and where each is from."""
        return dict.fromkeys(self.own, PROJECT) | self.installed_from()

    def find(self, name: str) -> Entry:
        """The entry of this name.

        Raises:
            InputError: there is nothing of that name, it cannot be imported, or is of another kind; the message says
                what would be right.
            UnknownCodeError: a saved file names it, and it is code that the user has not used
            (`biped.inputs.known_code`).
        """
        if name in self.own:
            return Entry(name, self._of(name, self.own[name]).thing, PROJECT)
        if name in self.installed:
            entry = self._of(name, self.installed[name].value)
            return Entry(name, entry.thing, _distribution(self.installed[name]), entry.file, entry.digest)
        if ":" in name or name.endswith(".py"):
            check_known(name)
        entry = self._of(name, name)
        remember(entry.name)
        return entry

    def _of(self, name: str, place: str) -> Entry:
        """The thing at ``FILE.py:NAME`` or ``module:NAME``."""
        where, colon, attribute = place.rpartition(":") if ":" in place else (place, "", "")
        if not where.endswith(".py") and not colon:
            raise self._unknown(name)
        try:
            module = module_of_file(Path(where)) if where.endswith(".py") else module_named(where)
        except BipedError as error:
            raise InputError(f"{self.what} {name!r}: {error}") from error
        attribute = attribute or self._only(name, module)
        thing = getattr(module, attribute, None)
        if not self.fits(thing):
            raise InputError(f"{self.what} {name!r}: {self._misfit(module, attribute)}")
        file = Path(str(module.__file__))
        if module.__name__.partition(".")[0] in OWN:
            return Entry(place, thing, PROJECT)
        return Entry(f"{_address(where)}:{attribute}", thing, str(file), file, digest_of(file))

    def _candidates(self, module: ModuleType) -> list[str]:
        """The things of the kind that stand in a module, without those that it imports."""
        return [
            name
            for name, thing in vars(module).items()
            if not name.startswith("_") and self.fits(thing) and _module_of(thing) in (module.__name__, None)
        ]

    def _only(self, name: str, module: ModuleType) -> str:
        found = self._candidates(module)
        if len(found) != 1:
            have = f"it has {', '.join(found)}: name one, as in {name}:{found[0]}" if found else "it has none"
            raise InputError(f"{self.what} {name!r}: {have}; {self._wanted}")
        return found[0]

    def _misfit(self, module: ModuleType, attribute: str) -> str:
        found = self._candidates(module)
        have = f"there is {', '.join(found)}" if found else f"there is no {self.what} in it"
        if hasattr(module, attribute):
            return f"{attribute} is no {self.what}; {have}; {self._wanted}"
        return f"it has no {attribute!r}; {did_you_mean(attribute, found)}{have}"

    @property
    def _wanted(self) -> str:
        return f"a {self.what} is {self.wanted}" if self.what[0] not in "aeiou" else f"an {self.what} is {self.wanted}"

    def _unknown(self, name: str) -> InputError:
        known = list(self.origins())
        return InputError(
            f"unknown {self.what} {name!r}; {did_you_mean(name, known)}{self.what}s are {', '.join(known)}, "
            "FILE.py:NAME, and MODULE:NAME"
        )


def made_from(what: str, entry: Entry, make: Callable[[], Any]) -> Any:
    """Return what an entry's class makes.

    Raises:
        BipedError: a value is impossible.
        InputError: the class raises another error; the message names both.
    """
    try:
        return make()
    except BipedError:
        raise
    except Exception as error:
        raise InputError(f"{what} {entry.name!r} cannot be made: {type(error).__name__}: {error}") from error


def is_own(thing: Any) -> bool:
    """Whether a class or a function is the project's, or Python's own."""
    return thing.__module__.partition(".")[0] in (*OWN, "builtins")


def digest_at(name: str) -> str:
    """A digest of the file of an ``Entry`` of this name, as it is now, which is not run; empty where there is none."""
    where = name.rpartition(":")[0]
    if Path(name).is_absolute() and not where.endswith(".py"):  # a file that a law reads
        return digest_of(Path(name))
    files = files_of(where)
    return digest_of(files[-1]) if files else ""


def _module_of(thing: Any) -> str | None:
    """Where a class is defined; of objects nobody knows."""
    return thing.__module__ if isinstance(thing, type) else None


def _distribution(entry: EntryPoint) -> str:
    return PROJECT if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"


def _address(where: str) -> str:
    """A file by its whole path, so that any process finds it; a module by its name."""
    return str(Path(where).resolve()) if where.endswith(".py") else where
