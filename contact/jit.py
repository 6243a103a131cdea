"""How every compiled kernel of the framework is compiled and cached.

It stands in the lowest layer because all the others use it.

Numba stamps a cached kernel with the modification time of the one file it stands in. Our kernels
inline one another across files, so that stamp would serve stale machine code after an edit elsewhere.
The cache folder is therefore named by a digest of *all* kernel sources.
"""

import fcntl
import functools
import hashlib
import inspect
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import platformdirs
from numba.core.registry import CPUDispatcher
from numba.extending import overload

_PACKAGES = ("biped", "controllers", "experiments")
_KEPT_GENERATIONS = 4

F = TypeVar("F", bound=Callable[..., Any])


def kernel_sources() -> list[Path]:
    """The source files whose text decides the machine code of the kernels."""
    top = Path(__file__).resolve().parent.parent
    found = sorted((top / "contact").glob("*.py"))
    for package in _PACKAGES:
        found += sorted((top / package).glob("**/kernels.py"))
        found += sorted((top / package).glob("**/kernels/**/*.py"))
    return found


def _digest(sources: list[Path]) -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sources:
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _drop_old_generations(root: Path) -> None:
    ours = [entry for entry in root.iterdir() if entry.is_dir() and re.fullmatch("[0-9a-f]{16}", entry.name)]
    generations = sorted(ours, key=lambda entry: entry.stat().st_mtime, reverse=True)
    for stale in generations[_KEPT_GENERATIONS:]:
        shutil.rmtree(stale, ignore_errors=True)


@cache
def cache_folder() -> Path:
    """The folder of compiled kernels: below ``BIPED_CACHE_DIR`` if that is set, else the user's cache.

    Where the user's cache cannot be written, a folder below the system's temporary one serves.
    """
    chosen = os.environ.get("BIPED_CACHE_DIR")
    root = Path(chosen) if chosen else platformdirs.user_cache_path("biped-balance")
    root = root / "biped-kernels"
    if not _writable(root):
        root = Path(tempfile.gettempdir()) / f"biped-balance-{os.getuid()}"
    generation = root / _digest(kernel_sources())
    if not generation.is_dir():
        generation.mkdir(parents=True, exist_ok=True)
        _drop_old_generations(root)
    return generation


class _Inlined(CPUDispatcher):  # type: ignore[misc]
    """A kernel without an entry from Python: called from there, it runs as the Python that it is."""

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)


_COMMON: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_INLINED = {"forceinline": True, "no_cpython_wrapper": True}


def _compile(function: F, **options: bool) -> F:
    previous = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_folder())
    try:
        compiler = numba.njit(cache=True, **_COMMON, **options)
        return _saved_alone(compiler(function))
    finally:
        numba.config.CACHE_DIR = previous


def _saved_alone(compiled: F) -> F:
    """Let one process at a time put its machine code into the cache.

    Numba numbers the files of a function's versions by looking which numbers are taken. Two processes that compile
    two versions at once would give both the same number, and then run one for the other.
    """
    file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if file is None:  # with NUMBA_DISABLE_JIT
        return compiled
    save, lock = file.save, cache_folder() / "lock"

    def save_alone(key: Any, data: Any) -> None:
        with open(lock, "a") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            save(key, data)

    file.save = save_alone
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

    def __init__(self, argument: str, declared: Callable[..., Any]) -> None:
        self.argument, self.declared = argument, declared
        self.place = list(inspect.signature(declared).parameters).index(argument)
        self.implementations: dict[type, Callable[..., Any]] = {}

    def register(self, kind: type) -> Callable[[F], F]:
        """A decorator: the function serves where the argument is a named tuple of this class."""

        def keep(function: F) -> F:
            self.implementations[kind] = function
            return kernel(function)

        return keep

    def of(self, kind: type) -> Callable[..., Any]:
        """The implementation for a class."""
        if kind not in self.implementations:
            raise TypeError(f"{self.declared.__name__}: nothing registered for {self.argument} of {kind}")
        return self.implementations[kind]


def generic(argument: str) -> Callable[[Callable[..., Any]], Any]:
    """A kernel that has an implementation for each class of one of its arguments, a named tuple.

    The class is known when a caller is compiled, so that the choice costs nothing and the caller is cached
    with it: what a function handed over as an argument would prevent. Implementations are registered by
    ``@name.register(kind)``, in any module, with the same parameters; the decorated function itself only
    declares them.
    """

    def decorate(declared: Callable[..., Any]) -> Any:
        table = Generic(argument, declared)

        @functools.wraps(declared)
        def chosen(*args: Any) -> Any:
            return table.of(type(args[table.place]))(*args)

        def compiled(*types: Any) -> Callable[..., Any]:
            return table.of(types[table.place].instance_class)

        overload(chosen, jit_options=_COMMON | _INLINED, strict=False)(compiled)
        chosen.register = table.register  # type: ignore[attr-defined]
        return chosen

    return decorate


def is_compiled(function: Callable[..., Any], *arguments: Any) -> bool:
    """Whether calling this routine compiles nothing, since its machine code is already on disk.

    With ``arguments`` the code for their types is meant, else any.
    """
    cache = getattr(function, "_cache", None)
    file = getattr(cache, "_cache_file", None)
    if cache is None or file is None:
        return True
    if not arguments:
        return Path(file._index_path).is_file()
    dispatcher: Any = function
    types = tuple(dispatcher.typeof_pyval(argument) for argument in arguments)
    return (
        types in dispatcher.overloads or cache._index_key(types, dispatcher.targetctx.codegen()) in file._load_index()
    )
