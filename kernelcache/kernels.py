"""The decorators of kernels, and how each kind is compiled."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.extending import overload

from kernelcache.cache import BITCODE, MACHINE_CODE, KernelCache
from kernelcache.private import (
    NO_ALLOCATION,
    BitcodeCompiler,
    CPUDispatcher,
    MachineCodeCompiler,
    keep_in,
)
from kernelcache.references import Packed
from kernelcache.target import PLAIN

types: Any = numba.types

F = TypeVar("F", bound=Callable[..., Any])


class _Compiled(CPUDispatcher):  # type: ignore[misc]
    """A function that is compiled once for all whole numbers, and not for each that a caller names as a constant."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return Numba's template for types that are not literal: LLVM sees constants once the function is inlined."""
        return super().get_call_template(
            tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in kws.items()}
        )


class Inlined(_Compiled):
    """A kernel without an entry from Python."""

    def __call__(self, *args: Any) -> Any:
        """Run it as the Python that it is."""
        return self.py_func(*args)


class Routine(_Compiled):
    """A kernel with an entry from Python."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it, with named tuples by reference."""
        return super().__call__(*map(by_reference, args), **{name: by_reference(v) for name, v in kwargs.items()})


def by_reference(value: Any) -> Any:
    """Return a named tuple packed, and anything else as it is."""
    return Packed(value) if isinstance(value, tuple) and hasattr(value, "_fields") else value


_COMMON: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True} | NO_ALLOCATION
_INLINED = {"forceinline": True, "no_cpython_wrapper": True}


def compiled(function: F, kind: type[_Compiled], pipeline: Any = MachineCodeCompiler, **options: Any) -> F:
    """Return the dispatcher of a function, with a cache where the function's file is there to be edited."""
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
    """Compile ``function`` into the kernels and routines that call it: cached, without the GIL.

    Inlined, so that LLVM sees where its arrays are and which of its numbers are constant; and without an entry from
    Python, which would take longer to compile than the kernel. Without Numba's runtime, so that a function that
    allocates does not compile. No fast-math: a run is the same bit for bit wherever it is continued. Division by zero
    follows IEEE, so that a kernel never needs the interpreter.

    Called from Python it runs interpreted, with equal results.
    """
    return compiled(function, Inlined, BitcodeCompiler, **_INLINED)


def routine(function: F) -> F:
    """Like ``kernel``, but called, not inlined, and open to Python: the typed API enters by it.

    It also serves for what is large and called at several places of a part: LLVM takes more than twice as long for a
    function of twice the size.
    """
    return compiled(function, Routine)


def stands_for(function: F, implementation: Callable[..., Any]) -> F:
    """In compiled code a function is what ``implementation`` returns for the types of its arguments.

    Numba's ``overload``, inlined as kernels are; and keys of kernels know of it.
    """
    options = {} if PLAIN else {"jit_options": _COMMON | _INLINED | {"pipeline_class": BitcodeCompiler}}
    overload(function, strict=False, **options)(implementation)
    function.compiled_as = implementation  # type: ignore[attr-defined]
    return function
