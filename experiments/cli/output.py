"""The folder that results go into: made and tried before anything is computed."""

import fcntl
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from biped.errors import InputError

#: Descriptors of the folders that the command has claimed.
_claimed: list[int] = []


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


def claimed_folder(path: str | Path) -> Path:
    """Return ``writable_folder`` for one command at a time, which holds a lock of the folder until ``release``.

    The lock leaves no file, and the system releases it however the program ends.

    Raises:
        InputError: nothing can be written into it, or another program is writing there.
    """
    folder = writable_folder(path)
    _claimed.append(os.open(folder, os.O_RDONLY))
    with suppress(OSError):  # a file system without locks
        try:
            fcntl.flock(_claimed[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = "another program is writing there; wait until it is done, or use --out"
            raise InputError(f"{folder}: {message}") from None
    return folder


def release() -> None:
    """Release the folders that a command has claimed."""
    while _claimed:
        os.close(_claimed.pop())
