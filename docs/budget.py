"""The budget: lines of code, the first compilation, the time and memory of the tests.

``python docs/budget.py`` measures, and fails if a number is above its limit. Limits may only be lowered: new code is
paid for by deleting other code. The tests' time and memory are those of the last ``make test``. Seconds are divided by
the time of a fixed piece of work that runs at the same time, since machines and their other load differ.
"""

import json
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
TESTS = TOP / "results" / "tests.json"
PACKAGES = ("biped", "contact", "controllers", "experiments", "formulations", "kernelcache")

LIMITS = {
    "lines of product": 112_150,
    "lines of kernelcache": 1_481,
    "lines of tests": 54_350,
    "kernels of a first run": 408,
    "first run, processor, in units": 1_250,  # the unit itself varies by a fifth from run to run
    "tests, processor, in units": 42_000,
    "memory of a test process [MB]": 2_600,
}


def lines(*folders: str) -> int:
    """Return the number of lines of the Python files that git tracks in some folders."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--", *folders], cwd=TOP, capture_output=True, check=True, text=True
    )
    files = (TOP / name for name in names.stdout.split("\0") if name.endswith((".py", ".pyi")))
    return sum(
        file.read_text(encoding="utf-8").count("\n") for file in files if file.is_file() and not file.is_symlink()
    )


def measured() -> dict[str, float]:
    """Measure this working tree on this machine; the first run is that of ``biped bench``, with an empty cache."""
    program = [sys.executable, "-m", "experiments.benchmarks.startup"]
    run = json.loads(subprocess.run(program, cwd=TOP, capture_output=True, check=True, text=True).stdout)
    numbers = {f"lines of {package}": float(lines(package)) for package in PACKAGES}
    numbers |= {
        "lines of product": sum(numbers.values()), "lines of tests": lines("tests"),
        "first run, wall [s]": run["wall"], "first run, processor [s]": run["processor"],
        "kernels of a first run": run["kernels"], "first run, processor, in units": run["processor"] / run["unit"],
    }  # fmt: skip
    if TESTS.exists():
        numbers |= json.loads(TESTS.read_text(encoding="utf-8"))
        numbers["tests, processor, in units"] = numbers["tests, processor [s]"] / numbers["tests, unit of work [s]"]
    return numbers


def main() -> int:
    """Print the numbers with their limits; return 1 if a number is above its limit."""
    numbers = measured()
    above = [name for name, limit in LIMITS.items() if numbers.get(name, 0.0) > limit]
    for name, value in numbers.items():
        limit = f"at most {LIMITS[name]:g}" if name in LIMITS else ""
        print(f"{name:35} {value:12g}   {limit}{'   ABOVE' if name in above else ''}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
