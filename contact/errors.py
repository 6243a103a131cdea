"""The base of all errors of the framework, and what their messages share: in the lowest layer, since all use it."""

import difflib
from collections.abc import Iterable


class BipedError(Exception):
    """Something that whoever called can mend: the message is one line of what is wrong and what would be right."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The words that name the ``known`` one that is spelt most like ``name``; none if none is."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]!r}? " if close else ""


def listed(names: Iterable[str], most: int = 6) -> str:
    """Return the first names of several as a text, and how many there are besides."""
    names = list(names)
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
