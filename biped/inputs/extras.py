"""Optional packages: the extra of ``biped-balance`` that installs each, and the message if one is missing.

A module imports an optional package where it is used, after ``need``. A package with lazily imported names
(``lazy_loader``) uses ``telling``. For the command line, ``missing`` describes a failed import.
"""

import sys
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from biped.errors import MissingExtraError


class Optional(NamedTuple):
    """An optional package."""

    extra: str  #: extra that installs it, as in pyproject.toml, or empty
    purpose: str  #: purpose with a verb: "pages need"
    installed: str  #: its name on a package index
    note: str = ""  #: hint for the installation


#: Optional packages by the names by which they are imported.
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
        "pybullet",
        "the engine pybullet needs",
        "pybullet",
        "under Python 3.11: it has no wheels for later versions",
    ),
    "mujoco": Optional("mujoco", "MJCF files and the engine mujoco need", "mujoco"),
    "gymnasium": Optional("gym", "environments for learning need", "gymnasium"),
    "distributed": Optional("cluster", "a Dask scheduler needs", "distributed"),
}


def need(*packages: str) -> None:
    """Check that these packages are installed, by the names by which they are imported; none of them is imported.

    Raises:
        MissingExtraError: a package is missing; the message has the command that installs all missing ones.
    """
    absent = [package for package in packages if not _is_there(package)]
    if absent:
        raise _error(absent)


def lacking(*packages: str) -> str:
    """Return the message of ``need`` without raising it; empty if all of these packages are installed."""
    absent = [package for package in packages if not _is_there(package)]
    return str(_error(absent)) if absent else ""


def has(*packages: str) -> bool:
    """Return True if all of these packages are installed, by the names by which they are imported."""
    return all(map(_is_there, packages))


def missing(error: ImportError) -> "MissingExtraError | None":
    """Return the error that names the extra to install, for a failed import; None if no optional package is missing."""
    from biped.errors import MissingExtraError  # it takes a while, and only this function needs it

    if isinstance(error, MissingExtraError):
        return error
    package = (error.name or "").partition(".")[0]
    if package not in OPTIONAL or _is_there(package):
        return None
    return _error([package])


def telling(attribute: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a package's ``__getattr__`` that names the missing extra if an import of its modules fails."""

    def get(name: str) -> Any:
        try:
            return attribute(name)
        except ModuleNotFoundError as error:
            raise missing(error) or error from None

    return get


def command(*packages: str) -> str:
    """Return the command that installs these packages, by the names by which they are imported."""
    extras = _in_order(OPTIONAL[package].extra for package in packages if OPTIONAL[package].extra)
    wanted = [OPTIONAL[package].installed for package in packages if not OPTIONAL[package].extra]
    if extras:
        wanted.insert(0, f"'biped-balance[{','.join(extras)}]'")
    notes = _in_order(f", {OPTIONAL[package].note}" for package in packages if OPTIONAL[package].note)
    return f"pip install {' '.join(wanted)}{''.join(notes)}"


def _is_there(package: str) -> bool:
    if package in sys.modules:
        return sys.modules[package] is not None
    return find_spec(package) is not None


def _in_order(texts: Iterable[str]) -> list[str]:
    """Return each text once, in order."""
    return list(dict.fromkeys(texts))


def _error(absent: list[str]) -> "MissingExtraError":
    from biped.errors import MissingExtraError

    by_purpose: dict[str, list[str]] = {}
    for package in absent:
        by_purpose.setdefault(OPTIONAL[package].purpose, []).append(OPTIONAL[package].installed)
    needs = " and ".join(f"{purpose} {' and '.join(names)}" for purpose, names in by_purpose.items())
    return MissingExtraError(f"{needs}: {command(*absent)}", name=absent[0])
