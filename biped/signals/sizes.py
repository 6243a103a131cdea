"""How many pieces a signal may have."""

from biped.errors import InputError

#: Pieces of a signal.
MOST_PIECES = 1_000_000


def check_pieces(count: float) -> None:
    """Refuse a signal that would fill the memory, before it does."""
    if count > MOST_PIECES:
        raise InputError(
            f"signal: {count:.3g} pieces; {MOST_PIECES} at most: let it last less long, or change more slowly"
        )
