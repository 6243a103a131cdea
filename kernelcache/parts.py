"""Parts: kernels that are compiled by themselves, and called by their address.

What is inlined is optimized again in each caller, and each caller's caller. A part is not; but it takes addresses
of what it works on (``pack``), and numbers, and gives back a whole number. ``unpacked`` makes a value of an
address::

    @part
    def count_all(place, more):
        return count(unpacked(place)) + more

    @routine
    def use(address, place):
        return call(address, place, 3)

and from Python ``use(address_of(count_all, world, 3), pack(world).ctypes.data)``.
"""

import hashlib
import re
import types as python_types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numba
from llvmlite import ir
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic

from kernelcache.beside import Call, Job, compile_all
from kernelcache.cache import KernelCache
from kernelcache.kernels import F, Inlined, compiled, kernel, stands_for
from kernelcache.references import kind_of, reference_to

types: Any = numba.types

# Parts by number, for a caller that is interpreted.
_parts: list[Callable[..., int]] = []



def part(function: F) -> F:
    """A kernel that is compiled once, by itself, and called by its address (see the module)."""
    dispatcher = compiled(function, Inlined, no_cfunc_wrapper=False, no_cpython_wrapper=True)
    _parts.append(dispatcher)
    return dispatcher


def _part_types(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(reference_to(numba.typeof(argument)) for argument in arguments)


def compile_parts(parts: Iterable[tuple[Any, ...]], beside: Sequence[Call] = ()) -> None:
    """Compile parts that are not there yet, side by side.

    Args:
        parts: each with what ``address_of`` is called with.
        beside: what compiles more that will be needed.
    """
    jobs = [
        Job(function, _part_types(tuple(arguments)))
        for function, *arguments in parts
        if isinstance(function, CPUDispatcher)  # not with NUMBA_DISABLE_JIT
    ]
    compile_all(jobs, beside)


def address_of(function: Callable[..., int], *arguments: Any) -> int:
    """The address of a part, compiled if need be, for numbers like these, and addresses of named tuples like these."""
    if not isinstance(function, CPUDispatcher):  # with NUMBA_DISABLE_JIT
        return number_of(function)
    kind = function, tuple(map(kind_of, arguments))
    if kind not in _addresses:
        _addresses[kind] = _compiled_address(function, _part_types(arguments))
    return _addresses[kind]


#: Of parts, by themselves and the kinds of what they are called with.
_addresses: dict[object, int] = {}


def _compiled_address(function: Any, kinds: tuple[Any, ...]) -> int:
    compile_all([Job(function, kinds)])
    if kinds not in function.overloads:  # it is on disk
        function.compile(kinds)
    found = function.overloads[kinds]
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_cfunc_wrapper_name))


def number_of(function: Callable[..., int]) -> int:
    """What takes the place of a part's address where everything is interpreted."""
    return next(k for k, known in enumerate(_parts) if known is function)


def call(address: int, *args: Any) -> int:
    """What the part at this address gives back for these arguments."""
    return _parts[address](*args)


@kernel
def unpacked(place):
    return place


@kernel
def loaded(place):
    return place


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


def is_part_compiled(function: Callable[..., int], *arguments: Any) -> bool:
    """Whether ``address_of`` compiles nothing."""
    return not isinstance(function, CPUDispatcher) or Job(function, _part_types(arguments)).is_done


def is_compiled(function: Callable[..., Any], *arguments: Any) -> bool:
    """Whether calling this routine compiles nothing, since its machine code is already on disk.

    With ``arguments`` the code for their types is meant, else any.
    """
    cache = getattr(function, "_cache", None)
    if not isinstance(cache, KernelCache):
        return True
    dispatcher: Any = function
    if not arguments:
        return bool(dispatcher.overloads) or cache.has(None, None)
    return Job(dispatcher, tuple(dispatcher.typeof_pyval(argument) for argument in arguments)).is_done
