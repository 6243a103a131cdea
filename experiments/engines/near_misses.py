"""Misspelt optional members, found when a class is defined: left alone, they would do nothing, in silence."""

import difflib

from biped.errors import InputError

#: How alike two names are that are meant to be one.
ALIKE = 0.8


def refuse_near_misses(cls: type, base: type) -> None:
    """Refuse a class that has a public member which is nearly, but not quite, one that its base knows.

    Raises:
        InputError: it has; the message says which is meant.
    """
    known = [name for name in {*dir(base), *base.__annotations__} if not name.startswith("_")]
    for name in {**vars(cls), **cls.__annotations__}:
        if name.startswith("_") or name in known:
            continue
        if close := difflib.get_close_matches(name, known, n=1, cutoff=ALIKE):
            raise InputError(
                f"{cls.__name__}.{name}: nothing asks for it; did you mean {close[0]!r}, which {base.__name__} has?"
            )
