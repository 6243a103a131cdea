"""What the whole costs: lines, the first compilation, the tests. Kept with its history in ``docs/numbers.json``.

``python docs/sums.py check`` measures and fails where something has grown by more than its share since the last entry;
``keep`` appends an entry. The tests' time and memory are those of the last ``make test``. Seconds are compared after
division by those of a fixed piece of work, since machines differ.
"""

import json
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
KEPT, TESTS = TOP / "docs" / "numbers.json", TOP / "results" / "tests.json"
PRODUCT = ("biped", "contact", "controllers", "experiments")

#: By how much something may grow from one entry to the next, unless a new entry is kept, whose commit says why.
SHARES = {
    "lines of product": 0.01,
    "lines of tests": 0.02,
    "kernels of a first run": 0.03,
    "first run, processor, in units of work": 0.35,
    "tests, processor, in units of work": 0.35,
    "memory of a test process [MB]": 0.15,
}


def lines(*folders: str) -> int:
    """Lines of Python that git knows in some folders."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--", *folders], cwd=TOP, capture_output=True, check=True, text=True
    )
    files = (TOP / name for name in names.stdout.split("\0") if name.endswith((".py", ".pyi")))
    return sum(
        file.read_text(encoding="utf-8").count("\n") for file in files if file.is_file() and not file.is_symlink()
    )


def unit_of_work() -> float:
    """[s] of processor time for a fixed piece of work in Python: the least of some."""

    def once() -> float:
        begin = time.process_time()
        found: dict[str, int] = {}
        for k in range(300_000):
            found[str(k % 1000)] = found.get(str(k % 1000), 0) + k
        return time.process_time() - begin

    return min(once() for _ in range(5))


def first_run() -> dict[str, float]:
    """`biped run thrown-block` with an empty cache, as ``biped bench`` measures it."""
    program = [sys.executable, "-m", "experiments.benchmarks.speed.startup"]
    run = json.loads(subprocess.run(program, cwd=TOP, capture_output=True, check=True, text=True).stdout)
    return {
        "first run, wall [s]": run["wall"], "first run, processor [s]": run["processor"],
        "kernels of a first run": run["kernels"],
    }  # fmt: skip


def measured() -> dict[str, float]:
    """All sums, of this state and this machine."""
    unit = unit_of_work()
    found = {"lines of product": lines(*PRODUCT), "lines of tests": lines("tests"), "unit of work [s]": unit}
    found |= first_run()
    found["first run, processor, in units of work"] = found["first run, processor [s]"] / unit
    if TESTS.exists():
        found |= json.loads(TESTS.read_text(encoding="utf-8"))
        found["tests, processor, in units of work"] = found["tests, processor [s]"] / unit
    return {name: round(value, 4) for name, value in found.items()}


def grown(last: dict[str, float], now: dict[str, float]) -> list[str]:
    """In words, what is larger than it may be."""
    return [
        f"{name}: {now[name]:g}, {now[name] / last[name] - 1.0:+.1%} since the last entry; at most {share:+.0%}"
        for name, share in SHARES.items()
        if name in last and name in now and now[name] > last[name] * (1.0 + share)
    ]


def main(task: str = "check") -> int:
    """Measure; say what has grown, or keep what was measured."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    history = kept.setdefault("sums", [])
    now = measured()
    for name, value in now.items():
        print(
            f"{name:45} {value:12g}" + (f"   before {history[-1][name]:g}" if history and name in history[-1] else "")
        )
    if task == "keep":
        commit = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"], cwd=TOP, capture_output=True, text=True, check=False
        )
        history.append({"date": datetime.now(UTC).date().isoformat(), "commit": commit.stdout.strip(), **now})
        KEPT.write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return 0
    problems = grown(history[-1], now) if history else []
    for problem in problems:
        print(f"sums: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
