"""Stamp of machine, versions, commit and date for every result."""

import datetime
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = {"biped-balance": "biped-balance", "numba": "numba", "numpy": "numpy", "mujoco": "mujoco"}


def stamp() -> dict[str, str | int | None]:
    """Return a stamp of this machine, now; unknown entries are None."""
    loads = os.getloadavg() if hasattr(os, "getloadavg") else ()  # load by other processes
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "load": " ".join(f"{value:.2f}" for value in loads) or None,
        "python": platform.python_version(),
        **{name: _version(package) for name, package in _PACKAGES.items()},
        "commit": _commit(),
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """Return the commit of the sources, with a mark if they have changed since."""
    folder = Path(__file__).resolve().parents[2]
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12", "--match="]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout.strip() or None if result.returncode == 0 else None
