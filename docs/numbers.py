"""Write the numbers of the last benchmark into ``docs/results.md``: ``make numbers``, after ``make bench``.

``docs/numbers.json`` keeps the numbers, machine and versions; a test compares it with the page's block ``numbers``.
"""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
PAGE, KEPT = DOCS / "results.md", DOCS / "numbers.json"
BLOCK = re.compile(r"(?<=<!-- numbers -->\n).*(?=<!-- /numbers -->)", re.DOTALL)
VERSIONS = {"Python": "python", "Numba": "numba", "MuJoCo": "mujoco"}
STEPS = ("0.5 ms", "1 ms", "2 ms")
RUN = "`biped run thrown-block --no-figures`"
WARM, COLD = f"warm {RUN}", f"{RUN} with an empty kernel cache"

#: Quantity, format of its numbers, and the place of each number in ``bench.json``: section, row, column.
ROWS = (
    (
        "closed loop in stance, `workspace` controller, steps of 0.5, 1, 2 ms",
        "{:.1f}, {:.1f}, {:.1f} µs per step",
        [("closed_loop", f"workspace stance, {step}", "median") for step in STEPS],
    ),
    (
        "human in flight, steps of 0.5, 1, 2 ms",
        "{:.1f}, {:.1f}, {:.1f} µs per step",
        [("closed_loop", f"flight, {step}", "median") for step in STEPS],
    ),
    (
        "simulation speed / MuJoCo's at the fastest of 120 settings: stance on stiff joints, steps of 0.5 ms",
        "{:.1f} (quiet), {:.1f} (swaying)",
        [("mujoco", f"{scene} stance, 0.5 ms", "ratio") for scene in ("quiet", "swaying")],
    ),
    (
        "simulation speed (method of order 2) / MuJoCo's at the fastest setting (order 1): flight, steps of 0.5 ms",
        "{:.2f}",
        [("mujoco", "flight, 0.5 ms", "ratio")],
    ),
    (
        "studies of 3 s trials with all metrics, steps of 2 and 0.5 ms",
        "{:.0f} and {:.0f} trials per second on one core; {:.2f} times as many on two cores (0.5 ms)",
        [
            ("studies", "steps of 2 ms", "one core"),
            ("studies", "steps of 0.5 ms", "one core"),
            ("studies", "steps of 0.5 ms", "scaling"),
        ],
    ),
    ("a 3 s experiment at 0.5 ms", "{:.0f} ms", [("experiments", "stand-tilted", "median")]),
    (
        "mean Newton iterations per step in stance",
        "{:.2f}",
        [("closed_loop", "workspace stance, 0.5 ms", "iterations")],
    ),
    (
        "first run, with compilation; later runs",
        "{:.0f} s; {:.1f} s",
        [("startup", COLD, "median"), ("startup", WARM, "median")],
    ),
)


def numbers_of(bench: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of a benchmark that the page shows, by ``section | row | column``."""
    places = [place for _, _, places in ROWS for place in places]
    return {" | ".join((a, b, c)): bench["sections"][a]["rows"][b][c] for a, b, c in places}


def block_of(kept: Mapping[str, Any]) -> str:
    """Return the page's table."""
    stamp, numbers = kept["stamp"], kept["numbers"]
    versions = ", ".join(f"{name} {stamp[key]}" for name, key in VERSIONS.items() if stamp.get(key))
    lines = ["", f"By `make bench` on one core of {stamp['processor']}; {versions}.", ""]
    lines += ["| quantity | value |", "|---|---|"]
    for quantity, text, places in ROWS:
        lines.append(f"| {quantity} | {text.format(*(numbers[' | '.join(place)] for place in places))} |")
    return "\n".join([*lines, "", ""])


def main(path: str = "results/bench/bench.json") -> int:
    """Write the numbers of a complete benchmark into ``numbers.json`` and the page."""
    try:
        bench = json.loads(Path(path).read_text(encoding="utf-8"))
        kept = {"stamp": bench["stamp"], "numbers": numbers_of(bench)}
    except (OSError, KeyError, ValueError) as error:
        print(f"{path}: not a complete benchmark ({error!r}); run `make bench` first", file=sys.stderr)
        return 2
    if kept["stamp"]["quick"]:
        print(f"{path}: made by `biped bench --quick`, which is too noisy; run `make bench`", file=sys.stderr)
        return 2
    KEPT.write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda _: block_of(kept), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
