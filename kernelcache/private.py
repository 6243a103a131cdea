"""Private names of Numba that this package uses, all in one file: README.md has a table of them.

Kernels that are only inlined need no machine code of their own. Numba optimizes each function with all that it calls,
and makes machine code of it: for an inlined kernel that is wasted, two fifths of the time of a first run. Here such a
kernel is kept as LLVM's bitcode, without what it calls (``Bitcode``). A routine or a part links all that it is made of
once, and is optimized as a whole (``MachineCode``).
"""

from collections.abc import Callable
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.event import trigger_event
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps
from numba.core.typing.templates import AttributeTemplate

from kernelcache import target  # noqa: F401 (it tells Numba which processor to compile for)
from kernelcache.keys import key_of

__all__ = ["AttributeTemplate", "CPUDispatcher", "dumps", "trigger_event"]

#: An option of dispatchers: no reference counts, and so no function that allocates.
NO_ALLOCATION = {"_nrt": False}

#: A cached kernel's own code, and the files of the kernels that it calls.
Serialized = tuple[str, str, tuple[bytes, tuple[str, ...]]]


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """Numba's library with one pass manager for all functions of a module.

    Functions are only simplified here: a part is optimized as a whole once they are inlined.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        options = binding.create_pipeline_tuning_options(speed_level=1)
        # In a kernel, an unrolled loop would copy calls that are yet to be inlined; a part is slower without.
        options.loop_unrolling = not any(isinstance(library, Bitcode) for library in self._linking_libraries)
        builder = binding.create_pass_builder(self._codegen._tm, options)
        passes = builder.getFunctionPassManager()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)


class Bitcode(_Library):
    """The code of a kernel that nobody calls by its address.

    Attributes:
        uses: the kernels that it calls, and those that these call; each after all that call it, since LLVM links a
            kernel only where something that is there already calls it.
        file_name: the name of its file in the cache; empty where it is in none.
    """

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.uses: dict[Bitcode, None] = {}
        self.file_name = ""

    @property
    def codegen(self) -> Any:
        """Numba's generator of code, but that there is no environment to be set in machine code that is not made."""
        return _InsteadOf(self._codegen, set_env=_set_no_environment)

    def get_pointer_to_function(self, name: str) -> int:
        """Return no address: there is no machine code."""
        return 0

    def finalize(self) -> None:
        """Link what is no kernel; its callers link the kernels."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            if isinstance(library, Bitcode):
                self.uses = linked(self.uses, library)
            else:
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_final_module()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def own_module(self) -> Any:
        """Return the kernel's own code, to be linked."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """Return the kernel with all that it calls, for callers that Numba alone compiles."""
        complete = self.own_module().clone()
        for library in self.uses:
            complete.link_in(library.own_module(), preserve=True)
        return complete

    def serialize_using_object_code(self) -> Serialized:
        """Return the content of a file; kernels without a file of their own are included."""
        self._ensure_finalized()
        module = self.own_module().clone()
        for library in self.uses:
            if not library.file_name:
                module.link_in(library.own_module(), preserve=True)
        files = tuple(library.file_name for library in self.uses if library.file_name)
        return self.name, "bitcode", (module.as_bitcode(), files)

    @classmethod
    def of(cls, codegen: Any, serialized: Serialized, find: "Callable[[str], Bitcode]") -> "Bitcode":
        """Return a kernel from the content of its file; ``find`` returns the kernels that it calls, by file name."""
        name, _, (bitcode, files) = serialized
        library = cls(codegen, name)
        library._final_module = binding.parse_bitcode(bitcode)
        for file in files:  # with all that those call, which is in no file where this process has compiled them
            library.uses = linked(library.uses, find(file))
        library._finalize_final_module()
        return library


def linked(kernels: dict[Bitcode, None], more: Bitcode) -> dict[Bitcode, None]:
    """Return kernels in the order in which LLVM is to link them: ``more``, and all that it calls, come last."""
    used = {more: None, **more.uses}
    return {known: None for known in kernels if known not in used} | used


def _is_routine(function: Any) -> bool:
    """Return whether a function is a routine; kernels are always inlined."""
    return b"alwaysinline" not in function.attributes


