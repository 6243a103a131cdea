"""Cost of start-up and of the first run, each in a new process.

As a program, this module prints the cost of a first run for ``docs/budget.py``.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from experiments.benchmarks.section import Budget, Section, spread, spread_columns
from experiments.timing import UnitOfWork, seconds

_RUN = "import sys; from experiments.cli import main; sys.exit(main(sys.argv[1:]))"
_TIMEOUT = 1800.0


class FirstRun(NamedTuple):
    """Cost of ``biped run thrown-block`` with an empty kernel cache."""

    wall: float  # [s]
    processor: float  # [s] processor time of all its processes
    kernels: int  # number of kernels that it compiles and caches
    unit: float  # [s] mean time of ``UnitOfWork`` during the run


def first_run() -> FirstRun:
    """Measure a first run, which takes about a minute; raises RuntimeError if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with UnitOfWork() as unit:
            wall = seconds(lambda: _thrown_block({"BIPED_CACHE_DIR": folder}))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        kernels = sum(path.suffix in (".code", ".bitcode") for path in Path(folder).rglob("*"))
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return FirstRun(wall, processor, kernels, unit.seconds)


def startup_section(work: Budget) -> Section:
    """Return the section on start-up times; without ``quick`` also of a first run with compilation."""
    section = Section("startup", "Start-up, each in a new process", spread_columns("s"))
    starts: dict[str, Callable[[], None]] = {
        "import biped": lambda: _python("import biped"),
        "warm `biped run thrown-block --no-figures`": _thrown_block,
    }
    _thrown_block()  # compiled before the clock starts
    section.rows = {what: spread([seconds(start) for _ in range(work.few)]) for what, start in starts.items()}
    if not work.quick:
        section.rows["`biped run thrown-block --no-figures` with an empty kernel cache"] = spread([first_run().wall])
    return section


def _thrown_block(environment: Mapping[str, str] | None = None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _python(_RUN, ["run", "thrown-block", "--no-figures", "--out", folder], environment)


def _python(code: str, arguments: list[str] | None = None, environment: Mapping[str, str] | None = None) -> None:
    command = [sys.executable, "-c", code, *(arguments or [])]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **(environment or {})}
    result = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines() or ["no message"]
        raise RuntimeError(f"a process of the benchmark failed with status {result.returncode}: {lines[-1]}")


if __name__ == "__main__":
    print(json.dumps(first_run()._asdict()))
