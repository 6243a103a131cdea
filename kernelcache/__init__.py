"""Compilation of the framework's kernels by Numba, and their cache on disk; README.md explains the steps.

This is the lowest layer; it does not depend on what is computed.
"""

from kernelcache.cache import cache_folder
from kernelcache.generic import Generic, Nothing, generic, optional
from kernelcache.kernels import kernel, routine, stands_for
from kernelcache.parts import Entry, Use, addresses, are_ready, call, enter, number_of, part, places_of
from kernelcache.references import Packed, kind_of
from kernelcache.target import target_name
from kernelcache.workers import Call, compile_ahead

__all__ = [
    "Call", "Entry", "Generic", "Nothing", "Packed", "Use", "addresses", "are_ready", "cache_folder", "call",
    "compile_ahead", "enter", "generic", "kernel", "kind_of", "number_of", "optional", "part",
    "places_of", "routine", "stands_for", "target_name",
]  # fmt: skip
