"""Which state of the kernels a study's trials were computed by."""

import hashlib
from functools import cache
from pathlib import Path

import llvmlite
import numba

_PACKAGES = ("contact", "biped", "controllers", "formulations", "experiments")


def kernel_sources() -> list[Path]:
    """The files that kernels stand in: ``kernels.py``, those below a folder ``kernels``, and all of ``contact``."""
    top = Path(__file__).resolve().parents[1]
    found = sorted((top / "contact").glob("*.py"))
    for package in _PACKAGES:
        found += sorted((top / package).glob("**/kernels.py"))
        found += sorted((top / package).glob("**/kernels/**/*.py"))
    return found


@cache
def sources_digest() -> str:
    """A digest of all kernels' files: where it differs, results may differ in their last bits."""
    digest = hashlib.sha256(repr((numba.__version__, llvmlite.__version__)).encode())
    for source in kernel_sources():
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]
