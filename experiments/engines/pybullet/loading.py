"""``import pybullet`` without what it prints."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@cache
def pybullet() -> Any:
    """The module. It tells when it was built, on the standard error, past Python, whoever asked for what."""
    with silenced(2):
        import pybullet as module

        return module


@contextmanager
def silenced(descriptor: int) -> Iterator[None]:
    """Suppress what C writes to the standard output (1) or the standard error (2), past Python."""
    (sys.stdout if descriptor == 1 else sys.stderr).flush()
    libc = ctypes.CDLL(None) if os.name == "posix" else None  # elsewhere its buffer may be written later
    kept = os.dup(descriptor)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), descriptor)
        yield
    finally:
        if libc is not None:
            libc.fflush(None)
        os.dup2(kept, descriptor)
        os.close(kept)
