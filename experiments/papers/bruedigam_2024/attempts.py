"""Runs that may fail, as rows of a table."""

from collections.abc import Callable
from typing import TypeVar

from biped.errors import IntegrationError

Row = dict[str, object]
#: Whether a run came to its end.
ENDED = "as asked"
R = TypeVar("R")


def attempted(known: Row, simulate: Callable[[], R], measured: Callable[[R], Row]) -> Row:
    """Complete a row of a table by what is measured of a motion, or by why there is none."""
    try:
        motion = simulate()
    except IntegrationError as error:  # a result too
        return known | {"ended": str(error)}
    return known | {"ended": ENDED} | measured(motion)
