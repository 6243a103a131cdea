"""What it costs to start, measured from outside: in processes of their own."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping

from experiments.benchmarks.timing import Spread, seconds

_RUN = "import sys; from experiments.cli import main; sys.exit(main(sys.argv[1:]))"
_TIMEOUT = 600.0


def startup_times(repeats: int, with_compile: bool) -> dict[str, Spread]:
    """[s] by what was done; what is quick ``repeats`` times.

    ``with_compile`` also measures a first run with an empty kernel cache, which takes about a minute.
    """
    times = {
        "python alone": _repeated(lambda: _python("pass"), repeats),
        "import biped": _repeated(lambda: _python("import biped"), repeats),
        "warm `biped run thrown-block --no-figures`": _repeated(lambda: _thrown_block({}), repeats, warm_up=True),
    }
    if with_compile:
        with tempfile.TemporaryDirectory() as folder:
            cold = seconds(lambda: _thrown_block({"BIPED_CACHE_DIR": folder}))
        times["the same with an empty kernel cache"] = Spread.of([cold])
    return times


def _repeated(work: Callable[[], None], repeats: int, warm_up: bool = False) -> Spread:
    if warm_up:
        work()
    return Spread.of([seconds(work) for _ in range(repeats)])


def _thrown_block(environment: Mapping[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _python(_RUN, ["run", "thrown-block", "--no-figures", "--out", folder], environment)


def _python(code: str, arguments: list[str] | None = None, environment: Mapping[str, str] | None = None) -> None:
    command = [sys.executable, "-c", code, *(arguments or [])]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **(environment or {})}
    result = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines() or ["no message"]
        raise RuntimeError(f"a process of the benchmark failed with status {result.returncode}: {lines[-1]}")
