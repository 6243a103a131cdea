"""Decorators of kernels and routines."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.extending import overload

from kernelcache.cache import BITCODE, MACHINE_CODE, KernelCache
from kernelcache.private import NO_ALLOCATION, BitcodeCompiler, CPUDispatcher, MachineCodeCompiler, keep_in
from kernelcache.references import Packed
from kernelcache.target import PLAIN

types: Any = numba.types

F = TypeVar("F", bound=Callable[..., Any])


class _Compiled(CPUDispatcher):  # type: ignore[misc]
    """Dispatcher that compiles a function once for all whole numbers, instead of once for each constant argument."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return Numba's template without literal types; LLVM sees constant arguments after inlining."""
        return super().get_call_template(
            tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in kws.items()}
        )


class Inlined(_Compiled):
    """Dispatcher of a kernel, which compiled code inlines and Python interprets."""

    def __call__(self, *args: Any) -> Any:
        """Call the Python function, without compiled code."""
        return self.py_func(*args)


class Routine(_Compiled):
    """Dispatcher of a routine, whose compiled code can be called from Python."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the compiled code, with named tuples passed by reference."""
        named = {name: by_reference(value) for name, value in kwargs.items()} if kwargs else kwargs
        return super().__call__(*[by_reference(a) if isinstance(a, tuple) else a for a in args], **named)


def by_reference(value: Any) -> Any:
    """Return a named tuple as ``Packed``, and any other value unchanged."""
    return Packed(value) if isinstance(value, tuple) and hasattr(value, "_fields") else value


def packed(*values: Any) -> tuple[Any, ...]:
    """Return named tuples packed once for many calls of routines; unchanged if routines take the tuples themselves."""
    return values if numba.config.DISABLE_JIT or PLAIN else tuple(map(Packed, values))


_COMMON: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True} | NO_ALLOCATION
_INLINED = {"forceinline": True, "no_cpython_wrapper": True}


def compiled(function: F, kind: type[_Compiled], pipeline: Any = MachineCodeCompiler, **options: Any) -> F:
    """Return the dispatcher of a function, with a cache if the function is defined in a file."""
    if numba.config.DISABLE_JIT:
        return function
    if PLAIN:
        return numba.njit(nogil=True, error_model="numpy")(function)
    chosen = {"nopython": True, "boundscheck": None} | _COMMON | options
    dispatcher: Any = kind(function, targetoptions=chosen, pipeline_class=pipeline)
    if os.path.isfile(function.__code__.co_filename):  # not in a notebook
        suffix = BITCODE if issubclass(pipeline, BitcodeCompiler) else MACHINE_CODE
        keep_in(dispatcher, KernelCache(dispatcher, suffix))
    return dispatcher


def kernel(function: F) -> F:
    """Turn a function into a kernel, which is compiled into the kernels, routines and parts that call it.

    It is inlined, so that LLVM knows its arrays and constants. Compiled code is cached. Python interprets the function
    when it calls it, with equal results: an entry from Python would take longer to compile than the kernel. A kernel
    cannot allocate memory, since Numba's runtime is off, and does not hold the GIL. Without fast-math, a run continued
    on another machine is equal bit for bit. Division by zero follows IEEE and raises no error.
    """
    return compiled(function, Inlined, BitcodeCompiler, **_INLINED)


def routine(function: F) -> F:
    """Turn a function into a routine: a kernel that is not inlined and can be called from Python, as the API does.

    Use it for a large kernel that is called several times in a part: LLVM needs over twice as long for twice the code.
    """
    return compiled(function, Routine)


def stands_for(function: F, implementation: Callable[..., Any]) -> F:
    """Replace ``function`` in compiled code by the function that ``implementation`` returns for the argument types.

    Like Numba's ``overload``, but inlined; the cache keys of calling kernels include the implementation.
    """
    options = {} if PLAIN else {"jit_options": _COMMON | _INLINED | {"pipeline_class": BitcodeCompiler}}
    overload(function, strict=False, **options)(implementation)
    function.compiled_as = implementation  # type: ignore[attr-defined]
    return function