class MachineCode(_Library):
    """The machine code of a routine or a part, which are called by address.

    Once it is kept, its bitcode is only wanted where something else links it: to read it takes longer, and much more
    memory, than the machine code.
    """

    _bitcode = b""
    _final_module: Any
    _shared_module: Any
    _linking_libraries: list[Any]

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._kernels: dict[Bitcode, None] = {}
        self.enable_object_caching()

    def add_linking_library(self, library: Any) -> None:
        """Link a library, or, once all others are linked, a kernel and those that it calls."""
        if isinstance(library, Bitcode):
            library._ensure_finalized()
            self._kernels = linked(self._kernels, library)
        else:
            super().add_linking_library(library)

    def _optimize_final_module(self) -> None:
        """Link kernels as functions that nobody else calls, of which LLVM drops what is inlined; then optimize."""
        for library in self._kernels:
            self._reload_init.update(library._reload_init)
            module = library.own_module()
            names = {function.name for function in module.functions if not function.is_declaration}
            self._final_module.link_in(module, preserve=True)
            for function in self._final_module.functions:
                if function.name in names and not function.is_declaration:
                    function.linkage = binding.Linkage.internal
                    if _is_routine(function):  # which others call by its name
                        function.name += ".own"
        super()._optimize_final_module()

    def _verify_declare_only_symbols(self) -> None:
        """Check that every function was linked: LLVM ends the process where it finds no code for one."""
        for function in self._final_module.functions:
            if function.is_declaration and function.name.startswith("_ZN"):
                raise AssertionError(f"{self.name}: {function.name} was not linked")

    def _get_module_for_linking(self) -> Any:
        if self._bitcode and self._shared_module is None:
            self._shared_module = binding.parse_bitcode(self._bitcode)
        return super()._get_module_for_linking()

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes, tuple[str, ...]]]:
        """Return the content of a file: machine code, bitcode, and the names of their symbols."""
        name, kind, (code, bitcode) = super().serialize_using_object_code()
        module = self._get_module_for_linking()
        defined = (
            value.name
            for values in (module.functions, module.global_variables)
            for value in values
            if not value.is_declaration and value.linkage != binding.Linkage.internal
        )
        return name, kind, (code, bitcode, tuple(defined))

    @classmethod
    def of(cls, codegen: Any, serialized: tuple[str, str, tuple[bytes, bytes, tuple[str, ...]]]) -> "MachineCode":
        """Return a routine or a part from the content of its file."""
        name, _, (code, bitcode, symbols) = serialized
        library = cls(codegen, name)
        library._set_compiled_object(code)
        library._bitcode = bitcode
        library._finalize_final_module()
        library._codegen._engine._defined_symbols.update(symbols)
        return library


class _InsteadOf:
    """An object of Numba with some attributes replaced."""

    def __init__(self, replaced: Any, **others: Any) -> None:
        self._replaced = replaced
        vars(self).update(others)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._replaced, name)


def _set_no_environment(name: str, environment: Any) -> None:
    """Environments hold the interpreter's objects, of which kernels have none."""


class _KernelCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler with a library of this package and symbols that no two kernels share."""

    _library: type[_Library]

    def define_pipelines(self) -> Any:
        """Return Numba's pipelines, after the library is made: here the function is known, and nothing has begun."""
        function, codegen = self.state.func_id, self.state.targetctx.codegen()
        # Numba counts: code from two processes then has one symbol for two functions (numba#10486).
        key = key_of(function.func, self.state.args, self._library.__name__, codegen.magic_tuple())
        function.unique_id = int(key[:15], 16)
        function.unique_name = f"{function.func_qualname}${function.unique_id}"
        self.state.library = self._library(codegen, function.func_qualname)
        return super().define_pipelines()


class BitcodeCompiler(_KernelCompiler):
    """Up to the bitcode: for kernels that are inlined."""

    _library = Bitcode


class MachineCodeCompiler(_KernelCompiler):
    """To machine code; each kernel is linked once."""

    _library = MachineCode


def rebuilt(target_context: Any, library: Bitcode | MachineCode, payload: tuple[Any, ...]) -> Any:
    """Return a ``CompileResult`` with this library, from the content of a file."""
    codegen = _InsteadOf(library.codegen, unserialize_library=lambda _: library)
    found = CompileResult._rebuild(_InsteadOf(target_context, codegen=lambda: codegen), *payload)
    return found._replace(target_context=target_context)


def entry_address(dispatcher: Any, kinds: tuple[Any, ...]) -> int:
    """Return the address by which C would call what a dispatcher has compiled for some types."""
    found = dispatcher.overloads[kinds]
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_cfunc_wrapper_name))


def keep_in(dispatcher: Any, cache: Any) -> None:
    """Let a dispatcher load what it compiles from a cache, and keep it there."""
    dispatcher._cache = cache


def cache_of(dispatcher: Any) -> Any:
    """Return the cache of a dispatcher, or None."""
    return getattr(dispatcher, "_cache", None)
