"""Base class of all errors of the framework, and helpers for messages."""

import difflib
from collections.abc import Iterable


class BipedError(Exception):
    """An error that the user can correct; the message says in one line what is wrong, what is allowed, what to do."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint with the name in ``known`` that is most similar to ``name``; empty if none is similar."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]!r}? " if close else ""


def listed(names: Iterable[str], most: int = 6) -> str:
    """Return the first ``most`` names as text, with the number of further names."""
    names = list(names)
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
