"""Names on the command line: patterns, names shared by help and file writers, and hints for unknown names."""

import difflib
from collections.abc import Iterable, Sequence
from fnmatch import filter as fitting

from biped.errors import InputError

PUSH_MAP, BENCHMARK = "push-map", "benchmark-policy"
#: Studies of push thresholds by direction.
MAPS = (PUSH_MAP, BENCHMARK)
WORK_PRECISION_PAGE, WORK_PRECISION_CSV = "work-precision.html", "work-precision.csv"


def nearest(name: str, known: Iterable[str]) -> str:
    names = list(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return f"the nearest are {', '.join(close)}" if close else f"there are {', '.join(names)}"


def matching(patterns: Sequence[str], known: Sequence[str], unknown: str) -> list[str]:
    """Return the known names that match any of the patterns (``figure-4.*``), in their order; all without patterns."""
    chosen: set[str] = set()
    for pattern in patterns or known:
        matches = fitting(known, pattern)
        if not matches:
            raise InputError(f"{unknown} {pattern!r}; {nearest(pattern, known)}")
        chosen.update(matches)
    return [name for name in known if name in chosen]
