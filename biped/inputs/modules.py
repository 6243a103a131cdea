"""Modules of users: in a file, or by name, from the folder where a program was started or installed.

Files that their code reads while it is imported, made and reset, such as a law's weights, are taken note of: Python
reports each file that it opens (``sys.addaudithook``). A file that a compiled library opens is known by its name, if a
function of Python was called with it.
"""

import hashlib
import importlib
import importlib.util
import os
import sys
import sysconfig
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from biped.errors import InputError
from contact.errors import BipedError, did_you_mean

#: This project's packages.
OWN = ("biped", "contact", "controllers", "experiments", "formulations", "kernelcache")


def digest_of(file: Path, length: int = 16) -> str:
    """The first so many hexadecimal digits of a file's SHA-256; empty where there is no file."""
    try:
        found = file.stat()
    except OSError:
        return ""
    return _digest(file, found.st_mtime_ns, found.st_size, found.st_ino)[:length] if file.is_file() else ""


@lru_cache
def _digest(file: Path, *_changed: int) -> str:
    """Read anew where a file has changed since: each trial of a study asks."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


#: Whether names come from saved files: None if the user gives them, False from a saved file, True if that is trusted.
_trusted: ContextVar[bool | None] = ContextVar("trusted", default=None)
#: Code that the user of this process has named.
_named: set[str] = set()


class SavedNameError(InputError):
    """A saved file names code that the user has not named."""


@contextmanager
def saved_names() -> Iterator[None]:
    """Import code by the names in saved files only if the user has named it too; else raise SavedNameError."""
    token = _trusted.set(bool(_trusted.get()))
    try:
        yield
    finally:
        _trusted.reset(token)


@contextmanager
def trusting(trusted: bool = True) -> Iterator[None]:
    """Import all code that saved files name, if ``trusted``."""
    token = _trusted.set(trusted or _trusted.get())
    try:
        yield
    finally:
        _trusted.reset(token)


def may_import(*names: str) -> bool:
    """Return whether code of these names may be imported; names that the user gives are allowed from now on."""
    if _trusted.get() is not False:
        _named.update(names)
    return _trusted.get() is not False or _named.issuperset(names)


def check_may_import(name: str) -> None:
    """Raise SavedNameError if code of this name may not be imported."""
    if not may_import(name):
        raise SavedNameError(
            f"a saved file names the code {name}, which is run only if you name it in the command or add --trust: read "
            "it first (in Python: `with biped.inputs.modules.trusting():`)"
        )


def file_of(where: str) -> Path | None:
    """Return this file, or the file of the module of this name; nothing is imported."""
    if where.endswith(".py"):
        return Path(where).expanduser().resolve()
    first, *others = where.split(".")
    try:
        spec = importlib.util.find_spec(first) or PathFinder.find_spec(first, [str(Path.cwd())])
        for other in others:  # to ask for the module as a whole would import its packages
            places = list((spec and spec.submodule_search_locations) or ())
            spec = PathFinder.find_spec(f"{spec and spec.name}.{other}", places)
    except (ImportError, ValueError):
        return None
    return Path(str(spec.origin)) if spec is not None and spec.has_location else None


def module_of_file(path: Path) -> ModuleType:
    """The module of a file, imported once for each content that it has; it may import its neighbours.

    Raises:
        BipedError: there is no such file, or it cannot be imported; the message says where in it.
    """
    if not path.is_file():
        near = did_you_mean(path.name, (file.name for file in path.parent.glob("*.py"))).strip()
        raise BipedError(f"there is no file {path}{near and f'; {near}'}")
    path = path.resolve()
    # Machine code that is kept on disk refers to the law's module: the name is the same in each process.
    words = hashlib.sha256(f"{path} {digest_of(path)}".encode()).hexdigest()[:16]
    name = f"{path.stem}_{words}"
    if name in sys.modules:
        return sys.modules[name]
    _find_also(path.parent)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        with reads_of(name):
            spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise _not_imported(str(path), error) from error
    return module


def module_named(name: str) -> ModuleType:
    """A module that is installed, or in the current folder.

    Raises:
        BipedError: there is none, or it cannot be imported.
    """
    _find_also(Path.cwd())
    try:
        with reads_of(name):
            return importlib.import_module(name)
    except Exception as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and (name == missing or name.startswith(f"{missing}.")):
            raise BipedError(f"there is no module {missing}, neither installed nor in {Path.cwd()}") from None
        if name.partition(".")[0] in OWN:
            raise
        raise _not_imported(name, error) from error


def _find_also(folder: Path) -> None:
    """Let modules of a folder be imported, after all that are found without it."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _not_imported(what: str, error: Exception) -> BipedError:
    """With the line of the file where it happened, or that led to it, as far as it is known."""
    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        places.append((str(error.filename), error.lineno))
    file, line = next((place for place in reversed(places) if place[0] == what), places[-1])
    place = f"{what}, line {line}" if file == what else f"{what} ({file}, line {line})"
    return BipedError(f"{place}: it cannot be imported: {type(error).__name__}: {error}")


