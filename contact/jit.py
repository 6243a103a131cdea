"""How every compiled kernel of the framework is compiled and cached.

It stands in the lowest layer because all the others use it.

Our kernels inline one another across files, so that machine code depends on more than the file it stands in. The cache
folder is named by a digest of *all* kernel sources, and what is compiled with kernels of other files has a digest of
those in its key.
"""

import contextlib
import functools
import gc
import hashlib
import inspect
import itertools
import os
import re
import sys
import types as python_types
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numba
import numpy as np
from llvmlite import ir
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic, lower_builtin, overload, type_callable

from contact.bitcode import BitcodeCompiler
from contact.cache import KernelCache, folder_of

types: Any = numba.types

_PACKAGES = ("biped", "controllers", "experiments")

F = TypeVar("F", bound=Callable[..., Any])


def kernel_sources() -> list[Path]:
    """The source files whose text decides the machine code of the kernels."""
    top = Path(__file__).resolve().parent.parent
    found = sorted((top / "contact").glob("*.py"))
    for package in _PACKAGES:
        found += sorted((top / package).glob("**/kernels.py"))
        found += sorted((top / package).glob("**/kernels/**/*.py"))
    return found


def _digest(sources: Iterable[Path], *more: str) -> str:
    digest = hashlib.sha256(repr(more).encode())
    for source in sources:
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _stamp(path: Path) -> tuple[int, int] | None:
    """When a file was written last, and how long it is."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size


@cache
def _first_stamps() -> dict[Path, tuple[int, int] | None]:
    return {path: _stamp(path) for path in kernel_sources()}


def are_as_imported() -> bool:
    """Whether the sources are what they were when the cache's folder was named by them.

    After an edit a process has kernels from before it and others from after it: what it compiles belongs in no folder.
    """
    return all(_stamp(path) == stamp for path, stamp in _first_stamps().items())


@cache
def cache_folder() -> Path:
    """The folder of compiled kernels, as ``contact.cache.folder_of`` chooses it.

    Raises:
        PermissionError: someone else can write to ``BIPED_CACHE_DIR``, or has made it.
    """
    _first_stamps()
    return folder_of(_digest(kernel_sources(), numba.__version__, llvmlite.__version__))


@cache
def _known_files() -> frozenset[str]:
    return frozenset(str(path) for path in kernel_sources())


def _is_known(file: str) -> bool:
    """Whether the folder's name knows this file."""
    return file in _known_files() or os.path.realpath(file) in _known_files()


def _classes(found: Any) -> Iterator[type]:
    """The classes of all named tuples in a type."""
    if isinstance(found, types.CPointer):
        found = found.dtype
    if isinstance(found, types.BaseNamedTuple):
        yield found.instance_class
    if isinstance(found, types.BaseTuple):
        for part in found:
            yield from _classes(part)


def _names(code: python_types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, python_types.CodeType):
            yield from _names(constant)


def _used_by(function: python_types.FunctionType) -> Iterator[Any]:
    """The values of all names in a function that come from outside of it."""
    names = set(_names(function.__code__))
    for name in names & function.__globals__.keys():
        value = function.__globals__[name]
        yield value
        if isinstance(value, python_types.ModuleType):
            yield from (getattr(value, other, None) for other in names)
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # it has no value yet
            continue


def _files_behind(function: Callable[..., Any], kinds: set[type]) -> set[str]:
    """The files of all kernels that are compiled into a function for arguments of some classes."""
    left: list[Any] = [function]
    done: set[int] = set()
    files: set[str] = set()
    while left:
        found = left.pop()
        table = getattr(found, "table", None)
        if isinstance(table, Generic):
            left += table.among(kinds)
        found = getattr(found, "py_func", found)
        if not isinstance(found, python_types.FunctionType) or id(found) in done or table is not None:
            continue
        done.add(id(found))
        file = found.__code__.co_filename
        if found is function or file in _kernel_files:
            files.add(file)
            left += _used_by(found)
    return files


# All files with kernels in them that this process has met; of those that the folder's name does not know a digest, as
# they were then: a file may be edited before its kernels are compiled.
_kernel_files: dict[str, str] = {}


def _meet(file: str) -> None:
    known = _is_known(file) or not os.path.isfile(file)
    _kernel_files[file] = "" if known else _digest([Path(file)])


def _others_behind(function: Callable[..., Any], sig: Any) -> str:
    """A digest of the files that machine code depends on, and that the folder's name does not know."""
    if not any(_kernel_files.values()):
        return ""
    kinds = {kind for part in sig for kind in _classes(part)}
    others = sorted(file for file in _files_behind(function, kinds) if _kernel_files[file])
    return _digest([], *(_kernel_files[file] for file in others)) if others else ""


class _Inlined(CPUDispatcher):  # type: ignore[misc]
    """A kernel without an entry from Python: called from there, it runs as the Python that it is."""

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)


_COMMON: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_INLINED = {"forceinline": True, "no_cpython_wrapper": True, "pipeline_class": BitcodeCompiler}


def _compile(function: F, **options: Any) -> F:
    compiled = numba.njit(**(_COMMON | options))(function)
    file = function.__code__.co_filename
    _meet(file)
    if isinstance(compiled, CPUDispatcher) and os.path.isfile(file):  # not with NUMBA_DISABLE_JIT, or in a notebook
        compiled._cache = KernelCache(
            cache_folder(), function, functools.partial(_others_behind, function), are_as_imported
        )
    return compiled


