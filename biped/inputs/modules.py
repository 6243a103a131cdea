"""Import of users' modules: from a file, or by name from the current folder or an installed package."""

import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

from biped.errors import InputError
from contact.errors import BipedError, did_you_mean

#: Packages of this project.
PROJECT_PACKAGES = ("biped", "contact", "controllers", "experiments", "formulations", "kernelcache")


def digest_of(file: Path, length: int = 16) -> str:
    """Return the first ``length`` hexadecimal digits of a file's SHA-256; empty if there is no file."""
    try:
        status = file.stat()
    except OSError:
        return ""
    return _digest(file, status.st_mtime_ns, status.st_size, status.st_ino)[:length] if file.is_file() else ""


@lru_cache(maxsize=1024)
def _digest(file: Path, *_changed: int) -> str:
    """Return the SHA-256 of a file; cached until the file changes, since each trial of a study needs it."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


#: Origin of the names of code: None: the user, False: a saved file, True: a trusted saved file.
_trusted: ContextVar[bool | None] = ContextVar("trusted", default=None)
#: Names of code that the user has given in this process.
_named: set[str] = set()


class SavedNameError(InputError):
    """A saved file names code that the user has not named, so that it is not run."""


@contextmanager
def saved_names() -> Iterator[None]:
    """Within this context, code named in saved files is imported only if the user has named it; else SavedNameError."""
    token = _trusted.set(bool(_trusted.get()))
    try:
        yield
    finally:
        _trusted.reset(token)


@contextmanager
def trusting(trusted: bool = True) -> Iterator[None]:
    """Within this context, import all code that saved files name, if ``trusted``."""
    token = _trusted.set(trusted or _trusted.get())
    try:
        yield
    finally:
        _trusted.reset(token)


def may_import(*names: str) -> bool:
    """Return True if code of these names may be imported; names that come from the user are allowed from now on."""
    if _trusted.get() is not False:
        _named.update(names)
    return _trusted.get() is not False or _named.issuperset(names)


def check_may_import(name: str) -> None:
    """Raise SavedNameError if code of this name may not be imported."""
    if not may_import(name):
        raise SavedNameError(
            f"a saved file names the code {name}, which is run only if you name it in the command or add --trust: read "
            "the code first (in Python: `with biped.inputs.modules.trusting():`)"
        )


def file_of(where: str) -> Path | None:
    """Return the path of a ``.py`` file or of a module's file, without importing it; None if there is none."""
    if where.endswith(".py"):
        return Path(where).expanduser().resolve()
    first, *inner = where.split(".")
    try:
        spec = importlib.util.find_spec(first) or PathFinder.find_spec(first, [str(Path.cwd())])
        for other in inner:  # finding the full name at once would import its packages
            places = list((spec and spec.submodule_search_locations) or ())
            spec = PathFinder.find_spec(f"{spec and spec.name}.{other}", places)
    except (ImportError, ValueError):
        return None
    return Path(str(spec.origin)) if spec is not None and spec.has_location else None


def module_of_file(path: Path) -> ModuleType:
    """Return the module of a file, imported once per content of the file; it can import modules of its folder.

    Raises:
        BipedError: the file is missing or cannot be imported; the message gives the line.
    """
    if not path.is_file():
        near = did_you_mean(path.name, (file.name for file in path.parent.glob("*.py"))).strip()
        raise BipedError(f"there is no file {path}{near and f'; {near}'}")
    path = path.resolve()
    # Machine code on disk refers to a controller's module, so that its name must be equal in all processes.
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
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise _not_imported(str(path), error) from error
    return module


def module_named(name: str) -> ModuleType:
    """Return the module of this name, which is installed or in the current folder.

    Raises:
        BipedError: the module is missing or cannot be imported.
    """
    _find_also(Path.cwd())
    try:
        return importlib.import_module(name)
    except Exception as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and (name == missing or name.startswith(f"{missing}.")):
            raise BipedError(f"there is no module {missing}: it is neither installed nor in {Path.cwd()}") from None
        if name.partition(".")[0] in PROJECT_PACKAGES:
            raise
        raise _not_imported(name, error) from error


def _find_also(folder: Path) -> None:
    """Append a folder to the search path of modules."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _not_imported(what: str, error: Exception) -> BipedError:
    """Return the error of a failed import, with the line in the user's file if known."""
    places = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        places.append((str(error.filename), error.lineno))
    file, line = next((place for place in reversed(places) if place[0] == what), places[-1])
    place = f"{what}, line {line}" if file == what else f"{what} ({file}, line {line})"
    return BipedError(f"{place}: it cannot be imported: {type(error).__name__}: {error}")


def files_in_same_folder(module: str) -> list[Path]:
    """Return the files of all other imported modules in the folder of a user's module, by the module's name."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or module.partition(".")[0] in PROJECT_PACKAGES:
        return []
    path, modules = Path(file).absolute(), [*sys.modules.values()]
    files = {Path(str(other.__file__)).absolute() for other in modules if getattr(other, "__file__", None)}
    return sorted(other for other in files if other.parent == path.parent and other != path)
