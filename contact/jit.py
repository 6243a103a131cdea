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
from numba.core import types
from numba.core.registry import CPUDispatcher
from numba.extending import overload

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
    compiled = numba.njit(**_COMMON, **options)(function)
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


def is_compiled(function: Callable[..., Any], *arguments: Any) -> bool:
    """Whether calling this routine compiles nothing, since its machine code is already on disk.

    With ``arguments`` the code for their types is meant, else any.
    """
    if isinstance(function, ForEach):
        function = function.of(*arguments)
    cache = getattr(function, "_cache", None)
    if not isinstance(cache, KernelCache):
        return True
    dispatcher: Any = function
    if not arguments:
        return bool(dispatcher.overloads) or cache.has(None, None)
    types = tuple(dispatcher.typeof_pyval(argument) for argument in arguments)
    return types in dispatcher.overloads or cache.has(types, dispatcher.targetctx.codegen())
