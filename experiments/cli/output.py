"""The folder that results go into: made and tried before anything is computed."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from biped.errors import InputError

#: Lets go of what a command has claimed; none outside of a command.
_claims: ContextVar[ExitStack | None] = ContextVar("claims", default=None)


def writable_folder(path: str | Path) -> Path:
    """The folder, made if need be; raises InputError if nothing can be written into it."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (FileExistsError, NotADirectoryError):
        file = next(part for part in (folder, *folder.parents) if part.is_file())
        raise InputError(f"cannot write into the folder {folder}: {file} is a file") from None
    except OSError as error:
        raise InputError(f"cannot write into the folder {folder}: {error.strerror or error}") from None


@contextmanager
def claims() -> Iterator[None]:
    """Within it, a folder is claimed by ``claimed_folder`` until the end."""
    with ExitStack() as held:
        before = _claims.set(held)
        try:
            yield
        finally:
            _claims.reset(before)


def claimed_folder(path: str | Path) -> Path:
    """``writable_folder`` for one command at a time: of two that replace each other's files, one would be lost.

    The lock is the folder's own: it leaves no file, and the system lets go of it however the program ends.

    Raises:
        InputError: nothing can be written into it, or another program is writing there.
    """
    folder, held = writable_folder(path), _claims.get()
    if held is not None:
        opened = os.open(folder, os.O_RDONLY)
        held.callback(os.close, opened)
        with suppress(OSError):  # where a file system has no locks there are none
            _lock(opened, folder)
    return folder


def _lock(opened: int, folder: Path) -> None:
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(f"{folder}: another program is writing there; wait until it is done, or use --out") from None
