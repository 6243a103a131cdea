"""Which exceptions are the user's to mend, and what to tell about them."""

FAILURE = 2
UNSOLVED = 1
INTERRUPTED = 130
#: As of a program that ends because nobody reads what it prints.
CLOSED_PIPE = 141


def describe(error: Exception) -> str | None:
    """One sentence about an error that the user can do something about; None about a defect of the program."""
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {error}"
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror or error}"
    if isinstance(error, ImportError):
        from biped.inputs.extras import missing

        error = missing(error) or error
    # Imported here: without an error none of this is needed, and it takes longer than most commands.
    from contact.errors import BipedError

    if isinstance(error, BipedError):
        return str(error)
    return None
