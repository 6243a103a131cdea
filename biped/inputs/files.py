"""Files that a reader finds whole, whatever happens while they are written."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from contact.errors import BipedError


class UnwritableError(BipedError, OSError):
    """Something cannot be written: an OSError whose message is a sentence."""

    def __str__(self) -> str:
        return f"cannot write {self.filename}: {self.strerror}"


#: Of errors of a disk, or a share of it, that is full or fails.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@contextmanager
def told_if_unwritable(path: Path) -> Iterator[None]:
    """Raise UnwritableError for an OSError within, which names ``path`` where that names nothing."""
    try:
        yield
    except OSError as error:
        place, reason = error.filename or path, error.strerror or str(error)
        raise UnwritableError(error.errno or errno.EIO, reason, str(place)) from None


@contextmanager
def in_place_of(path: Path) -> Iterator[Path]:
    """A file to write into, which takes the place of ``path`` if all goes well and is gone if not.

    Raises:
        OSError: it cannot be written; of a full disk the error names ``path``, which those of writing do not.
    """
    part = path.with_name(path.name + ".part")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        if error.filename is not None or error.errno not in _FULL:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file at once by one with these bytes, which are on the disk by then; the old one stays on OSError."""
    try:
        with in_place_of(path) as part, part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
