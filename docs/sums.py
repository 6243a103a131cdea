"""What the whole costs: lines, the first compilation, the tests. Kept with its history in ``docs/numbers.json``.

``python docs/sums.py check`` measures and fails where something has grown by more than its share since the last entry;
``keep`` appends an entry. The tests' time and memory are those of the last ``make test``. Seconds are compared after
division by those of a fixed piece of work that is done beside, since machines differ, and what else runs on them.
"""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
KEPT, TESTS = TOP / "docs" / "numbers.json", TOP / "results" / "tests.json"
PRODUCT = ("biped", "contact", "controllers", "experiments", "formulations", "kernelcache")

#: By how much something may grow from one entry to the next, unless a new entry is kept, whose commit says why.
SHARES = {
    "lines of product": 0.01,
    "lines of tests": 0.02,
    "kernels of a first run": 0.03,
    "first run, processor, in units beside it": 0.35,
    "tests, processor, in units beside them": 0.35,
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


def first_run() -> dict[str, float]:
    """`biped run thrown-block` with an empty cache, as ``biped bench`` measures it."""
    program = [sys.executable, "-m", "experiments.benchmarks.startup"]
    run = json.loads(subprocess.run(program, cwd=TOP, capture_output=True, check=True, text=True).stdout)
    return {
        "first run, wall [s]": run["wall"], "first run, processor [s]": run["processor"],
        "first run, unit of work [s]": run["unit"], "kernels of a first run": run["kernels"],
    }  # fmt: skip


def measured() -> dict[str, float]:
    """All sums, of this state and this machine."""
    found = {"lines of product": lines(*PRODUCT), "lines of tests": lines("tests")} | first_run()
    found["first run, processor, in units beside it"] = (
        found["first run, processor [s]"] / found["first run, unit of work [s]"]
    )
    if TESTS.exists():
        found |= json.loads(TESTS.read_text(encoding="utf-8"))
        found["tests, processor, in units beside them"] = (
            found["tests, processor [s]"] / found["tests, unit of work [s]"]
        )
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
