"""Files that a reader finds whole, whatever happens while they are written."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: Of errors of a disk, or a share of it, that is full or fails.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


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
