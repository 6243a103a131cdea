"""Writing files whole or not at all."""

from pathlib import Path


def write(path: Path, text: str) -> Path:
    """Write a text file under another name and move it into place."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path
