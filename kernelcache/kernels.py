"""The decorators: what a function has to be like, and how it is compiled."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core.registry import CPUDispatcher
from numba.extending import overload

from kernelcache import target  # noqa: F401 (it tells Numba which processor to compile for)
from kernelcache.beside import Job, leave_to_others
from kernelcache.bitcode import BitcodeCompiler, CalledBitcodeCompiler, MachineCodeCompiler
from kernelcache.cache import BITCODE, MACHINE_CODE, KernelCache
from kernelcache.references import Packed

types: Any = numba.types

F = TypeVar("F", bound=Callable[..., Any])


class _Compiled(CPUDispatcher):  # type: ignore[misc]
    """A function that is compiled once for all whole numbers, and not for each that a caller names as a constant."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Numba's; what a constant is worth is seen by LLVM, after the function was inlined."""
        return super().get_call_template(
            tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in kws.items()}
        )


class Inlined(_Compiled):
    """A kernel without an entry from Python: called from there, it runs as the Python that it is."""

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)


class _Called(_Compiled):
    """A routine: it may have been compiled elsewhere when it is first called."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it, named tuples by reference."""
        packed = (Packed(value) if hasattr(value, "_fields") else value for value in args)
        named = {name: Packed(value) if hasattr(value, "_fields") else value for name, value in kwargs.items()}
        return super().__call__(*packed, **named)

    def compile(self, sig: Any) -> Any:
        """Numba's, after other processes have been asked."""
        leave_to_others(Job(self, tuple(getattr(sig, "args", sig))))
        return super().compile(sig)


_COMMON: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
# Said, since Numba hands ``forceinline`` on to what a kernel calls; and it is a part of the key, as a compiler is not.
_WITHIN = {"forceinline": False, "no_cpython_wrapper": True, "pipeline_class": CalledBitcodeCompiler}
_INLINED = {"forceinline": True, "no_cpython_wrapper": True, "pipeline_class": BitcodeCompiler}


def compiled(function: F, kind: type[_Compiled], **options: Any) -> F:
    """Return a function's dispatcher, with a cache where its file is there to be edited."""
    if numba.config.DISABLE_JIT:
        return function
    chosen = {"pipeline_class": MachineCodeCompiler, "nopython": True, "boundscheck": None} | _COMMON | options
    pipeline = chosen.pop("pipeline_class")
    dispatcher: Any = kind(function, targetoptions=chosen, pipeline_class=pipeline)
    if os.path.isfile(function.__code__.co_filename):  # not in a notebook
        dispatcher._cache = KernelCache(dispatcher, BITCODE if issubclass(pipeline, BitcodeCompiler) else MACHINE_CODE)
    return dispatcher


def kernel(function: F) -> F:
    """Compile ``function`` into the kernels and routines that call it: cached, without the GIL.

    Inlined, so that LLVM sees where its arrays are and which of its numbers are constant; and
    without an entry from Python, which would take longer to compile than the kernel. Without Numba's
    runtime, so that an allocation does not compile. No fast-math: a run is the same bit for bit wherever
    it is continued. Division by zero follows IEEE, so that a kernel never needs the interpreter.

    Called from Python it runs interpreted, with the same result.
    """
    return compiled(function, Inlined, **_INLINED)


def subroutine(function: F) -> F:
    """Like ``kernel``, but called, not inlined: for what is large, and called seldom or at several places of a part.

    Of a function of twice the size LLVM optimizes some more than twice as long. It is told that nothing is written
    where the arguments' named tuples are: they are only read, by whomever.
    """
    return compiled(function, Inlined, **_WITHIN)


def routine(function: F) -> F:
    """Like ``kernel``, but called, not inlined, and open to Python: what the typed API enters by."""
    return compiled(function, _Called)


def stands_for(function: F, implementation: Callable[..., Any]) -> F:
    """In compiled code a function is what ``implementation`` returns for the types of its arguments.

    Numba's ``overload``, inlined as kernels are; and keys of kernels know of it.
    """
    overload(function, jit_options=_COMMON | _INLINED, strict=False)(implementation)
    function.compiled_as = implementation  # type: ignore[attr-defined]
    return function
