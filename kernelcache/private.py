"""All uses of private names of Numba, in one file; README.md lists the names.

Kernels that are always inlined need no machine code. Numba would nevertheless optimize each of them with all functions
that it calls and make machine code, which takes two fifths of the time of a first run. Here a kernel is stored as LLVM
bitcode, without the functions that it calls (``Bitcode``). A routine or a part links all kernels once, and is optimized
as a whole (``MachineCode``).
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

from kernelcache import target  # noqa: F401 (it sets Numba's target processor)
from kernelcache.keys import key_of

__all__ = ["AttributeTemplate", "CPUDispatcher", "dumps", "trigger_event"]

#: Option of dispatchers: no reference counting, so that functions cannot allocate memory.
NO_ALLOCATION = {"_nrt": False}

#: Content of a kernel's file: name, format, the kernel's bitcode, and the files of the kernels that it calls.
Serialized = tuple[str, str, tuple[bytes, tuple[str, ...]]]


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """Numba library of compiled code with one pass manager for all functions of a module.

    Functions are only simplified here; a part is optimized as a whole after inlining.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        options = binding.create_pipeline_tuning_options(speed_level=1)
        # In a kernel, unrolled loops would copy calls that are not inlined yet; a part is slower without unrolling.
        options.loop_unrolling = not any(isinstance(library, Bitcode) for library in self._linking_libraries)
        builder = binding.create_pass_builder(self._codegen._tm, options)
        passes = builder.getFunctionPassManager()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)


class Bitcode(_Library):
    """Code of a kernel, which is inlined and never called by address.

    Attributes:
        uses: kernels that this kernel calls directly or indirectly, each after all of its callers: LLVM links a kernel
            only if a caller is already linked.
        file_name: name of the kernel's file in the cache; empty if it has none.
    """

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.uses: dict[Bitcode, None] = {}
        self.file_name = ""

    @property
    def codegen(self) -> Any:
        """Numba's code generator, which sets no environment, since there is no machine code to set it in."""
        return _InsteadOf(self._codegen, set_env=_set_no_environment)

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, since there is no machine code."""
        return 0

    def finalize(self) -> None:
        """Link all libraries except kernels, which are linked by the callers of this kernel."""
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

    def kernel_module(self) -> Any:
        """Return the kernel's code without the kernels that it calls, for linking."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """Return the kernel's code with all kernels that it calls, for callers that stock Numba compiles."""
        complete = self.kernel_module().clone()
        for library in self.uses:
            complete.link_in(library.kernel_module(), preserve=True)
        return complete

    def serialize_using_object_code(self) -> Serialized:
        """Return the content of the kernel's file, which includes called kernels that have no file."""
        self._ensure_finalized()
        module = self.kernel_module().clone()
        for library in self.uses:
            if not library.file_name:
                module.link_in(library.kernel_module(), preserve=True)
        files = tuple(library.file_name for library in self.uses if library.file_name)
        return self.name, "bitcode", (module.as_bitcode(), files)

    @classmethod
    def of(cls, codegen: Any, serialized: Serialized, find: "Callable[[str], Bitcode]") -> "Bitcode":
        """Return a kernel from the content of its file; ``find`` returns a called kernel by its file name."""
        name, _, (bitcode, files) = serialized
        library = cls(codegen, name)
        library._final_module = binding.parse_bitcode(bitcode)
        for file in files:  # ``linked`` adds indirect calls, which this list lacks if this process compiled them
            library.uses = linked(library.uses, find(file))
        library._finalize_final_module()
        return library


def linked(kernels: dict[Bitcode, None], more: Bitcode) -> dict[Bitcode, None]:
    """Return kernels in the order for linking by LLVM: ``more`` and all kernels that it calls come last."""
    used = {more: None, **more.uses}
    return {known: None for known in kernels if known not in used} | used


def _is_routine(function: Any) -> bool:
    """Return True if a function is a routine, which is not always inlined as kernels are."""
    return b"alwaysinline" not in function.attributes


