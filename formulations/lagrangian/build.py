"""Generated modules: each is named by a digest, stored with the compiled kernels, and imported from there."""

import hashlib
import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import sympy

from formulations.lagrangian.derive import DERIVATIONS, written_out
from formulations.lagrangian.generate import LOOP, module_text
from kernelcache import cache_folder

if TYPE_CHECKING:
    from formulations.lagrangian.system import System

_SOURCES = [Path(__file__).with_name(name) for name in ("system.py", "derive.py", "generate.py")] + [LOOP]


def digest(system: "System", method: str) -> str:
    """Return a digest of the system (without parameter values), the method, and the generating source files."""
    hasher = hashlib.sha256(f"{method} {sympy.__version__}".encode())
    for source in _SOURCES:
        hasher.update(source.read_bytes())
    chart = system.chart
    parts = [
        system.coordinates,
        list(system.parameters),
        system.mass_matrix if system.mass is not None else system.lagrangian,
        system.potential,
        list(system.constraints),
        list(system.forces) if system.forces is not None else None,
        [] if chart is None else [list(chart.coordinates), list(chart.map)],
        list(system.conserved),
        list(system.conserved.values()),
        list(system.invariants.items()),
        sympy.Matrix(system.inertia) if system.inertia is not None else None,
        None if system.discrete_lagrangian is None else written_out(system)[0],
    ]
    hasher.update("\n".join(sympy.srepr(part) for part in parts).encode())
    return hasher.hexdigest()[:24]


def _write(path: Path, text: str) -> None:
    """Write a file completely, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        file.write(text)
    os.replace(file.name, path)


def _loaded(name: str, path: Path) -> ModuleType:
    """Return the module of a file; it is entered into ``sys.modules`` only if its import succeeds."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def built(system: "System", method: str) -> ModuleType:
    """Return the module that integrates a system by a method; it is compiled at its first call.

    Raises:
        InputError: the method does not fit the system.
    """
    name = f"lagrangian_{digest(system, method)}"
    if name in sys.modules:
        return sys.modules[name]
    path = cache_folder() / "lagrangian" / f"{name}.py"
    if not path.is_file():
        _write(path, module_text(DERIVATIONS[method](system)))
    return _loaded(name, path)
