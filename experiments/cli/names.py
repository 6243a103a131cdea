"""Names on the command line that may be patterns, names that a help and a writer share, and hints for unknown ones."""

import difflib
from collections.abc import Iterable, Sequence
from fnmatch import filter as fitting

from biped.errors import InputError

PUSH_MAP = "push-map"
WORK_PRECISION_PAGE, WORK_PRECISION_CSV = "work-precision.html", "work-precision.csv"


def nearest(name: str, known: Iterable[str]) -> str:
    names = list(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return f"the nearest are {', '.join(close)}" if close else f"there are {', '.join(names)}"


def matching(patterns: Sequence[str], known: Sequence[str], unknown: str) -> list[str]:
    """The known names that fit any of the patterns (``figure-4.*``), in their order; all for none."""
    wanted: set[str] = set()
    for pattern in patterns or known:
        found = fitting(known, pattern)
        if not found:
            raise InputError(f"{unknown} {pattern!r}; {nearest(pattern, known)}")
        wanted.update(found)
    return [name for name in known if name in wanted]
