"""How every compiled kernel of the framework is compiled: the decorators, and what callers need of parts.

It stands in the lowest layer because all the others use it.
"""

from kernelcache.beside import Call, compile_ahead
from kernelcache.cache import cache_folder
from kernelcache.engine import Engine, Entry, addresses, are_ready, no_parts, places_of
from kernelcache.generic import Generic, generic
from kernelcache.kernels import kernel, routine, stands_for, subroutine
from kernelcache.optional import Nothing, optional
from kernelcache.parts import (
    ForEach,
    address_of,
    call,
    is_compiled,
    loaded,
    number_of,
    part,
    part_for_each,
    unpacked,
)
from kernelcache.references import Packed, kind_of
from kernelcache.sources import kernel_sources, sources_digest
from kernelcache.target import target_name

__all__ = [
    "Call", "Engine", "Entry", "ForEach", "Generic", "Nothing", "Packed", "address_of", "addresses", "are_ready",
    "cache_folder", "call", "compile_ahead", "generic", "is_compiled", "kernel", "kernel_sources", "kind_of", "loaded",
    "no_parts", "number_of", "optional", "pack", "part", "part_for_each", "places_of", "routine", "sources_digest",
    "stands_for", "subroutine", "target_name", "unpacked",
]  # fmt: skip
