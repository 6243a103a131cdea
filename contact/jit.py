"""How every compiled kernel of the framework is compiled: the decorators, and what callers need of parts.

It stands in the lowest layer because all the others use it.
"""

from contact.compiling.beside import Call, compile_ahead
from contact.compiling.cache import cache_folder
from contact.compiling.generic import Generic, generic
from contact.compiling.kernels import kernel, routine, stands_for
from contact.compiling.optional import Nothing, optional
from contact.compiling.parts import (
    ForEach,
    address_of,
    call,
    compile_parts,
    is_compiled,
    is_part_compiled,
    kind_of,
    number_of,
    pack,
    part,
    part_for_each,
    unpacked,
)
from contact.compiling.sources import kernel_sources, sources_digest
from contact.compiling.target import target_name

__all__ = [
    "Call", "ForEach", "Generic", "Nothing", "address_of", "cache_folder", "call", "compile_ahead", "compile_parts",
    "generic", "is_compiled", "is_part_compiled", "kernel", "kernel_sources", "kind_of", "number_of", "optional",
    "pack", "part", "part_for_each", "routine", "sources_digest", "stands_for", "target_name", "unpacked",
]  # fmt: skip
