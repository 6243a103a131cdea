"""How every compiled kernel of the framework is compiled and cached.

It stands in the lowest layer because all the others use it.

Our kernels inline one another across files, so that machine code depends on more than the file it stands in. The cache
folder is named by a digest of *all* kernel sources, and what is compiled with kernels of other files has a digest of
those in its key.
"""

import functools
import hashlib
import inspect
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
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic, lower_builtin, overload, type_callable

from contact.cache import KernelCache, folder_of

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


@cache
def cache_folder() -> Path:
    """The folder of compiled kernels, as ``contact.cache.folder_of`` chooses it.

    Raises:
        PermissionError: someone else can write to ``BIPED_CACHE_DIR``, or has made it.
    """
    return folder_of(_digest(kernel_sources(), numba.__version__, llvmlite.__version__))


@cache
def _known_files() -> frozenset[str]:
    return frozenset(str(path) for path in kernel_sources())


def _is_known(file: str) -> bool:
    """Whether the folder's name knows this file."""
    return file in _known_files() or os.path.realpath(file) in _known_files()


def _classes(found: Any) -> Iterator[type]:
    """The classes of all named tuples in a type."""
    if isinstance(found, types.NamedTuple):
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


# All files with kernels in them that this process has met.
_kernel_files: set[str] = set()


def _others_behind(function: Callable[..., Any], sig: Any) -> str:
    """A digest of the files that machine code depends on, and that the folder's name does not know."""
    if all(_is_known(file) for file in _kernel_files):
        return ""
    kinds = {kind for part in sig for kind in _classes(part)}
    others = sorted(file for file in _files_behind(function, kinds) if not _is_known(file))
    return _digest(Path(file) for file in others) if others else ""


class _Inlined(CPUDispatcher):  # type: ignore[misc]
    """A kernel without an entry from Python: called from there, it runs as the Python that it is."""

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)


_COMMON: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_INLINED = {"forceinline": True, "no_cpython_wrapper": True}


def _compile(function: F, **options: bool) -> F:
    compiled = numba.njit(**(_COMMON | options))(function)
    file = function.__code__.co_filename
    _kernel_files.add(file)
    if isinstance(compiled, CPUDispatcher) and os.path.isfile(file):  # not with NUMBA_DISABLE_JIT, or in a notebook
        compiled._cache = KernelCache(cache_folder(), function, functools.partial(_others_behind, function))
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


def part(function: F) -> F:
    """A kernel that is compiled once, by itself, and that kernels then call by its address.

    What is inlined is optimized again in each caller, and each caller's caller. A part is not; but it takes an address
    of all that it works on, and numbers, and gives back a whole number. ``unpacked`` makes a value of the address::

        @part
        def count_all(place, more):
            return count(unpacked(place)) + more

        @routine
        def use(world, address):
            return call(address, packed(world), 3)

    and from Python ``use(world, address_of(count_all, world, 3))``.
    """
    compiled = _compile(function, no_cfunc_wrapper=False, no_cpython_wrapper=True)
    if isinstance(compiled, CPUDispatcher):
        compiled.__class__ = _Inlined
    _parts.append(compiled)
    return compiled


def _part_types(value: Any, numbers: tuple[Any, ...]) -> tuple[Any, ...]:
    return (types.CPointer(numba.typeof(value)), *(numba.typeof(number) for number in numbers))


def address_of(function: Callable[..., int], value: Any, *numbers: float) -> int:
    """The address of a part for arguments of the types of these, compiled if need be."""
    if not isinstance(function, CPUDispatcher):  # with NUMBA_DISABLE_JIT
        return number_of(function)
    kinds = _part_types(value, numbers)
    function.compile(kinds)
    found = function.overloads[kinds]
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_cfunc_wrapper_name))


def number_of(function: Callable[..., int]) -> int:
    """What takes the place of a part's address where everything is interpreted."""
    return _parts.index(function)


def call(address: int, *args: Any) -> int:
    """What the part at this address gives back for these arguments."""
    return _parts[address](*args)


def packed(value: Any) -> Any:
    """The address of a value, a named tuple of arrays and numbers, as long as the routine runs that asks for it."""
    return value


def unpacked(place: Any) -> Any:
    """The value at an address."""
    return place


@overload(call, jit_options=_COMMON | _INLINED, strict=False)
def _compiled_call(address: Any, *args: Any) -> Any:
    return lambda address, *args: _call_at(address, args)


@type_callable(packed)
def _type_of_packed(_: Any) -> Any:
    return lambda value: types.int64


@type_callable(unpacked)
def _type_of_unpacked(_: Any) -> Any:
    return lambda place: place.dtype


