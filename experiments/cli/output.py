"""The folder of results, made and tried before anything is computed."""

import tempfile
from pathlib import Path

from biped.errors import InputError


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