def kernel(function: F) -> F:
    """Compile ``function`` into the kernels and routines that call it: cached, without the GIL.

    Inlined, because a tree or a workspace is a tuple of dozens of arrays, which a call would copy; and
    without an entry from Python, which would take longer to compile than the kernel. Without Numba's
    runtime, so that an allocation does not compile. No fast-math: a run is the same bit for bit wherever
    it is continued. Division by zero follows IEEE, so that a kernel never needs the interpreter.

    Called from Python it runs interpreted, with the same result.
    """
    compiled = _compile(function, **_INLINED)
    if isinstance(compiled, CPUDispatcher):  # not with NUMBA_DISABLE_JIT
        compiled.__class__ = _Inlined
    return compiled


def routine(function: F) -> F:
    """Like ``kernel``, but called, not inlined, and open to Python: what the typed API enters by."""
    return _compile(function)


# Parts by number, for a caller that is interpreted.
_parts: list[Callable[..., int]] = []


#: Those of NumPy's flags that are part of an array's type: C and Fortran order, aligned, writeable.
_FLAGS = 0x0001 | 0x0002 | 0x0100 | 0x0400


def part(function: F) -> F:
    """A kernel that is compiled once, by itself, and called by its address.

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
    compiled = _compile(function, no_cfunc_wrapper=False, no_cpython_wrapper=True)
    if isinstance(compiled, CPUDispatcher):
        compiled.__class__ = _Inlined
    _parts.append(compiled)
    return compiled


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
    with _without_garbage_collection():
        function.compile(kinds)
    found = function.overloads[kinds]
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_cfunc_wrapper_name))


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """A compiler makes millions of objects that live as long as it does: looking for garbage costs it a tenth."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def number_of(function: Callable[..., int]) -> int:
    """What takes the place of a part's address where everything is interpreted."""
    return next(k for k, known in enumerate(_parts) if known is function)


def call(address: int, *args: Any) -> int:
    """What the part at this address gives back for these arguments."""
    return _parts[address](*args)


def unpacked(place: Any) -> Any:
    """The value at an address; where everything is interpreted, the address is the value."""
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


@overload(call, jit_options=_COMMON | _INLINED, strict=False)  # type: ignore[untyped-decorator]
def _compiled_call(address: Any, *args: Any) -> Any:
    return lambda address, *args: _call_at(address, args)


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
    words = builder.bitcast(values[0], ir.IntType(64).as_pointer())
    return _load_words(context, builder, signature.return_type, words, itertools.count())


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
            if not count:
                value = builder.insert_value(value, load(element), k)
        return value
    if kind == types.boolean:
        return builder.icmp_signed("!=", load(ir.IntType(64)), ir.IntType(64)(0))
    return load(context.get_value_type(kind))


#: What ``numba.extending.overload`` is to be told of what kernels inline.
COMPILED_INLINE = _COMMON | _INLINED


class Generic:
    """What ``generic`` makes of a function: its implementations, by the class of one argument."""

    def __init__(self, argument: str, declared: Callable[..., Any]) -> None:
        self.argument, self.declared = argument, declared
        self.place = list(inspect.signature(declared).parameters).index(argument)
        self.implementations: dict[type, Callable[..., Any]] = {}

    def register(self, kind: type) -> Callable[[F], F]:
        """A decorator: the function serves where the argument is a named tuple of this class."""

        def keep(function: F) -> F:
            self.implementations[kind] = function
            return kernel(function)

        return keep

    def of(self, kind: type) -> Callable[..., Any]:
        """The implementation for a class."""
        if kind not in self.implementations:
            raise TypeError(f"{self.declared.__name__}: nothing registered for {self.argument} of {kind}")
        return self.implementations[kind]

    def among(self, kinds: set[type]) -> list[Callable[..., Any]]:
        """The implementations for some classes."""
        return [self.implementations[kind] for kind in kinds if kind in self.implementations]


def generic(argument: str) -> Callable[[Callable[..., Any]], Any]:
    """A kernel that has an implementation for each class of one of its arguments, a named tuple.

    The class is known when a caller is compiled, so that the choice costs nothing and the caller is cached
    with it: what a function handed over as an argument would prevent. Implementations are registered by
    ``@name.register(kind)``, in any module, with the same parameters; the decorated function itself only
    declares them.
    """

    def decorate(declared: Callable[..., Any]) -> Any:
        table = Generic(argument, declared)

        @functools.wraps(declared)
        def chosen(*args: Any) -> Any:
            return table.of(type(args[table.place]))(*args)

        def compiled(*types: Any) -> Callable[..., Any]:
            return table.of(types[table.place].instance_class)

        overload(chosen, jit_options=_COMMON | _INLINED, strict=False)(compiled)
        chosen.register, chosen.table = table.register, table  # type: ignore[attr-defined]
        return chosen

    return decorate


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
        home = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
        tag = hashlib.sha256(f"{home} {kind.__module__}".encode()).hexdigest()[:8]
        own.__qualname__ = re.sub(r"\W", "_", f"{function.__qualname__}_{kind.__qualname__}_{tag}")
        own.__module__ = function.__module__
        return part(own)


def part_for_each(function: Callable[..., int]) -> ForEach:
    """A part that is compiled for each class of what it works on, into files of its own.

    Anyone may add classes. An index of all of them could only be read where all of their modules are.
    """
    return ForEach(function)


def is_part_compiled(function: Callable[..., int], *arguments: Any) -> bool:
    """Whether ``address_of`` compiles nothing."""
    return not isinstance(function, CPUDispatcher) or _is_there(function, _part_types(arguments))


def _is_there(function: Any, kinds: tuple[Any, ...]) -> bool:
    return kinds in function.overloads or function._cache.has(kinds, function.targetctx.codegen())


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
    return _is_there(dispatcher, tuple(dispatcher.typeof_pyval(argument) for argument in arguments))
