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
import itertools
import re
import types as python_types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic, lower_builtin, type_callable

from kernelcache.beside import Call, Job, compile_all
from kernelcache.cache import KernelCache
from kernelcache.kernels import F, compiled, interpreted_from_python, stands_for
from kernelcache.references import settled

types: Any = numba.types

# Parts by number, for a caller that is interpreted.
_parts: list[Callable[..., int]] = []


#: Those of NumPy's flags that are part of an array's type: C and Fortran order, aligned, writeable.
_FLAGS = 0x0001 | 0x0002 | 0x0100 | 0x0400


def part(function: F) -> F:
    """A kernel that is compiled once, by itself, and called by its address (see the module)."""
    dispatcher = interpreted_from_python(compiled(function, no_cfunc_wrapper=False, no_cpython_wrapper=True))
    _parts.append(dispatcher)
    return dispatcher


def kind_of(value: Any) -> object:
    """What decides how compiled code sees a value, a number, an array, or a named tuple of them.

    Numba's ``typeof`` says the same of a world in some milliseconds; this takes a hundredth of that.
    """
    if isinstance(value, tuple):
        return type(value), *map(kind_of, value)
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.num & _FLAGS
    return type(value)


def _part_types(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    kinds = (numba.typeof(argument) for argument in arguments)
    return tuple(types.CPointer(kind) if isinstance(kind, types.BaseTuple) else kind for kind in kinds)


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


def unpacked(place: Any) -> Any:
    """The value at an address; where everything is interpreted, the address is the value.

    What is used of it is read where it is used: in loops that write to arrays again and again, since LLVM cannot know
    that they do not write here. For those there is ``loaded``.
    """
    return place


def loaded(place: Any) -> Any:
    """The same, read as a whole before all else."""
    return place


def pack(value: Any) -> Any:
    """A named tuple of arrays and numbers as words, at whose address parts find it as long as both are there."""
    words: list[int] = []
    _put_words(value, words)
    return np.array(words, dtype=np.int64)


def _put_words(value: Any, words: list[int]) -> None:
    if isinstance(value, tuple):
        for item in value:
            _put_words(item, words)
    elif isinstance(value, np.ndarray):
        words += [0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides]
    elif isinstance(value, float):
        words.append(int(np.float64(value).view(np.int64)))
    elif isinstance(value, (bool, int, np.integer)):
        words.append(int(value))
    else:
        raise TypeError(f"{value!r}: a part takes arrays, numbers, and named tuples of them")


def _compiled_call(address: Any, *args: Any) -> Any:
    return lambda address, *args: _call_at(address, args)


stands_for(call, _compiled_call)


@type_callable(loaded)  # type: ignore[untyped-decorator]
@type_callable(unpacked)  # type: ignore[untyped-decorator]
def _type_of_unpacked(_: Any) -> Any:
    return lambda place: place.dtype


@intrinsic  # type: ignore[untyped-decorator]
def _call_at(_: Any, address: Any, args: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        found = [builder.extract_value(values[1], k) for k in range(len(args))]
        word = ir.IntType(64)
        found = [builder.ptrtoint(v, word) if isinstance(v.type, ir.PointerType) else v for v in found]
        kind = ir.FunctionType(ir.IntType(64), [value.type for value in found])
        return builder.call(builder.inttoptr(values[0], kind.as_pointer()), found)

    return types.int64(address, args), generate


@lower_builtin(unpacked, types.Any)  # type: ignore[untyped-decorator]
def _unpack(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return _read(context, builder, signature, values, lambda place: settled(builder.gep(place, [ir.IntType(32)(0)])))


@lower_builtin(loaded, types.Any)  # type: ignore[untyped-decorator]
def _load(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return _read(context, builder, signature, values, lambda place: place)


def _read(context: Any, builder: Any, signature: Any, values: Any, place_as: Callable[[Any], Any]) -> Any:
    kind = signature.return_type
    if _is_as_packed(kind):
        return builder.load(place_as(builder.bitcast(values[0], context.get_value_type(kind).as_pointer())))
    words = builder.bitcast(values[0], ir.IntType(64).as_pointer())
    return _load_words(context, builder, kind, words, itertools.count())


def _is_as_packed(kind: Any) -> bool:
    """Whether ``pack`` writes what compiled code has in its place: words of 64 bits, as numbers and arrays are."""
    if isinstance(kind, types.BaseTuple):
        return all(map(_is_as_packed, kind))
    return isinstance(kind, types.Array) or kind in (types.float64, types.int64)


def _load_words(context: Any, builder: Any, kind: Any, words: Any, places: Iterator[int]) -> Any:
    """What ``pack`` has written, number by number: LLVM finds out by itself which of them are not needed."""

    def load(wanted: Any) -> Any:
        where = builder.gep(words, [ir.IntType(64)(next(places))])
        loaded = builder.load(builder.bitcast(where, wanted.as_pointer()))
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if isinstance(kind, types.BaseTuple):
        items = [_load_words(context, builder, inner, words, places) for inner in kind]
        return context.make_tuple(builder, kind, items)
    if isinstance(kind, types.Array):
        value = ir.Constant(context.get_value_type(kind), ir.Undefined)
        for k, element in enumerate(value.type.elements):
            count = element.count if isinstance(element, ir.ArrayType) else 0
            for j in range(count):
                value = builder.insert_value(value, load(element.element), (k, j))
            if not isinstance(element, ir.ArrayType):
                value = builder.insert_value(value, load(element), k)
        return value
    if kind == types.boolean:
        return builder.icmp_signed("!=", load(ir.IntType(64)), ir.IntType(64)(0))
    return load(context.get_value_type(kind))


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
