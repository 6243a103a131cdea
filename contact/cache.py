"""Compiled kernels on disk, where nobody else can have put them.

What is loaded from here is run. Folders and files are therefore taken only if they belong to this user and no one
else may write to them; folders are made so. A file that is damaged, or of another machine or program, is compiled anew.
"""

import atexit
import contextlib
import fcntl
import hashlib
import logging
import os
import pickle
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import platformdirs
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator

from contact.bitcode import rebuilt

_KEPT_GENERATIONS = 4
_NAME = "biped-kernels"
_DIGEST = 32  # bytes of the checksum before the content of a file

# Sentences for who runs the program; without a handler of its own, ``logging`` puts them on the standard error.
_log = logging.getLogger("biped")


def say(sentence: str) -> None:
    """Tell the user what is not as it should be, once."""
    if sentence not in _said:
        _said.add(sentence)
        _log.warning("biped: %s", sentence)


_said: set[str] = set()


def distrust(path: Path) -> str | None:
    """Why what is in this file or folder may be someone else's; None if only this user can have written it.

    Raises:
        OSError: it cannot be looked at.
    """
    found = os.lstat(path)
    if stat.S_ISLNK(found.st_mode):
        return "it is a link"
    if found.st_uid != os.geteuid():
        return f"it belongs to another user (uid {found.st_uid}, and this is {os.geteuid()})"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "other users may write to it"
    return None


def _make_private(folder: Path) -> str | None:
    """Make a folder that only this user can enter, if it is not there; why it cannot be used, or None."""
    try:
        if not folder.is_dir():
            # Not with ``parents=True``, which gives the mode only to the last of them.
            if not folder.parent.is_dir():
                found = _make_private(folder.parent)
                if found is not None:
                    return found
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
        found = distrust(folder)
        if found is not None:
            return f"{folder}: {found}"
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return f"{error.filename or folder}: {error.strerror or error}"


def _chosen_root(chosen: str) -> Path:
    root = Path(os.path.realpath(chosen))
    problem = None
    if root.exists():
        problem = distrust(root) if root.is_dir() else "it is no folder"
    if problem is not None:
        raise PermissionError(
            f"BIPED_CACHE_DIR = {chosen}: {problem}; compiled kernels are run as they are found, so it must be a "
            "folder of your own that only you can write to (chmod go-w), or one that does not exist yet"
        )
    return root


def _for_this_process(problem: str) -> Path:
    """A folder of its own for one process, in which nobody can have put anything."""
    folder = Path(tempfile.mkdtemp(prefix=f"{_NAME}-"))
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    say(
        f"compiled kernels cannot be kept for the next time, since {problem}; "
        "set BIPED_CACHE_DIR to a folder that only you can write to"
    )
    return folder


def _drop_old_generations(root: Path) -> None:
    ours = [entry for entry in root.iterdir() if entry.is_dir() and re.fullmatch("[0-9a-f]{16}", entry.name)]
    generations = sorted(ours, key=lambda entry: entry.stat().st_mtime, reverse=True)
    for stale in generations[_KEPT_GENERATIONS:]:
        shutil.rmtree(stale, ignore_errors=True)


@cache
def folder_of(generation: str) -> Path:
    """The folder of what was compiled from the same sources: below ``BIPED_CACHE_DIR`` if that is set, else the user's.

    Where that cannot be written, or may be someone else's, a new folder in the system's temporary one serves this
    process alone.

    Raises:
        PermissionError: someone else can write to ``BIPED_CACHE_DIR``, or has made it.
    """
    chosen = os.environ.get("BIPED_CACHE_DIR")
    root = (_chosen_root(chosen) if chosen else platformdirs.user_cache_path("biped-balance")) / _NAME
    folder = root / generation
    is_new = not folder.is_dir()
    problem = _make_private(root) or _make_private(folder)
    if problem is not None:
        folder = _for_this_process(problem) / generation
        folder.mkdir(mode=0o700)
    elif is_new:
        _drop_old_generations(root)
    return folder