@intrinsic
def _call_at(_: Any, address: Any, args: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        found = [builder.extract_value(values[1], k) for k in range(len(args))]
        kind = ir.FunctionType(ir.IntType(64), [value.type for value in found])
        return builder.call(builder.inttoptr(values[0], kind.as_pointer()), found)

    return types.int64(address, args), generate


@lower_builtin(packed, types.Any)
def _pack(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    # Not by ``overload``: what a function has on the stack is gone when it returns, also if it is inlined.
    room = cgutils.alloca_once(builder, context.get_data_type(signature.args[0]))
    _store_parts(context, builder, signature.args[0], values[0], room)
    return builder.ptrtoint(room, ir.IntType(64))


@lower_builtin(unpacked, types.Any)
def _unpack(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return _load_parts(context, builder, signature.return_type, values[0])


def _store_parts(context: Any, builder: Any, kind: Any, value: Any, room: Any) -> None:
    """Number by number: as a whole, a named tuple of a hundred arrays takes long to compile."""
    if isinstance(kind, types.BaseTuple):
        for k, inner in enumerate(kind):
            _store_parts(
                context, builder, inner, builder.extract_value(value, k), cgutils.gep_inbounds(builder, room, 0, k)
            )
    elif isinstance(kind, types.Array):
        for k in range(len(value.type.elements)):
            builder.store(builder.extract_value(value, k), cgutils.gep_inbounds(builder, room, 0, k))
    else:
        context.pack_value(builder, kind, value, room)


def _load_parts(context: Any, builder: Any, kind: Any, room: Any) -> Any:
    if isinstance(kind, types.BaseTuple):
        value = ir.Constant(context.get_value_type(kind), ir.Undefined)
        for k, inner in enumerate(kind):
            part_of_it = _load_parts(context, builder, inner, cgutils.gep_inbounds(builder, room, 0, k))
            value = builder.insert_value(value, part_of_it, k)
        return value
    if isinstance(kind, types.Array):
        value = ir.Constant(context.get_value_type(kind), ir.Undefined)
        for k in range(len(value.type.elements)):
            value = builder.insert_value(value, builder.load(cgutils.gep_inbounds(builder, room, 0, k)), k)
        return value
    return context.unpack_value(builder, kind, room)


class Generic:
    """What ``generic`` makes of a function: its implementations, by the class of one argument."""

    def __init__(self, argument: str, declared: Callable[..., Any], otherwise: bool) -> None:
        self.argument, self.declared, self.otherwise = argument, declared, otherwise
        self.place = list(inspect.signature(declared).parameters).index(argument)
        self.implementations: dict[type, Callable[..., Any]] = {}

    def register(self, kind: type) -> Callable[[F], F]:
        """A decorator: the function serves where the argument is a named tuple of this class."""

        def keep(function: F) -> F:
            self.implementations[kind] = function
            _kernel_files.add(function.__code__.co_filename)
            return kernel(function)

        return keep

    def of(self, kind: type) -> Callable[..., Any]:
        """The implementation for a class."""
        if kind not in self.implementations:
            if self.otherwise:
                return self.declared
            raise TypeError(f"{self.declared.__name__}: nothing registered for {self.argument} of {kind}")
        return self.implementations[kind]

    def among(self, kinds: set[type]) -> list[Callable[..., Any]]:
        """The implementations for some classes."""
        found = [self.implementations[kind] for kind in kinds if kind in self.implementations]
        return [*found, self.declared] if self.otherwise else found


def generic(argument: str, otherwise: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """A kernel that has an implementation for each class of one of its arguments, a named tuple.

    The class is known when a caller is compiled, so that the choice costs nothing and the caller is cached
    with it: what a function handed over as an argument would prevent. Implementations are registered by
    ``@name.register(kind)``, in any module, with the same parameters; the decorated function itself only
    declares them, or, with ``otherwise``, serves all classes that nothing is registered for.
    """

    def decorate(declared: Callable[..., Any]) -> Any:
        table = Generic(argument, declared, otherwise)

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
    """What ``routine_for_each`` makes of a function: a routine for each class of one argument."""

    def __init__(self, argument: str, function: Callable[..., Any]) -> None:
        self.argument, self.function = argument, function
        self.place = list(inspect.signature(function).parameters).index(argument)
        self.routines: dict[type, Callable[..., Any]] = {}
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        """Run the routine for these arguments."""
        return self.of(*args)(*args)

    def of(self, *args: Any) -> Callable[..., Any]:
        """The routine for these arguments."""
        kind = type(args[self.place])
        if kind not in self.routines:
            self.routines[kind] = self._for(kind)
        return self.routines[kind]

    def _for(self, kind: type) -> Callable[..., Any]:
        function: Any = self.function
        own = python_types.FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        home = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
        tag = hashlib.sha256(f"{home} {kind.__module__}".encode()).hexdigest()[:8]
        own.__qualname__ = re.sub(r"\W", "_", f"{function.__qualname__}_{kind.__qualname__}_{tag}")
        own.__module__ = function.__module__
        return routine(own)


def routine_for_each(argument: str) -> Callable[[Callable[..., Any]], Any]:
    """A routine that is compiled for each class of one of its arguments, a named tuple, into files of its own.

    Anyone may add classes. An index of all of them could only be read where all of their modules are.
    """
    return functools.partial(ForEach, argument)


def is_part_compiled(function: Callable[..., int], value: Any, *numbers: float) -> bool:
    """Whether ``address_of`` compiles nothing."""
    return not isinstance(function, CPUDispatcher) or _is_there(function, _part_types(value, numbers))


def _is_there(function: Any, kinds: tuple[Any, ...]) -> bool:
    return kinds in function.overloads or function._cache.has(kinds, function.targetctx.codegen())


def is_compiled(function: Callable[..., Any], *arguments: Any) -> bool:
    """Whether calling this routine compiles nothing, since its machine code is already on disk.

    With ``arguments`` the code for their types is meant, else any.
    """
    function = getattr(function, "routine", function)
    if isinstance(function, ForEach):
        function = function.of(*arguments)
    cache = getattr(function, "_cache", None)
    if not isinstance(cache, KernelCache):
        return True
    dispatcher: Any = function
    if not arguments:
        return bool(dispatcher.overloads) or cache.has(None, None)
    return _is_there(dispatcher, tuple(dispatcher.typeof_pyval(argument) for argument in arguments))