#: Digests of the files that were read, by path, by the first name of the module whose code it was for.
_read: dict[str, dict[str, str]] = {}
_now = threading.local()
_listen = cache(sys.addaudithook)  # a hook cannot be taken away


@contextmanager
def reads_of(module: str) -> Iterator[None]:
    """Take note of the files that this thread reads in here, for code in a module of this name."""
    whose = module.partition(".")[0]
    if whose in (*OWN, "builtins"):
        yield
        return
    _listen(_on_event)
    before, profile = getattr(_now, "whose", ""), sys.getprofile()
    _now.whose = whose
    sys.setprofile(_on_call if profile is None else profile)
    try:
        yield
    finally:
        sys.setprofile(profile)
        _now.whose = before


def files_read_by(module: str) -> dict[str, str]:
    """Return digests, by path, of the files that were read for code in a module of this name."""
    return dict(_read.get(module.partition(".")[0], {}))


def note(path: Any) -> None:
    """Take note of a file, if this is a path of one, for the module that is read for."""
    whose = getattr(_now, "whose", "")
    if not whose or not issubclass(type(path), str | os.PathLike) or not os.path.isfile(path):
        return
    _now.whose = ""  # its digest is read too
    try:
        file = Path(path).absolute()  # a link may lead elsewhere later
        if file.parent.name == "__pycache__":
            file = file.parents[1] / f"{file.name.partition('.')[0]}.py"
        if file.is_file() and _is_somebodys(file.resolve(), whose):
            _read.setdefault(whose, {})[str(file)] = digest_of(file)
    finally:
        _now.whose = whose


def _is_somebodys(file: Path, whose: str) -> bool:
    """Return whether a file is not the module's own, the system's, Python's, this project's, or another package's."""
    place = Path(str(vars(sys.modules[whose]).get("__file__")) if whose in sys.modules else "").resolve()
    own = place.name == "__init__.py" and file.is_relative_to(place.parent)
    return own or (file != place and not any(file.is_relative_to(folder) for folder in _folders_of_others()))


@cache
def _folders_of_others() -> list[Path]:
    own = [str(Path(str(sys.modules[name].__file__)).parent) for name in OWN if name in sys.modules]
    installed = [folder for folder in sys.path if folder.endswith("-packages")]
    known = [*installed, sysconfig.get_path("stdlib"), "/dev", "/proc", "/sys", "/etc", "/usr", *own]
    return [Path(folder).resolve() for folder in known]


def _on_event(event: str, arguments: tuple[Any, ...]) -> None:
    whose = getattr(_now, "whose", "")
    if event == "open" and whose:
        path, mode, flags = arguments
        writes = set("wax+") & set(mode) if isinstance(mode, str) else flags & (os.O_WRONLY | os.O_RDWR)
        path = os.fsdecode(path) if isinstance(path, bytes) else path
        if not writes:
            note(path)
        elif not isinstance(path, int):  # a number is that of an open file
            _read.get(whose, {}).pop(str(Path(path).absolute()), None)


def _on_call(frame: FrameType, event: str, _: Any) -> None:
    """Look for files among the arguments of a function that is called."""
    if event == "call":
        for name in frame.f_code.co_varnames[: frame.f_code.co_argcount]:
            note(frame.f_locals.get(name))
