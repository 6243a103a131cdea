"""Descriptions of errors that the user can correct."""

FAILURE = 2
UNSOLVED = 1
INTERRUPTED = 130
#: Exit status of a program whose output pipe was closed.
CLOSED_PIPE = 141


def describe(error: Exception) -> str | None:
    """Return a sentence about an error that the user can correct; None for a defect of the program."""
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {error}"
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror or error}"
    if isinstance(error, ImportError):
        from biped.inputs.extras import missing

        error = missing(error) or error
    # Imported here, because it takes longer than most commands, and is needed for errors only.
    from contact.errors import BipedError

    if isinstance(error, BipedError):
        return str(error)
    return None
