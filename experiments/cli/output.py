"""The folder that results go into: made and tried before anything is computed."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from biped.errors import InputError


def writable_folder(path: str | Path) -> Path:
    """The folder, made if need be; raises InputError if nothing can be written into it."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise InputError(f"cannot write into the folder {folder}: {error.strerror or error}") from None


@contextmanager
def claimed_folder(path: str | Path) -> Iterator[Path]:
    """``writable_folder`` for one program at a time: of two that replace each other's files, one would be lost.

    The lock is the folder's own: it leaves no file, and the system lets go of it however the program ends.

    Raises:
        InputError: nothing can be written into it, or another program is writing there.
    """
    folder = writable_folder(path)
    opened = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # where a file system has no locks there are none
            _lock(opened, folder)
        yield folder
    finally:
        os.close(opened)


def _lock(opened: int, folder: Path) -> None:
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(f"{folder}: another program is writing there; wait until it is done, or use --out") from None
