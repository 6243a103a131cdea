"""Cache of compiled kernels on disk.

A file's name contains the key of its content (``kernelcache.keys``). So files are never out of date, and several
processes that write a file write the same content. A kernel whose file is damaged is compiled again. Files are pickles
and machine code: anyone who can write to the folder can run code as this user.
"""

import atexit
import contextlib
import hashlib
import logging
import os
import pickle
import re
import shutil
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import platformdirs

from kernelcache.keys import key_of, options_of
from kernelcache.private import Bitcode, MachineCode, dumps, rebuilt

_NAME = "biped-kernels"
_DIGEST = 32  # [bytes] length of the checksum at the beginning of a file
#: Suffixes of files with bitcode (inlined kernels) and with machine code.
BITCODE, MACHINE_CODE = ".bitcode", ".code"
_KEPT = 30 * 86400.0  # [s] time after which an unused file is removed
_DAY = 86400.0

#: Folder of kernels shipped with a wheel; it does not exist in a clone.
SHIPPED = Path(__file__).parent / "shipped"

# Logger of messages to the user; without a handler, ``logging`` writes them to standard error.
_log = logging.getLogger("biped")
_logged: set[str] = set()


def say(sentence: str) -> None:
    """Log a warning, unless it has been logged before."""
    if sentence not in _logged:
        _logged.add(sentence)
        _log.warning("biped: %s", sentence)


@cache
def cache_folder() -> Path:
    """Return the folder of compiled kernels, in the folder ``BIPED_CACHE_DIR`` if set, else in the user's cache folder.

    If it is not writable, return a new temporary folder, which is removed when the process ends.
    """
    chosen = os.environ.get("BIPED_CACHE_DIR")
    folder = (Path(chosen).absolute() if chosen else platformdirs.user_cache_path("biped-balance")) / _NAME
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        say(
            f"compiled kernels cannot be saved: {error.filename or folder}: {error.strerror}; "
            "set BIPED_CACHE_DIR to a folder that you can write to"
        )
        folder = Path(tempfile.mkdtemp(prefix=f"{_NAME}-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _drop_unused(folder)
    return folder


def _drop_unused(folder: Path) -> None:
    """Once a day, remove files that have been neither written nor loaded for a month."""
    stamp, now = folder / "cleaned", time.time()
    with contextlib.suppress(OSError):  # another process may do this at the same time
        if stamp.exists() and now - stamp.stat().st_mtime < _DAY:
            return
        stamp.touch(mode=0o600)
        for entry in folder.iterdir():
            if now - entry.stat().st_mtime > _KEPT:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def _path(name: str) -> Path:
    return SHIPPED / name if (SHIPPED / name).exists() else cache_folder() / name


def _read(name: str) -> Any:
    """Return the object in a file; None if the file is missing or damaged."""
    path = _path(name)
    try:
        content = path.read_bytes()
        if _digest(path, content[_DIGEST:]) != content[:_DIGEST]:
            raise ValueError("it is damaged")
        if time.time() - path.stat().st_mtime > _DAY:
            with contextlib.suppress(OSError):  # the folder may be read-only
                os.utime(path)
        return pickle.loads(content[_DIGEST:])
    except FileNotFoundError:
        return None
    except Exception as error:  # pickle can raise nearly any exception
        say(f"a cached kernel is invalid and compiled again: {path}: {str(error) or type(error).__name__}")
        return None


def _write(path: Path, content: bytes) -> None:
    """Write a file, readable only by this user, completely or not at all."""
    handle, draft = tempfile.mkstemp(dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(_digest(path, content) + content)
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _digest(path: Path, content: bytes) -> bytes:
    """Return the checksum of a file's name and content."""
    return hashlib.sha256(path.name.encode() + content).digest()


class KernelCache:
    """Cache of a function's compiled code, with a file for each combination of argument types."""

    def __init__(self, dispatcher: Any, suffix: str) -> None:
        """Make the cache of a dispatcher, whose files have this suffix."""
        function = dispatcher.py_func
        self._function, self._options, self._suffix = function, options_of(dispatcher), suffix
        self._name = re.sub(r"[^\w.]", "", f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}")
        self._keys: dict[Any, str] = {}

    @property
    def cache_path(self) -> str:
        """Folder of the cache, for Numba's ``stats``."""
        return str(cache_folder())

    def file_name(self, sig: Any, codegen: Any) -> str:
        """Return the name of the file for given argument types and processor."""
        arguments = tuple(getattr(sig, "args", sig))
        if arguments not in self._keys:
            self._keys[arguments] = key_of(self._function, arguments, self._options, codegen.magic_tuple())
        return f"{self._name}-{self._keys[arguments]}{self._suffix}"

    def has(self, sig: Any, codegen: Any) -> bool:
        """Return True if there is a file for these argument types."""
        return _path(self.file_name(sig, codegen)).exists()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached code for these argument types, or None."""
        target_context.refresh()
        name = self.file_name(sig, target_context.codegen())
        payload = _read(name)
        if payload is not None:
            try:
                return _rebuild(target_context, name, payload)
            except Exception as error:
                say(f"a cached kernel is invalid and compiled again: {name}: {str(error) or type(error).__name__}")
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save code for later processes, if possible."""
        if data.lifted or data.library.has_dynamic_globals:  # it contains addresses of this process
            return
        name = self.file_name(sig, data.codegen)
        try:
            cache_folder().mkdir(mode=0o700, parents=True, exist_ok=True)  # it may have been removed
            _write(cache_folder() / name, dumps(data._reduce()))
        except OSError as error:
            say(f"compiled kernels cannot be saved: {error.filename or ''} {error.strerror or error}")
            return
        if isinstance(data.library, Bitcode):
            data.library.file_name = name
            _kernels[name] = data.library


#: Code of kernels that were loaded or saved by this process, by file name.
_kernels: dict[str, Bitcode] = {}


def _rebuild(target_context: Any, name: str, payload: Any) -> Any:
    codegen = target_context.codegen()

    def find(file: str) -> Bitcode:
        if file not in _kernels:
            content = payload if file == name else _read(file)
            if content is None:
                raise FileNotFoundError(f"it calls the kernel in {file}, which is missing")
            _kernels[file] = Bitcode.of(codegen, content[0], find)
            _kernels[file].file_name = file
        return _kernels[file]

    library = find(name) if name.endswith(BITCODE) else MachineCode.of(codegen, payload[0])
    return rebuilt(target_context, library, payload)
