"""Error and warning of this package, and helpers for their messages."""

import difflib
from collections.abc import Iterable

from contact.errors import BipedError


class ModelError(BipedError, ValueError):
    """Error for a model that is not a valid rigid-body system, or for a name that a model does not contain.

    The message is one line: the error, its location, and the allowed values.
    """


class ModelWarning(UserWarning):
    """Warning, one sentence, about a difference between a model and the robot's file that it was loaded from.

    ``Model.notes`` contains these sentences.
    """


#: Largest number of names in a message.
MOST_LISTED = 40


def unknown(what: str, name: object, known: Iterable[str]) -> ModelError:
    """Return the error for a ``name`` that is not ``known``; ``what`` is a singular noun, for example "joint"."""
    names = list(known)
    close = _close(str(name), names)
    hint = f"did you mean {' or '.join(repr(match) for match in close)}? " if close else ""
    ending = "es" if what.endswith(("x", "ch", "sh")) else "s"
    plural = f"{what[:-1]}ies" if what.endswith("y") and not what.endswith("ey") else what + ending
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    listing = f"{plural} are {', '.join(names[:MOST_LISTED])}{more}" if names else f"there are no {plural}"
    return ModelError(f"unknown {what} {name!r}; {hint}{listing}")


def _close(name: str, names: list[str]) -> list[str]:
    """Return at most three of ``names`` that contain ``name`` or have a similar spelling."""
    containing = [known for known in names if name and name.lower() in known.lower()]
    return containing[:3] or difflib.get_close_matches(name, names, n=3, cutoff=0.5)


def reason_of(error: BaseException) -> str:
    """Return the message of a library's error, on one line and without the location in the library's sources."""
    return " ".join(str(error).rpartition("message:")[2].split()) or type(error).__name__


def duplicate(what: str, names: Iterable[str]) -> ModelError | None:
    """Return the error for the first of ``names`` that occurs twice, or None."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return ModelError(f"two {what} are named {name!r}; names must be unique")
        seen.add(name)
    return None