class MachineCode(_Library):
    """Machine code of a routine or a part.

    Its bitcode is read from the cache only if a caller links it: reading bitcode takes longer and much more memory
    than reading machine code.
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
        """Link a library now; a kernel, with all kernels that it calls, after all other libraries."""
        if isinstance(library, Bitcode):
            library._ensure_finalized()
            self._kernels = linked(self._kernels, library)
        else:
            super().add_linking_library(library)

    def _optimize_final_module(self) -> None:
        """Link kernels as internal functions, which LLVM drops after inlining; then optimize the whole."""
        for library in self._kernels:
            self._reload_init.update(library._reload_init)
            module = library.kernel_module()
            names = {function.name for function in module.functions if not function.is_declaration}
            self._final_module.link_in(module, preserve=True)
            for function in self._final_module.functions:
                if function.name in names and not function.is_declaration:
                    function.linkage = binding.Linkage.internal
                    if _is_routine(function):  # other modules call the routine by its name
                        function.name += ".own"
        super()._optimize_final_module()

    def _verify_declare_only_symbols(self) -> None:
        """Check that all functions are linked, since LLVM would end the process for a missing one."""
        for function in self._final_module.functions:
            if function.is_declaration and function.name.startswith("_ZN"):
                raise AssertionError(f"{self.name}: {function.name} was not linked")

    def _get_module_for_linking(self) -> Any:
        if self._bitcode and self._shared_module is None:
            self._shared_module = binding.parse_bitcode(self._bitcode)
        return super()._get_module_for_linking()

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes, tuple[str, ...]]]:
        """Return the content of the file: machine code, bitcode, and names of the defined symbols."""
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
    """Proxy of a Numba object in which some attributes are replaced."""

    def __init__(self, replaced: Any, **attributes: Any) -> None:
        self._replaced = replaced
        vars(self).update(attributes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._replaced, name)


def _set_no_environment(name: str, environment: Any) -> None:
    """Set no environment: it would hold objects of the interpreter, which kernels do not use."""


class _KernelCompiler(Compiler):  # type: ignore[misc]
    """Numba compiler with a library of this package, and a unique symbol for each kernel."""

    _library: type[_Library]

    def define_pipelines(self) -> Any:
        """Set library and symbol of the function before compilation begins; return Numba's pipelines."""
        function, codegen = self.state.func_id, self.state.targetctx.codegen()
        # Numba numbers symbols per process: code of two processes may use one for two functions (numba#10486).
        key = key_of(function.func, self.state.args, self._library.__name__, codegen.magic_tuple())
        function.unique_id = int(key[:15], 16)
        function.unique_name = f"{function.func_qualname}${function.unique_id}"
        self.state.library = self._library(codegen, function.func_qualname)
        return super().define_pipelines()


class BitcodeCompiler(_KernelCompiler):
    """Compiler to bitcode, for kernels that are inlined."""

    _library = Bitcode


class MachineCodeCompiler(_KernelCompiler):
    """Compiler to machine code, for routines and parts; each kernel is linked once."""

    _library = MachineCode


def rebuilt(target_context: Any, library: Bitcode | MachineCode, payload: tuple[Any, ...]) -> Any:
    """Return a ``CompileResult`` with a given library, from the content of a file."""
    codegen = _InsteadOf(library.codegen, unserialize_library=lambda _: library)
    result = CompileResult._rebuild(_InsteadOf(target_context, codegen=lambda: codegen), *payload)
    return result._replace(target_context=target_context)


def entry_address(dispatcher: Any, kinds: tuple[Any, ...]) -> int:
    """Return the address of a dispatcher's compiled function for given argument types, with C calling convention."""
    overload = dispatcher.overloads[kinds]
    return int(overload.library.get_pointer_to_function(overload.fndesc.llvm_cfunc_wrapper_name))


def keep_in(dispatcher: Any, cache: Any) -> None:
    """Set the cache of a dispatcher, from which it loads code and in which it saves code."""
    dispatcher._cache = cache


def cache_of(dispatcher: Any) -> Any:
    """Return the cache of a dispatcher, or None."""
    return getattr(dispatcher, "_cache", None)
