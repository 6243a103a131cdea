"""The budget: lines of code, the first compilation, the time and memory of the tests.

``python docs/budget.py`` measures, and fails where something is above its limit. A limit only ever goes down: what
comes in is paid for by deleting elsewhere. The tests' time and memory are those of the last ``make test``. Seconds are
divided by those of a fixed piece of work that is done beside, since machines differ, and what else runs on them.
"""

import json
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
TESTS = TOP / "results" / "tests.json"
PACKAGES = ("biped", "contact", "controllers", "experiments", "formulations", "kernelcache")

LIMITS = {
    "lines of product": 109_975,
    "lines of kernelcache": 1_481,
    "lines of tests": 53_493,
    "kernels of a first run": 408,
    "first run, processor, in units": 1_250,  # the unit itself varies by a fifth from run to run
    "tests, processor, in units": 42_000,
    "memory of a test process [MB]": 2_600,
}


def lines(*folders: str) -> int:
    """Count the lines of Python that git knows in some folders."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--", *folders], cwd=TOP, capture_output=True, check=True, text=True
    )
    files = (TOP / name for name in names.stdout.split("\0") if name.endswith((".py", ".pyi")))
    return sum(
        file.read_text(encoding="utf-8").count("\n") for file in files if file.is_file() and not file.is_symlink()
    )


def measured() -> dict[str, float]:
    """Measure this state on this machine; the first run is that of ``biped bench``, with an empty cache."""
    program = [sys.executable, "-m", "experiments.benchmarks.startup"]
    run = json.loads(subprocess.run(program, cwd=TOP, capture_output=True, check=True, text=True).stdout)
    found = {f"lines of {package}": float(lines(package)) for package in PACKAGES}
    found |= {
        "lines of product": sum(found.values()), "lines of tests": lines("tests"),
        "first run, wall [s]": run["wall"], "first run, processor [s]": run["processor"],
        "kernels of a first run": run["kernels"], "first run, processor, in units": run["processor"] / run["unit"],
    }  # fmt: skip
    if TESTS.exists():
        found |= json.loads(TESTS.read_text(encoding="utf-8"))
        found["tests, processor, in units"] = found["tests, processor [s]"] / found["tests, unit of work [s]"]
    return found


def main() -> int:
    """Print what was measured, with its limits; return 1 if something is above."""
    found = measured()
    above = [name for name, limit in LIMITS.items() if found.get(name, 0.0) > limit]
    for name, value in found.items():
        limit = f"at most {LIMITS[name]:g}" if name in LIMITS else ""
        print(f"{name:35} {value:12g}   {limit}{'   ABOVE' if name in above else ''}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
