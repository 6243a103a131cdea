"""Compiled kernels on disk.

A file's name has the key of its content (``kernelcache.keys``), so that no file is ever out of date, and processes that
write at once write the same. What is loaded from here is run: the folder must belong to this user, and no one else may
write to it. A file that is damaged, or another kernel's, is compiled anew.
"""

import atexit
import contextlib
import hashlib
import logging
import os
import pickle
import re
import shutil
import stat
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import platformdirs

from kernelcache.keys import key_of, options_of
from kernelcache.private import Bitcode, Cache, MachineCode, dumps, rebuilt

_NAME = "biped-kernels"
_DIGEST = 32  # bytes of the checksum before the content of a file
#: Ends of the names of files: of kernels that are inlined, and of machine code.
BITCODE, MACHINE_CODE = ".bitcode", ".code"
_KEPT = 30 * 86400.0  # [s] for which a file is kept that nobody uses
_DAY = 86400.0

#: Kernels that came with the package; there are none in a clone.
SHIPPED = Path(__file__).parent / "shipped"

# Sentences for the user; without a handler of its own, ``logging`` puts them on the standard error.
_log = logging.getLogger("biped")
_said: set[str] = set()


def say(sentence: str) -> None:
    """Warn the user of something, once."""
    if sentence not in _said:
        _said.add(sentence)
        _log.warning("biped: %s", sentence)


def distrust(path: Path) -> str | None:
    """Return why the content of a file or folder may be someone else's; None if only this user can have written it.

    Raises:
        OSError: it cannot be looked at.
    """
    found = os.stat(path)
    if found.st_uid != os.geteuid():
        return f"it belongs to another user (uid {found.st_uid}, and this is {os.geteuid()})"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "other users may write to it"
    return None


def _chosen_root(chosen: str) -> Path:
    root = Path(os.path.realpath(chosen))
    problem = (distrust(root) if root.is_dir() else "it is no folder") if root.exists() else None
    if problem is not None:
        raise PermissionError(
            f"BIPED_CACHE_DIR = {chosen}: {problem}; compiled kernels are run as they are found, so it must be a "
            "folder of your own that only you can write to (chmod go-w), or one that does not exist yet"
        )
    return root


def _make_private(folder: Path) -> str | None:
    """Make a folder that only this user can enter, if it is not there; return why it cannot be used, or None."""
    try:
        for one in (*reversed(folder.parents), folder):
            if not one.is_dir():
                with contextlib.suppress(FileExistsError):  # another process is as quick
                    one.mkdir(mode=0o700)
        problem = distrust(folder)
        if problem is not None:
            return f"{folder}: {problem}"
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return f"{error.filename or folder}: {error.strerror or error}"


@cache
def cache_folder() -> Path:
    """Return the folder of compiled kernels: below ``BIPED_CACHE_DIR`` if that is set, else the user's.

    Where that cannot be written, or may be someone else's, a new folder in the system's temporary one serves this
    process alone.

    Raises:
        PermissionError: someone else can write to ``BIPED_CACHE_DIR``, or has made it.
    """
    chosen = os.environ.get("BIPED_CACHE_DIR")
    folder = (_chosen_root(chosen) if chosen else platformdirs.user_cache_path("biped-balance")) / _NAME
    problem = _make_private(folder)
    if problem is not None:
        say(
            f"compiled kernels cannot be kept for the next time, since {problem}; "
            "set BIPED_CACHE_DIR to a folder that only you can write to"
        )
        folder = Path(tempfile.mkdtemp(prefix=f"{_NAME}-"))
        atexit.register(_remove, folder, os.getpid())
    _drop_unused(folder)
    return folder


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # and not a fork of it
        shutil.rmtree(folder, ignore_errors=True)


