"""How every kernel of the framework is compiled by Numba and kept on disk: README.md tells what happens in which order.

It stands in the lowest layer, and knows nothing of what is computed.
"""

from kernelcache.cache import cache_folder
from kernelcache.engine import Engine, Entry, addresses, are_ready, no_parts, places_of
from kernelcache.generic import Generic, Nothing, generic, optional
from kernelcache.kernels import kernel, routine, stands_for, subroutine
from kernelcache.parts import ForEach, call, is_compiled, number_of, part, part_for_each
from kernelcache.references import Packed, kind_of
from kernelcache.sources import kernel_sources, sources_digest
from kernelcache.target import target_name
from kernelcache.workers import Call, compile_ahead

__all__ = [
    "Call", "Engine", "Entry", "ForEach", "Generic", "Nothing", "Packed", "addresses", "are_ready",
    "cache_folder", "call", "compile_ahead", "generic", "is_compiled", "kernel", "kernel_sources", "kind_of",
    "no_parts", "number_of", "optional", "part", "part_for_each", "places_of", "routine", "sources_digest", "stands_for",
    "subroutine", "target_name",
]  # fmt: skip
