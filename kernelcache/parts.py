"""Parts: kernels that are compiled separately and called by address.

LLVM optimizes an inlined kernel again in each caller, but a part only once, for all callers. A part takes packed
named tuples (``kernelcache.references.Packed``) and numbers, and returns a whole number::

    @part
    def count_all(world, more):
        return count(world.rows) + more

    @routine
    def use(address, world):
        return call(address, world, 3)

Call it from Python by ``use(addresses([(count_all, Packed(world), 3)])[0], Packed(world).place)``. The caller need not
know the type of the named tuple, since it passes only an address.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic
from numpy.typing import NDArray

from kernelcache.kernels import F, Inlined, compiled, routine, stands_for
from kernelcache.private import entry_address
from kernelcache.references import Packed
from kernelcache.target import PLAIN
from kernelcache.workers import Job, compile_all

types: Any = numba.types

#: A part and its arguments: each is ``Packed``, or an example of a number of the type that is passed in calls.
Use = tuple[Any, ...]

#: All parts; if kernels are interpreted, a part's index serves as its address.
_parts: list[Callable[..., int]] = []
#: Addresses of parts, by the part and the kinds of its arguments.
_addresses: dict[object, int] = {}
_kept: list[Any] = []  # keeps stock Numba's functions alive, so that their addresses remain valid


def part(function: F) -> F:
    """Turn a function into a part: a kernel that is compiled separately and called by its address (see the module)."""
    dispatcher = compiled(function, Inlined, no_cfunc_wrapper=False, no_cpython_wrapper=True)
    _parts.append(dispatcher)
    return dispatcher


def number_of(function: Callable[..., int]) -> int:
    """Return the index of a part in the list of all parts, which serves as its address if kernels are interpreted."""
    return next(k for k, known in enumerate(_parts) if known is function)


def addresses(uses: Sequence[Use]) -> NDArray[np.int64]:
    """Return the memory addresses (n,) of compiled parts; parts that are not compiled yet are compiled, in parallel."""
    keys = list(map(_key, uses))
    if not all(key in _addresses for key in keys):
        if not (numba.config.DISABLE_JIT or PLAIN):
            compile_all([_job(use) for use in uses])
        _addresses.update((key, _address(use)) for key, use in zip(keys, uses, strict=True))
    return np.array([_addresses[key] for key in keys], dtype=np.int64)


def are_ready(uses: Sequence[Use]) -> bool:
    """Return True if ``addresses`` would not have to compile any of these parts."""
    if numba.config.DISABLE_JIT:
        return True
    return all(_key(use) in _addresses or (not PLAIN and _job(use).is_done) for use in uses)


def _key(use: Use) -> object:
    function, *arguments = use
    return function, *(argument.kind if isinstance(argument, Packed) else type(argument) for argument in arguments)


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
    if kinds not in function.overloads:  # it is on disk, or is compiled now
        function.compile(kinds)
    return entry_address(function, kinds)


def call(address: int, *args: Any) -> int:
    """Call the part at an address and return its result."""
    return _parts[address](*args)


def _compiled_call(address: Any, *args: Any) -> Any:
    return lambda address, *args: _call_at(address, args)


stands_for(call, _compiled_call)


@intrinsic  # type: ignore[untyped-decorator]
def _call_at(_: Any, address: Any, args: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        words = [builder.extract_value(values[1], k) for k in range(len(args))]
        word = ir.IntType(64)
        words = [builder.ptrtoint(v, word) if isinstance(v.type, ir.PointerType) else v for v in words]
        kind = ir.FunctionType(ir.IntType(64), [value.type for value in words])
        return builder.call(builder.inttoptr(values[0], kind.as_pointer()), words)

    return types.int64(address, args), generate


def places_of(packed: Sequence[Packed]) -> Any:
    """Return the memory addresses (n,) of the data of n ``Packed`` tuples; the tuples if kernels are interpreted."""
    places: Any = np.empty(len(packed), dtype=object if numba.config.DISABLE_JIT else np.int64)
    for k, item in enumerate(packed):
        places[k] = item.place
    return places


@routine
def enter(address: int, arguments: tuple[Any, ...]) -> int:
    """Call the part at an address from Python and return its result."""
    return call(address, *arguments)


class Entry:
    """A part as a Python function; the part is compiled, or loaded from the cache, when the ``Entry`` is created.

    Args:
        part: part to call (``@part``).
        arguments: example arguments, which fix the types: ``Packed`` tuples, and numbers as in later calls.
    """

    def __init__(self, part: Any, *arguments: Any) -> None:
        self._address = int(addresses([(part, *arguments)])[0])
        self._arguments = arguments

    def __call__(self, *numbers: Any) -> int:
        """Call the part with these numbers in place of the example numbers, in order; return its result."""
        left = iter(numbers)
        given = tuple(argument.place if isinstance(argument, Packed) else next(left) for argument in self._arguments)
        return int(enter(self._address, given))
