"""Files that are complete whenever they are read, even after an interrupted write."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a file to write into; it replaces ``path`` on success and is removed on failure.

    Raises:
        OSError: the file cannot be written; an error without a file name, or with the temporary one, names ``path``.
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
    """Replace a file at once by one with these bytes, already on the disk; on OSError the old file stays."""
    with replacing(path) as part, part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
