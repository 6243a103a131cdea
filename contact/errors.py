"""The base class of all errors of the framework, and helpers for their messages, in the lowest layer."""

import difflib
from collections.abc import Iterable


class BipedError(Exception):
    """An error that the caller can correct; its message is one line: what is wrong, what is allowed, what to do."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint with the ``known`` name most similar to ``name``; an empty string if none is similar."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]!r}? " if close else ""


def listed(names: Iterable[str], most: int = 6) -> str:
    """Return the first names as a text, with the number of further ones."""
    names = list(names)
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