class _Locator(_CacheLocator):  # type: ignore[misc]
    """Where a function's files are."""

    def __init__(self, folder: Path, function: Callable[..., Any]) -> None:
        code = function.__code__
        self._py_file, self._lineno = code.co_filename, code.co_firstlineno
        self._path = str(folder / self.get_suitable_cache_subpath(code.co_filename))

    def ensure_cache_path(self) -> None:
        problem = _make_private(Path(self._path))
        if problem is not None:
            raise PermissionError(problem)

    def get_cache_path(self) -> str:
        return self._path

    def get_source_stamp(self) -> str:
        return ""  # the folder and the keys know the sources

    def get_disambiguator(self) -> str:
        return str(self._lineno)


class _Compiled(CompileResultCacheImpl):  # type: ignore[misc]
    """Names of a function's files; Numba's, but for where they are."""

    def __init__(self, folder: Path, function: Callable[..., Any]) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Locator(folder, function)
        module = Path(function.__code__.co_filename).stem
        self._filename_base = self.get_filename_base(f"{module}.{function.__qualname__}", "")

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """A ``CompileResult`` from what was cached of it."""
        _, kind, _ = payload[0]
        return rebuilt(target_context, *payload) if kind == "bitcode" else super().rebuild(target_context, payload)


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """An index and its data, each with a checksum, read only if nobody else can have written them."""

    def _read(self, path: str) -> Any:
        """The object in a file; None if it cannot be trusted, or is damaged; raises FileNotFoundError."""
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            with open(handle, "rb") as file:
                found = os.fstat(handle)
                if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                    raise ValueError("other users can have written it")
                content = file.read()
            if hashlib.sha256(content[_DIGEST:]).digest() != content[:_DIGEST]:
                raise ValueError("it is damaged")
            return pickle.loads(content[_DIGEST:])
        except FileNotFoundError:
            raise
        except Exception as error:  # pickle raises nearly anything
            say(f"a compiled kernel is compiled again: {path}: {str(error) or type(error).__name__}")
            return None

    def _write(self, path: str, content: Any) -> None:
        pickled = self._dump(content)
        with self._open_for_write(path) as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(hashlib.sha256(pickled).digest() + pickled)

    def _load_index(self) -> dict[Any, str]:
        try:
            found = self._read(self._index_path)
        except FileNotFoundError:
            return {}
        if not isinstance(found, tuple) or len(found) != 2 or found[0] != self._version:
            return {}
        index: dict[Any, str] = found[1]
        return index

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, (self._version, overloads))

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """The machine code of a function for all types of arguments that it was called with."""

    def __init__(
        self, folder: Path, function: Callable[..., Any], more: Callable[[Any], str], is_current: Callable[[], bool]
    ) -> None:
        """Of a function in a folder.

        Args:
            folder: that of its generation.
            function: whose machine code it is.
            more: what that depends on besides the function's own text, for the types of its arguments.
            is_current: whether the sources are still those of the folder's generation; else nothing is kept.
        """
        self._name, self._py_func = repr(function), function
        self._impl = _Compiled(folder, function)
        self._cache_path = self._impl.locator.get_cache_path()
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp())
        self._more, self._is_current, self._lock = more, is_current, folder / "lock"
        self.enable()

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (*super()._index_key(sig, codegen), self._more(sig))

    def has(self, sig: Any, codegen: Any) -> bool:
        """Whether there is machine code for these types, or, without any, for some."""
        index = self._cache_file._load_index()
        return bool(index) if sig is None else self._index_key(sig, codegen) in index

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What is there for these types, or None."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:
            why = str(error) or type(error).__name__
            say(f"a compiled kernel is compiled again: {self._cache_file._index_path}: {why}")
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep it for the next process, if that can be done."""
        if not self._is_current():
            say("kernels were edited since this process began: what it compiles is not kept")
            return
        try:
            with self._alone():
                super().save_overload(sig, data)
        except OSError as error:
            say(f"compiled kernels cannot be kept for the next time: {error.filename or ''} {error.strerror or error}")

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time.

        Numba numbers the files of a function's versions by looking which numbers are taken. Two processes that compile
        two versions at once would give both the same number, and then run one for the other.
        """
        with open(self._lock, "a") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield
