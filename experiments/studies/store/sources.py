"""Digest of the kernels that computed a study's trials."""

import hashlib
from functools import cache
from pathlib import Path

import llvmlite
import numba

_PACKAGES = ("contact", "biped", "controllers", "formulations", "experiments")


def kernel_sources() -> list[Path]:
    """Return the source files of kernels: ``kernels.py``, files below ``kernels`` folders, and all of ``contact``."""
    top = Path(__file__).resolve().parents[3]
    files = sorted((top / "contact").glob("*.py"))
    for package in _PACKAGES:
        files += sorted((top / package).glob("**/kernels.py"))
        files += sorted((top / package).glob("**/kernels/**/*.py"))
    return files


@cache
def sources_digest() -> str:
    """Return a digest of all kernel sources; results computed with another digest may differ in their last bits."""
    digest = hashlib.sha256(repr((numba.__version__, llvmlite.__version__)).encode())
    for source in kernel_sources():
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]
