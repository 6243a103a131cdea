"""Kernels that are only ever inlined need no machine code of their own: they are kept as LLVM's bitcode.

Numba optimizes each function with all that it calls, and makes machine code of it: for a kernel that is inlined into
others that is work for nothing, two fifths of the time of a first run. Here such a kernel is only brought into the
form that its callers link; what they are made of is optimized once, in them.
"""

from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult


class _Bitcode(JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel that nobody calls by its address."""

    @property
    def codegen(self) -> Any:
        """Numba's generator of code, but that there is no environment to be set in machine code that is not made."""
        return _InsteadOf(self._codegen, set_env=_set_no_environment)

    def get_pointer_to_function(self, name: str) -> int:
        """None."""
        return 0

    def serialize_using_object_code(self) -> Any:
        """What is cached."""
        return self.serialize_using_bitcode()

    def _optimize_final_module(self) -> None:
        """Its callers do."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _InsteadOf:
    """Something of Numba's, but for the attributes that are given."""

    def __init__(self, replaced: Any, **others: Any) -> None:
        self._replaced = replaced
        vars(self).update(others)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._replaced, name)


def _set_no_environment(name: str, environment: Any) -> None:
    """Environments hold the interpreter's objects, of which kernels have none."""


class BitcodeCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler up to the bitcode."""

    def define_pipelines(self) -> Any:
        """Numba's; the library is made here, where the function's name is known, and before it is needed."""
        codegen = self.state.targetctx.codegen()
        self.state.library = _Bitcode(codegen, self.state.func_id.func_qualname)
        return super().define_pipelines()


def rebuilt(target_context: Any, serialized: tuple[str, str, bytes], *more: Any) -> Any:
    """A kernel's ``CompileResult`` from what was cached of it."""
    name, _, bitcode = serialized
    library = _Bitcode(target_context.codegen(), name)
    library._final_module = binding.parse_bitcode(bitcode)
    library._finalize_final_module()
    codegen = _InsteadOf(library.codegen, unserialize_library=lambda _: library)
    found = CompileResult._rebuild(_InsteadOf(target_context, codegen=lambda: codegen), serialized, *more)
    return found._replace(target_context=target_context)
