"""``import pybullet`` without what it prints."""

import os
import sys
from functools import cache
from typing import Any


@cache
def pybullet() -> Any:
    """The module. It tells when it was built, on the standard error, past Python, whoever asked for what."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        import pybullet as module

        return module
    finally:
        os.dup2(kept, 2)
        os.close(kept)
