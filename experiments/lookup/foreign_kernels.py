"""Errors of a user's compiled code, which Numba loses in calls by address, or reports in a form hard to read."""

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from biped.control.controller import Controller
from biped.errors import InputError
from contact import Floor
from experiments.lookup.open_registry import is_project_code


class _Lost(threading.local):
    """Errors of kernels in this thread that reached no caller; None outside of ``kernel_errors``."""

    errors: list[BaseException] | None = None


_lost = _Lost()


@contextmanager
def kernel_errors(*laws: Controller | Floor | None) -> Iterator[None]:
    """Raise the errors that kernels of user code raise within the context; the project's errors are unchanged.

    Raises:
        InputError: a kernel of the user cannot be compiled; the message names the line.
    """
    foreign = [type(law) for law in laws if law is not None and not is_project_code(type(law))]
    if not foreign:
        yield
        return
    from numba.core.errors import NumbaError

    _listen()
    errors: list[BaseException] = []
    _lost.errors = errors
    try:
        yield
    except NumbaError as error:
        names = " or ".join(law.__name__ for law in foreign)
        raise InputError(f"the kernel of {names} cannot be compiled: {_innermost_cause(str(error))}") from error
    finally:
        _lost.errors = None
    if errors:
        raise errors[0]


def _listen() -> None:
    """Install a hook for exceptions of kernels that Python cannot raise; it passes others to the previous hook."""
    before = sys.unraisablehook
    if getattr(before, "hears_kernels", False):
        return

    def hook(unraisable: Any) -> None:
        if _lost.errors is None or "numba" not in str(unraisable.object):
            before(unraisable)
        elif not _lost.errors:
            _lost.errors.append(unraisable.exc_value)

    hook.hears_kernels = True  # type: ignore[attr-defined]
    sys.unraisablehook = hook


def _innermost_cause(message: str) -> str:
    """Return the innermost cause that Numba names, and its line."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", message)
    causes = re.findall(r"nopython frontend\)\s*([^\n]+)", plain) or [plain.split("\n")[0]]
    line = re.search(r"During: [^\n]* at (\S+) \((\d+)\)", plain)
    return f"{causes[-1].strip()} ({line[1]}, line {line[2]})" if line else causes[-1].strip()
