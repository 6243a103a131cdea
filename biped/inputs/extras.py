"""Optional packages, the extras of ``biped-balance`` that install them, and messages if a package is missing.

Modules call ``need`` before an optional import, packages with lazy imports ``telling``, the command line ``missing``.
"""

import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from biped.errors import MissingExtraError


class Optional(NamedTuple):
    """An optional package: how it is installed, and what it is for."""

    extra: str  #: extra that installs it, as in pyproject.toml; empty: install the package by name
    purpose: str  #: beginning of a sentence about its purpose, such as "pages need"
    installed: str  #: name on the package index
    note: str = ""  #: hint about the installation


#: Optional packages by import name.
OPTIONAL = {
    "jinja2": Optional("report", "pages need", "jinja2"),
    "plotly": Optional("report", "pages need", "plotly"),
    "nbformat": Optional("report", "notebooks need", "nbformat"),
    "viser": Optional("view", "the viewer needs", "viser"),
    "trimesh": Optional("view", "the viewer needs", "trimesh"),
    "websockets": Optional("view", "the viewer needs", "websockets"),
    "PIL": Optional("view", "films need", "pillow"),
    "imageio_ffmpeg": Optional("view", "films need", "imageio-ffmpeg"),
    "optuna": Optional("tune", "tuning needs", "optuna"),
    "cma": Optional("tune", "the optimizer cma needs", "cma"),
    "cmaes": Optional("tune", "the optimizer optuna-cmaes needs", "cmaes"),
    "SALib": Optional("sensitivity", "sensitivity analysis needs", "SALib"),
    "statsmodels": Optional("statistics", "mixed-effects models need", "statsmodels"),
    "opensim": Optional("opensim", "OpenSim models (.osim) need", "opensim"),
    "ezc3d": Optional("export", "C3D files need", "ezc3d"),
    "yaml": Optional("export", "EUROBENCH's files need", "pyyaml"),
    "sympy": Optional("lagrangian", "Lagrangian systems need", "sympy"),
    "pybullet": Optional(
        "pybullet", "the engine pybullet needs", "pybullet", "under Python 3.11: it has no wheels for later versions"
    ),
    "mujoco": Optional("mujoco", "MJCF files and the engine mujoco need", "mujoco"),
    "gymnasium": Optional("gym", "environments for learning need", "gymnasium"),
    "stable_baselines3": Optional("sb3", "training with Stable-Baselines3 needs", "stable-baselines3"),
    "onnxruntime": Optional("onnx", "policies in ONNX files need", "onnxruntime"),
    "torch": Optional("torch", "policies in TorchScript files need", "torch"),
    "distributed": Optional("cluster", "a Dask scheduler needs", "distributed"),
}


def need(*packages: str) -> None:
    """Check that packages, given by import name, are installed; nothing is imported.

    Raises:
        MissingExtraError: a package is missing; the message gives the command that installs all missing packages.
    """
    absent = [package for package in packages if not _is_there(package)]
    if absent:
        raise _error(absent)


def lacking(*packages: str) -> str:
    """Return the message that ``need`` would raise; empty if all packages are installed."""
    absent = [package for package in packages if not _is_there(package)]
    return str(_error(absent)) if absent else ""


def has(*packages: str) -> bool:
    """Return True if all packages, given by import name, are installed."""
    return all(map(_is_there, packages))


def missing(error: ImportError) -> "MissingExtraError | None":
    """Return an error with the command to install what an import lacks; None if no optional package is missing."""
    from biped.errors import MissingExtraError  # a slow import, which only this function needs

    if isinstance(error, MissingExtraError):
        return error
    package = (error.name or "").partition(".")[0]
    if package not in OPTIONAL or _is_there(package):
        return None
    return _error([package])


def telling(attribute: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a package's ``__getattr__`` that raises MissingExtraError if a lazy import lacks an optional package."""

    def get(name: str) -> Any:
        try:
            return attribute(name)
        except ModuleNotFoundError as error:
            raise missing(error) or error from None

    return get


def command(*packages: str) -> str:
    """Return the command that installs packages, given by import name."""
    extras = _in_order(OPTIONAL[package].extra for package in packages if OPTIONAL[package].extra)
    arguments = [OPTIONAL[package].installed for package in packages if not OPTIONAL[package].extra]
    if extras:
        arguments.insert(0, f"'biped-balance[{','.join(extras)}]'")
    notes = _in_order(f", {OPTIONAL[package].note}" for package in packages if OPTIONAL[package].note)
    return f"pip install {' '.join(arguments)}{''.join(notes)}"


def _is_there(package: str) -> bool:
    if package in sys.modules:
        return sys.modules[package] is not None
    return find_spec(package) is not None


def _in_order(texts: Iterable[str]) -> list[str]:
    """Return the texts without repetitions, in order."""
    return list(dict.fromkeys(texts))


def _error(absent: list[str]) -> "MissingExtraError":
    from biped.errors import MissingExtraError

    by_purpose: dict[str, list[str]] = {}
    for package in absent:
        by_purpose.setdefault(OPTIONAL[package].purpose, []).append(OPTIONAL[package].installed)
    needs = " and ".join(f"{purpose} {' and '.join(names)}" for purpose, names in by_purpose.items())
    return MissingExtraError(f"{needs}: {command(*absent)}", name=absent[0])
