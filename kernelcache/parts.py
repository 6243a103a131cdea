"""Parts: kernels that are compiled by themselves and called by their address.

LLVM optimizes an inlined kernel again in each of its callers. A part is compiled once, for all callers. It takes packed
named tuples (``kernelcache.references.Packed``) and numbers, and returns a whole number::

    @part
    def count_all(world, more):
        return count(world.rows) + more

    @routine
    def use(address, world):
        return call(address, world, 3)

and from Python ``use(addresses([(count_all, Packed(world), 3)])[0], Packed(world).place)``. A caller need not know what
type the part has for what is at an address.
"""

import hashlib
import re
import types as python_types
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic
from numpy.typing import NDArray

from kernelcache.cache import KernelCache
from kernelcache.kernels import F, Inlined, by_reference, compiled, stands_for
from kernelcache.references import Packed
from kernelcache.target import PLAIN
from kernelcache.workers import Call, Job, compile_all

types: Any = numba.types

#: A part and the arguments it is called with, each ``Packed`` or a number like those to come.
Use = tuple[Any, ...]

#: All parts, by number: what takes the place of addresses where everything is interpreted.
_parts: list[Callable[..., int]] = []
#: Addresses of parts, by the part and the kinds of its arguments.
_addresses: dict[object, int] = {}
_kept: list[Any] = []  # what the addresses of stock Numba are valid with


def part(function: F) -> F:
    """Return a kernel that is compiled once, by itself, and called by its address (see the module)."""
    dispatcher = compiled(function, Inlined, no_cfunc_wrapper=False, no_cpython_wrapper=True)
    _parts.append(dispatcher)
    return dispatcher


def number_of(function: Callable[..., int]) -> int:
    """Return what takes the place of a part's address where everything is interpreted."""
    return next(k for k, known in enumerate(_parts) if known is function)


def addresses(uses: Sequence[Use], beside: Sequence[Call] = ()) -> NDArray[np.int64]:
    """Return the addresses of parts, (n,).

    Args:
        uses: parts, with arguments; those not compiled yet are compiled side by side.
        beside: calls that compile more of what will be needed, made meanwhile if anything is compiled.
    """
    keys = [(part, *(one.kind if isinstance(one, Packed) else type(one) for one in given)) for part, *given in uses]
    if not all(key in _addresses for key in keys):
        if not (numba.config.DISABLE_JIT or PLAIN):
            compile_all([_job(use) for use in uses], beside)
        _addresses.update((key, _address(use)) for key, use in zip(keys, uses, strict=True))
    return np.array([_addresses[key] for key in keys], dtype=np.int64)


def are_ready(uses: Sequence[Use]) -> bool:
    """Return whether ``addresses`` compiles nothing."""
    return bool(numba.config.DISABLE_JIT) or (not PLAIN and all(_job(use).is_done for use in uses))


def _job(use: Use) -> Job:
    function, *arguments = use
    return Job(function, tuple(map(numba.typeof, arguments)))


def _address(use: Use) -> int:
    function, *arguments = use
    if numba.config.DISABLE_JIT:
        return number_of(function)
    kinds = tuple(map(numba.typeof, arguments))
    if PLAIN:
        _kept.append(numba.cfunc(types.int64(*kinds), nopython=True, error_model="numpy")(function.py_func))
        return int(_kept[-1].address)
    if kinds not in function.overloads:  # it is on disk
        function.compile(kinds)
    found = function.overloads[kinds]
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_cfunc_wrapper_name))


def call(address: int, *args: Any) -> int:
    """Return what the part at this address returns for these arguments."""
    return _parts[address](*args)


def _compiled_call(address: Any, *args: Any) -> Any:
    return lambda address, *args: _call_at(address, args)


stands_for(call, _compiled_call)


@intrinsic  # type: ignore[untyped-decorator]
def _call_at(_: Any, address: Any, args: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        found = [builder.extract_value(values[1], k) for k in range(len(args))]
        word = ir.IntType(64)
        found = [builder.ptrtoint(v, word) if isinstance(v.type, ir.PointerType) else v for v in found]
        kind = ir.FunctionType(ir.IntType(64), [value.type for value in found])
        return builder.call(builder.inttoptr(values[0], kind.as_pointer()), found)

    return types.int64(address, args), generate


class ForEach:
    """What ``part_for_each`` makes of a function: a part for each class of named tuples."""

    def __init__(self, function: Callable[..., int]) -> None:
        self.function = function
        self.parts: dict[type, Callable[..., int]] = {}

    def of(self, kind: type) -> Callable[..., int]:
        """The part for a class."""
        if kind not in self.parts:
            self.parts[kind] = self._for(kind)
        return self.parts[kind]

    def _for(self, kind: type) -> Callable[..., int]:
        function: Any = self.function
        own = python_types.FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        tag = hashlib.sha256(kind.__module__.encode()).hexdigest()[:8]
        own.__qualname__ = re.sub(r"\W", "_", f"{function.__qualname__}_{kind.__qualname__}_{tag}")
        own.__module__ = function.__module__
        own.__dict__["for_each"] = function.__name__, kind  # by which other processes find it
        return part(own)


def part_for_each(function: Callable[..., int]) -> ForEach:
    """A part that is compiled for each class of what it works on, into files of its own.

    Anyone may add classes. An index of all of them could only be read where all of their modules are.
    """
    return ForEach(function)


def is_compiled(function: Callable[..., Any], *arguments: Any) -> bool:
    """Return whether calling this routine compiles nothing, since its machine code is already on disk.

    With ``arguments`` the code for their types is meant, else any.
    """
    cache = getattr(function, "_cache", None)
    if not isinstance(cache, KernelCache):
        return True
    dispatcher: Any = function
    if not arguments:
        return bool(dispatcher.overloads) or cache.has(None, None)
    return Job(dispatcher, tuple(dispatcher.typeof_pyval(by_reference(one)) for one in arguments)).is_done
