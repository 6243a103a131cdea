"""The machine, the versions, the commit and the day, with which every result is stamped."""

import datetime
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = {"biped-balance": "biped-balance", "numba": "numba", "numpy": "numpy", "mujoco": "mujoco"}


def stamp() -> dict[str, str | int | None]:
    """A stamp of this machine, now; what cannot be known is None."""
    loads = os.getloadavg() if hasattr(os, "getloadavg") else ()  # how busy others keep it
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
    """The commit of the sources, with a mark if they were changed since."""
    folder = Path(__file__).resolve().parents[2]
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12", "--match="]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout.strip() or None if result.returncode == 0 else None
