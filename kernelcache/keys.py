"""Keys of compiled kernels: digests of everything that determines the machine code.

Kernels inline one another across files, so that machine code depends on more than one function. A key covers the
function's code, the values of the global names that it uses, the kernels among these recursively, the implementations
of a ``generic`` for the classes that can occur, and the layout of these classes. It does not cover file names, line
numbers, comments, docstrings, or functions called by address (``kernelcache.parts``), which are compiled separately.
Thus an edit recompiles only the kernels that contain the edited code.

Keys use the code that was loaded: editing a file while a process runs does not corrupt the cache.
"""

import enum
import functools
import hashlib
import pickle
import platform
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import llvmlite
import numba
import numpy as np

types: Any = numba.types

#: Attributes of a code object that are part of the key, in addition to bytecode and constants.
_SHAPE = ("co_argcount", "co_kwonlyargcount", "co_names", "co_varnames", "co_freevars", "co_cellvars")
#: Settings of Numba that change machine code.
_SETTINGS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "DEBUG_ARRAY_OPT")
#: Modules of this package that determine the machine code of a kernel.
_COMPILER = ("generic", "kernels", "parts", "private", "references")


def key_of(function: FunctionType, signature: tuple[Any, ...], options: object, target: object) -> str:
    """Return the key of a function that is compiled for given argument types, as hexadecimal digits.

    Args:
        function: Python function, not its dispatcher.
        signature: Numba types of the arguments.
        options: options of the decorator.
        target: processor for which the function is compiled.
    """
    words = [
        _compiler(),
        repr((options, target)),
        f"{function.__module__}.{function.__qualname__}",
        str(signature),
        *Closure(function, signature).words(),
    ]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:32]


def classes_in(kind: Any) -> Iterator[type]:
    """Yield the classes of all named tuples in a Numba type."""
    if hasattr(kind, "instance_class"):
        yield kind.instance_class
    for part in getattr(kind, "kinds", kind if isinstance(kind, types.BaseTuple) else ()):  # kinds: of a ``Reference``
        yield from classes_in(part)


class Closure:
    """All functions and classes from which a function is compiled for given argument types.

    Attributes:
        functions: functions in the order in which they are encountered.
        classes: classes of named tuples that occur; they select implementations.
    """

    def __init__(self, function: FunctionType, signature: tuple[Any, ...]) -> None:
        self.functions: dict[FunctionType, None] = {}
        self.classes = {kind for part in signature for kind in classes_in(part)}
        self._tables: list[Any] = []
        self._add(function)

    def _add(self, function: FunctionType) -> None:
        left = [function]
        while left:
            current = left.pop()
            if current not in self.functions:
                self.functions[current] = None
                parts = _read(current)
                self.classes |= parts.classes
                self._tables += parts.tables
                left += parts.functions
            if not left:  # classes that were added later select implementations too
                chosen = (implementation for table in self._tables for implementation in table.among(self.classes))
                left = [implementation for implementation in chosen if implementation not in self.functions]

    def words(self) -> list[str]:
        """Return a digest of each function and each class."""
        return sorted({_read(function).digest for function in self.functions} | set(map(_layout, self.classes)))


class _Parts(NamedTuple):
    """Digest of one function's code and constants, and the functions, classes and tables that it uses."""

    digest: str
    functions: tuple[FunctionType, ...]
    classes: frozenset[type]
    tables: tuple[Any, ...]


@functools.cache
def _read(function: FunctionType) -> _Parts:
    words = [function.__module__, function.__qualname__, *_code_words(function.__code__, function.__doc__)]
    functions: list[FunctionType] = []
    classes: set[type] = set()
    tables: list[Any] = []
    for name, value in _names_of(function):
        if hasattr(getattr(value, "table", None), "among"):  # a generic
            tables.append(value.table)
            words.append(f"{name} generic")
        elif (compiled := compiled_from(value)) is not None:
            functions.append(compiled)
            words.append(f"{name} kernel {compiled.__module__}.{compiled.__qualname__} {options_of(value)}")
        else:
            if isinstance(value, type) and hasattr(value, "_fields"):
                classes.add(value)
            words.append(f"{name} {_value_word(value)}")
    digest = hashlib.sha256("\n".join(words).encode()).hexdigest()
    return _Parts(digest, tuple(functions), frozenset(classes), tuple(tables))


def options_of(dispatcher: Any) -> list[tuple[str, object]]:
    """Return the options of a decorator for Numba."""
    return sorted(getattr(dispatcher, "targetoptions", {}).items())


def compiled_from(value: Any) -> FunctionType | None:
    """Return the Python function of a dispatcher or intrinsic, or a function's substitute in compiled code, or None."""
    for name in ("py_func", "compiled_as", "_defn"):
        original = getattr(value, name, None)
        if isinstance(original, FunctionType):
            return original
    return None


def _code_words(code: CodeType, docstring: str | None = None) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr([getattr(code, name) for name in _SHAPE])
    for place, constant in enumerate(code.co_consts):
        if isinstance(constant, CodeType):
            yield from _code_words(constant)
        elif place > 0 or constant != docstring:  # the first constant is the docstring, or None
            yield _value_word(constant)


def _names_of(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the global names that a function may use, with their values.

    Attribute names that equal a global name are included too; at worst this causes needless recompilation.
    """
    names = dict.fromkeys(_names_in(function.__code__))
    for name in names:
        if name in function.__globals__:
            value = function.__globals__[name]
            yield name, value
            if isinstance(value, ModuleType):
                yield from ((f"{name}.{key}", getattr(value, key)) for key in sorted(names) if hasattr(value, key))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # it has no value yet
            yield name, None
    yield "defaults", function.__defaults__
    yield "keywords", tuple(sorted((function.__kwdefaults__ or {}).items()))


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _value_word(value: Any) -> str:
    """Return a compiled-in value as text that is equal in all processes."""
    if value is None or value is Ellipsis or isinstance(value, (bool, str, bytes)):
        return repr(value)
    if isinstance(value, (enum.Enum, type, FunctionType, BuiltinFunctionType, np.ufunc)):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', None) or value!r}"
    if isinstance(value, (int, float, complex)):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, (np.ndarray, np.generic)):
        return f"{value.dtype.str} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, (tuple, list, frozenset, set)):
        items = [_value_word(item) for item in value]
        return f"{type(value).__qualname__} {items if isinstance(value, (tuple, list)) else sorted(items)}"
    if isinstance(value, (ModuleType, types.Type)):
        return f"{type(value).__name__} {getattr(value, '__name__', value)}"
    try:
        return hashlib.sha256(pickle.dumps(value)).hexdigest()
    except Exception:  # unknown influence on the machine code: use it in this process alone
        return secrets.token_hex(16)


def _layout(kind: type) -> str:
    """Return a class of named tuples as text: the order of its fields determines the offsets in code."""
    fields, defaults = getattr(kind, "_fields", ()), getattr(kind, "_field_defaults", {})
    return f"{kind.__module__}.{kind.__qualname__} {fields} {_value_word(tuple(defaults.values()))}"


def _compiler() -> str:
    """Return the versions and settings of the compiler."""
    versions = (numba.__version__, llvmlite.__version__, np.__version__.partition(".")[0])
    settings = [getattr(numba.config, name, None) for name in _SETTINGS]
    return repr((*versions, platform.python_implementation(), sys.version_info[:2], settings, _sources()))


@functools.cache
def _sources() -> str:
    digest = hashlib.sha256()
    for name in _COMPILER:
        digest.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    return digest.hexdigest()