def _drop_unused(folder: Path) -> None:
    """Once a day, remove what was neither written nor loaded for a month."""
    stamp, now = folder / "cleaned", time.time()
    with contextlib.suppress(OSError):  # of another process that does the same
        if stamp.exists() and now - stamp.stat().st_mtime < _DAY:
            return
        stamp.touch(mode=0o600)
        for entry in folder.iterdir():
            if now - entry.stat().st_mtime > _KEPT:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def _read(path: Path) -> Any:
    """Return the object in a file; None if there is none, or if it is damaged."""
    try:
        content = path.read_bytes()
        if _digest(path, content[_DIGEST:]) != content[:_DIGEST]:
            raise ValueError("it is damaged")
        if time.time() - path.stat().st_mtime > _DAY:
            with contextlib.suppress(OSError):  # a read-only folder
                os.utime(path)
        return pickle.loads(content[_DIGEST:])
    except FileNotFoundError:
        return None
    except Exception as error:  # pickle raises nearly anything
        say(f"a compiled kernel is compiled again: {path}: {str(error) or type(error).__name__}")
        return None


def _write(path: Path, content: bytes) -> None:
    """Write all of a file, or nothing; only this user can read it."""
    handle, draft = tempfile.mkstemp(dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(_digest(path, content) + content)
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _digest(path: Path, content: bytes) -> bytes:
    """Return the checksum of a kernel: its name is a part of it."""
    return hashlib.sha256(path.name.encode() + content).digest()


class KernelCache(Cache):  # type: ignore[misc]
    """The machine code of a function for all types of arguments that it was called with."""

    def __init__(self, dispatcher: Any, suffix: str) -> None:
        """Keep the code of a dispatcher, in files that end so."""
        function = dispatcher.py_func
        self._function, self._options, self._suffix = function, options_of(dispatcher), suffix
        self._name = re.sub(r"[^\w.]", "", f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}")
        self._keys: dict[Any, str] = {}
        self._is_enabled = True

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(cache_folder())

    def enable(self) -> None:
        """Load and keep from now on."""
        self._is_enabled = True

    def disable(self) -> None:
        """Neither load nor keep."""
        self._is_enabled = False

    def flush(self) -> None:
        """Remove all of this function's files."""
        for path in self._files():
            path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return list(cache_folder().glob(f"{self._name}-*{self._suffix}"))

    def file_name(self, sig: Any, codegen: Any) -> str:
        """Return the name of the file for some types of arguments and a processor."""
        arguments = tuple(getattr(sig, "args", sig))
        if arguments not in self._keys:
            self._keys[arguments] = key_of(self._function, arguments, self._options, codegen.magic_tuple())
        return f"{self._name}-{self._keys[arguments]}{self._suffix}"

    def has(self, sig: Any, codegen: Any) -> bool:
        """Return whether there is machine code for these types, or, without any, for some."""
        if sig is None:
            return bool(self._files())
        name = self.file_name(sig, codegen)
        return (SHIPPED / name).exists() or (cache_folder() / name).exists()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what is there for these types, or None."""
        target_context.refresh()
        if not self._is_enabled:
            return None
        name = self.file_name(sig, target_context.codegen())
        payload = _payload(name)
        if payload is not None:
            try:
                return _rebuild(target_context, name, payload)
            except Exception as error:
                say(f"a compiled kernel is compiled again: {name}: {str(error) or type(error).__name__}")
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep it for the next process, if that can be done."""
        if not self._is_enabled or data.lifted or data.library.has_dynamic_globals:  # addresses of this process
            return
        name = self.file_name(sig, data.codegen)
        try:
            cache_folder().mkdir(mode=0o700, parents=True, exist_ok=True)  # it may be gone since
            _write(cache_folder() / name, dumps(data._reduce()))
        except OSError as error:
            say(f"compiled kernels cannot be kept for the next time: {error.filename or ''} {error.strerror or error}")
            return
        if isinstance(data.library, Bitcode):
            data.library.file_name = name
            _kernels[name] = data.library


#: Code of kernels that was loaded or kept, by the names of its files.
_kernels: dict[str, Bitcode] = {}


def _payload(name: str) -> Any:
    return _read(SHIPPED / name) or _read(cache_folder() / name)


def _rebuild(target_context: Any, name: str, payload: Any) -> Any:
    codegen = target_context.codegen()

    def find(file: str) -> Bitcode:
        if file not in _kernels:
            found = payload if file == name else _payload(file)
            if found is None:
                raise FileNotFoundError(f"it calls {file}, which is gone")
            _kernels[file] = Bitcode.of(codegen, found[0], find)
            _kernels[file].file_name = file
        return _kernels[file]

    library = find(name) if name.endswith(BITCODE) else MachineCode.of(codegen, payload[0])
    return rebuilt(target_context, library, payload)
