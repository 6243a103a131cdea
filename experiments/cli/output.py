"""The folder of results, created and checked before any computation."""

import tempfile
from pathlib import Path

from biped.errors import InputError


def writable_folder(path: str | Path) -> Path:
    """Create a folder if needed, and return it; raises InputError if it is not writable."""
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
