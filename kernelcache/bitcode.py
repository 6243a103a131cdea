"""Kernels that are only ever inlined need no machine code of their own: they are kept as LLVM's bitcode.

Numba optimizes each function with all that it calls, and makes machine code of it: for a kernel that is inlined into
others that is work for nothing, two fifths of the time of a first run. Here such a kernel is only brought into the
form that its callers link, without what it calls itself; a routine or a part links all that it is made of, once, and
is optimized as a whole.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult

from kernelcache.target import NUMBERS

#: A cached kernel's own code, and the files of the kernels that it calls.
Serialized = tuple[str, str, tuple[bytes, tuple[str, ...]]]


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """Numba's, but that all functions of a module are optimized by one pass manager, and only those that are there.

    That is no more than is worth it before they are inlined; a part is optimized as a whole then.
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
        own: its code without theirs, for those who link that too.
    """

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.uses: dict[Bitcode, None] = {}
        self.file_name = ""
        self.own = _Own(self)

    @property
    def codegen(self) -> Any:
        """Numba's generator of code, but that there is no environment to be set in machine code that is not made."""
        return _InsteadOf(self._codegen, set_env=_set_no_environment)

    def get_pointer_to_function(self, name: str) -> int:
        """None."""
        return 0

    def finalize(self) -> None:
        """Link what is no kernel; its callers link the kernels."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            if isinstance(library, Bitcode):
                self._use(library)
            else:
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_final_module()

    def _use(self, library: "Bitcode") -> None:
        """Take it, and all that it calls, behind whatever is there."""
        used = {library: None, **library.uses}
        self.uses = {known: None for known in self.uses if known not in used} | used

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def own_module(self) -> Any:
        """Its own code, to be linked."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """All of it: for who is compiled by Numba alone."""
        complete = self.own_module().clone()
        for library in self.uses:
            complete.link_in(library.own_module(), preserve=True)
        return complete

    def serialize_using_object_code(self) -> Serialized:
        """What is cached: kernels that have no file of their own are a part of it."""
        self._ensure_finalized()
        module = self.own_module().clone()
        for library in self.uses:
            if not library.file_name:
                module.link_in(library.own_module(), preserve=True)
        files = tuple(library.file_name for library in self.uses if library.file_name)
        return self.name, "bitcode", (module.as_bitcode(), files)

    @classmethod
    def of(cls, codegen: Any, serialized: Serialized, find: "Callable[[str], Bitcode]") -> "Bitcode":
        """A kernel from what was cached of it; ``find`` gives those that it calls, by their files."""
        name, _, (bitcode, files) = serialized
        library = cls(codegen, name)
        library._final_module = binding.parse_bitcode(bitcode)
        for file in files:  # with all that those call, which is in no file where this process has compiled them
            library._use(find(file))
        library._finalize_final_module()
        return library


class Called(Bitcode):
    """The code of a kernel that LLVM is not to inline."""

    def _finalize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and _is_routine(function):
                function.add_function_attribute("noinline")
        super()._finalize_final_module()


class _Own:
    """What there is of a kernel to link, without what it calls."""

    def __init__(self, library: Bitcode) -> None:
        self._library = library

    @property
    def names(self) -> list[str]:
        """Of the kernel's functions, and of the routines' that it calls."""
        return [function.name for function in self._library.own_module().functions if not function.is_declaration]

    @property
    def _reload_init(self) -> Any:
        return self._library._reload_init

    def _get_module_for_linking(self) -> Any:
        return self._library.own_module()


def _is_routine(function: Any) -> bool:
    """Whether it may be called from elsewhere: of all kernels LLVM is told whether to inline them."""
    return not {b"alwaysinline", b"noinline"} & set(function.attributes)


class MachineCode(_Library):
    """The code of what is called by its address.

    Once it is kept, its bitcode is only wanted where something else links it: to read it takes longer, and much more
    memory, than the machine code.
    """

    _bitcode = b""
    _final_module: Any
    _shared_module: Any
    _linking_libraries: list[Any]

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.enable_object_caching()

    def add_linking_library(self, library: Any) -> None:
        """Link a library, and if it is a kernel, those that it calls."""
        if not isinstance(library, Bitcode):
            super().add_linking_library(library)
            return
        library._ensure_finalized()
        own = dict.fromkeys(other.own for other in (library, *library.uses))
        self._linking_libraries = [*(known for known in self._linking_libraries if known not in own), *own]

    def _optimize_final_module(self) -> None:
        """Numba's, after LLVM is told that nobody else calls the kernels: it finds out less of what may be replaced."""
        own = (library for library in self._linking_libraries if isinstance(library, _Own))
        kernels = {name for library in own for name in library.names}
        for function in self._final_module.functions:
            if function.name in kernels and not function.is_declaration:
                function.linkage = binding.Linkage.internal
                if _is_routine(function):  # which others call by its name
                    function.name += ".own"
        super()._optimize_final_module()

    def _verify_declare_only_symbols(self) -> None:
        """Numba's, for all that it has compiled: LLVM ends the process where it finds no code for one."""
        for function in self._final_module.functions:
            if function.is_declaration and function.name.startswith("_ZN"):
                raise AssertionError(f"{self.name}: {function.name} was not linked")

    def _get_module_for_linking(self) -> Any:
        if self._bitcode and self._shared_module is None:
            self._shared_module = binding.parse_bitcode(self._bitcode)
        return super()._get_module_for_linking()

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes, tuple[str, ...]]]:
        """What is cached: machine code, bitcode, and the names of the symbols in them."""
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
        """A routine or a part from what was cached of it."""
        name, _, (code, bitcode, symbols) = serialized
        library = cls(codegen, name)
        library._set_compiled_object(code)
        library._bitcode = bitcode
        library._finalize_final_module()
        library._codegen._engine._defined_symbols.update(symbols)
        return library


class _InsteadOf:
    """Something of Numba's, but for the attributes that are given."""

    def __init__(self, replaced: Any, **others: Any) -> None:
        self._replaced = replaced
        vars(self).update(others)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._replaced, name)


def _set_no_environment(name: str, environment: Any) -> None:
    """Environments hold the interpreter's objects, of which kernels have none."""


class _KernelCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, with a library of ours and symbols that no two kernels share."""

    _library: type[_Library]

    def define_pipelines(self) -> Any:
        """Return Numba's pipelines, after the library is made: here the function is known, and nothing has begun."""
        function = self.state.func_id
        function.unique_id = next(NUMBERS)
        function.unique_name = f"{function.func_qualname}${function.unique_id}"
        self.state.library = self._library(self.state.targetctx.codegen(), function.func_qualname)
        return super().define_pipelines()


class BitcodeCompiler(_KernelCompiler):
    """Up to the bitcode: for kernels that are inlined."""

    _library = Bitcode


class CalledBitcodeCompiler(BitcodeCompiler):
    """Up to the bitcode, for kernels that are called, not inlined."""

    _library = Called


class MachineCodeCompiler(_KernelCompiler):
    """To machine code; each kernel is linked once."""

    _library = MachineCode


def rebuilt(target_context: Any, library: Bitcode | MachineCode, payload: tuple[Any, ...]) -> Any:
    """A ``CompileResult`` with this library, from what was cached of it."""
    codegen = _InsteadOf(library.codegen, unserialize_library=lambda _: library)
    found = CompileResult._rebuild(_InsteadOf(target_context, codegen=lambda: codegen), *payload)
    return found._replace(target_context=target_context)
