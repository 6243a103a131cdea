"""Atomic writing of files: readers never see an incomplete file, even after an interruption."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file, which replaces ``path`` on success and is removed on failure.

    Raises:
        OSError: the file cannot be written; the error names ``path``, not the temporary file.
    """
    part = path.with_name(path.name + ".part")
    try:
        yield part
        part.replace(path)
    except OSError as error:
        if error.filename is not None and str(error.filename) != str(part):
            raise
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(error.errno or errno.EIO, reason, str(path)) from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def replace_file(path: Path, data: bytes) -> None:
    """Replace the content of a file atomically, after flushing it to disk; on OSError the old content remains."""
    with replacing(path) as part, part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
