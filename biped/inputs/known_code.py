"""Code of users, and whether names that stand in saved files may import it.

A saved run or study names its robot, controller, experiment and metrics, and such a name may be anybody's code. Whoever
only opens a folder has not asked for that code to be run. So there names import (``only_known``) what this user has
named before: when a run or a study is saved, each ``FILE.py:NAME`` and ``module:NAME`` that its program was given is
noted in the user's data folder (``BIPED_DATA_DIR``, if that is set), with a digest of its files. Their places are part
of the digest, since a file may import its neighbours, and the name is noted with it, since of a module not everything
may be meant to be called.
"""

import hashlib
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

import platformdirs

from biped.inputs.modules import digest_of
from contact.errors import BipedError

#: Who gives the names: a user; a saved file; a saved file that the user trusts.
NAMED, SAVED, TRUSTED = "named", "saved", "trusted"
_given: ContextVar[str] = ContextVar("given", default=NAMED)

_named: dict[str, None] = {}  # lines of the file of what is known, of what this process was given by name


class UnknownCodeError(BipedError):
    """A saved file names code that its reader has not used."""


@contextmanager
def only_known() -> Iterator[None]:
    """Within it, names are of a saved file: what they import is known, or an UnknownCodeError."""
    token = _given.set(TRUSTED if _given.get() == TRUSTED else SAVED)
    try:
        yield
    finally:
        _given.reset(token)


@contextmanager
def trusting() -> Iterator[None]:
    """Within it, saved files may name what they like, as if the user named it."""
    token = _given.set(TRUSTED)
    try:
        yield
    finally:
        _given.reset(token)


def is_unknown(name: str) -> bool:
    """Whether this is code that the user has not named, as it is now, nor trusts; a file that is missing is none."""
    where = name.rpartition(":")[0] or name
    if _given.get() == TRUSTED or (where.endswith(".py") and not files_of(where)):
        return False
    line = _line(name)
    return not line or not (line in _named or line in _noted())


def check_known(name: str) -> None:
    """Raise UnknownCodeError where a saved file names code, and that is not known as it is now; nothing is imported."""
    if _given.get() == SAVED and is_unknown(name):
        raise UnknownCodeError(
            f"{name!r} is code that a saved file names, and that you have not used on this machine as it is now: read "
            "it, and give `biped rerun --trust` if it is to be run, or use it in a run of your own"
        )


def remember(name: str) -> None:
    """Take note that the user has named this code, which was found; ``keep`` writes it down."""
    line = "" if _given.get() == SAVED else _line(name)
    if line:
        _named[line] = None


def keep() -> None:
    """Write down what the user has named, where it is not yet; what cannot be written is not known next time."""
    file, noted = _file(), _noted()
    new = [line for line in _named if line not in noted]
    if new and (noted or not file.exists()):
        with suppress(OSError):
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            with open(descriptor, "a", encoding="utf-8") as known:
                known.write("".join(f"{line}\n" for line in new))


def files_of(where: str) -> list[Path]:
    """The files that are run when this file, or the module of this name, is imported, by themselves; none is run."""
    if where.endswith(".py"):
        files = [Path(where).expanduser().resolve()]
    else:
        files = [Path(str(spec.origin)) for spec in _specs(where)]
    return files if all(file.is_file() for file in files) else []


def _specs(module: str) -> list[ModuleSpec]:
    """Of a module and of the packages that it is in; empty where one has no file.

    They are looked for one in the other, since to ask for the module as a whole imports the packages.
    """
    first, *others = module.split(".")
    try:
        found = [importlib.util.find_spec(first) or PathFinder.find_spec(first, [str(Path.cwd())])]
        for other in others:
            above = found[-1]
            if above is None:
                return []
            found.append(PathFinder.find_spec(f"{above.name}.{other}", list(above.submodule_search_locations or ())))
    except (ImportError, ValueError, KeyError):
        return []
    specs = [spec for spec in found if spec is not None and spec.has_location]
    return specs if len(specs) == len(found) else []


def _line(name: str) -> str:
    """A digest and what it is of, as ``sha256sum`` has them; empty where there are no files."""
    where, _, attribute = name.rpartition(":")
    files = files_of(where)
    if not files:
        return ""
    digest = hashlib.sha256("\n".join(f"{digest_of(file, 64)}  {file}" for file in files).encode()).hexdigest()
    return f"{digest}  {files[0] if where.endswith('.py') else where}:{attribute}"


def _file() -> Path:
    return Path(os.environ.get("BIPED_DATA_DIR") or platformdirs.user_data_dir("biped", appauthor=False)) / "known-code"


def _noted() -> frozenset[str]:
    """What was written down; nothing, where others may have written it."""
    from kernelcache.cache import distrust

    try:
        file = _file()
        if distrust(file) or distrust(file.parent):
            return frozenset()
        return frozenset(file.read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        return frozenset()
