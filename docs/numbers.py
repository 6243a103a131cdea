"""Fill the README's numbers in from a benchmark: ``make numbers``, after ``make bench``.

What the README shows is kept in ``docs/numbers.json``, with the machine and the versions that it was measured with; a
test holds the README against that. Everything between the README's marks ``numbers`` is written here.
"""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
README, KEPT = DOCS.parent / "README.md", DOCS / "numbers.json"
BLOCK = re.compile(r"(?<=<!-- numbers -->\n).*(?=<!-- /numbers -->)", re.DOTALL)
VERSIONS = {"Python": "python", "Numba": "numba", "MuJoCo": "mujoco"}
STEPS = ("0.5 ms", "1 ms", "2 ms")
WARM, COLD = "warm `biped run thrown-block --no-figures`", "the same with an empty kernel cache"

#: What, how it is told, and where the numbers stand in ``bench.json``: section, row, column.
ROWS = (
    (
        "closed loop in stance, workspace controller, steps of 0.5, 1, 2 ms",
        "{:.1f}, {:.1f}, {:.1f} µs a step",
        [("closed_loop", f"workspace stance, {step}", "median") for step in STEPS],
    ),
    (
        "flight, steps of 0.5, 1, 2 ms",
        "{:.1f}, {:.1f}, {:.1f} µs a step",
        [("closed_loop", f"flight, {step}", "median") for step in STEPS],
    ),
    (
        "stance on stiff joints at 0.5 ms, against MuJoCo's fastest of 120 settings",
        "{:.1f} (quiet) and {:.1f} (swaying) times its speed",
        [("mujoco", f"{scene} stance, 0.5 ms", "ratio") for scene in ("quiet", "swaying")],
    ),
    (
        "flight at 0.5 ms, against MuJoCo's fastest (first order; ours is second)",
        "{:.2f} times its speed",
        [("mujoco", "flight, 0.5 ms", "ratio")],
    ),
    (
        "studies of 3 s trials, steps of 2 and 0.5 ms, all metrics kept",
        "{:.0f} and {:.0f} trials a second and core; two cores {:.2f} times that at 0.5 ms",
        [
            ("studies", "steps of 2 ms", "one core"),
            ("studies", "steps of 0.5 ms", "one core"),
            ("studies", "steps of 0.5 ms", "scaling"),
        ],
    ),
    ("a 3 s experiment at 0.5 ms", "{:.0f} ms", [("experiments", "stand-tilted", "median")]),
    (
        "Newton iterations a step in stance, mean",
        "{:.2f}",
        [("closed_loop", "workspace stance, 0.5 ms", "iterations")],
    ),
    (
        "first compilation; a run after that",
        "{:.0f} s; {:.1f} s",
        [("startup", COLD, "median"), ("startup", WARM, "median")],
    ),
)


def numbers_of(bench: Mapping[str, Any]) -> dict[str, float]:
    """Those of a benchmark that the README shows, by place."""
    places = [place for _, _, places in ROWS for place in places]
    return {" | ".join((a, b, c)): bench["sections"][a]["rows"][b][c] for a, b, c in places}


def block_of(kept: Mapping[str, Any]) -> str:
    """The README's table."""
    stamp, numbers = kept["stamp"], kept["numbers"]
    versions = ", ".join(f"{name} {stamp[key]}" for name, key in VERSIONS.items() if stamp.get(key))
    lines = ["", f"By `make bench` on one core of {stamp['processor']}; {versions}.", ""]
    lines += ["| what | figure |", "|---|---|"]
    for what, text, places in ROWS:
        lines.append(f"| {what} | {text.format(*(numbers[' | '.join(place)] for place in places))} |")
    return "\n".join([*lines, "", ""])


def main(path: str = "results/bench/bench.json") -> int:
    """Take the numbers of a whole benchmark over, into ``numbers.json`` and the README."""
    try:
        bench = json.loads(Path(path).read_text(encoding="utf-8"))
        kept = {"stamp": bench["stamp"], "numbers": numbers_of(bench)}
    except (OSError, KeyError, ValueError) as error:
        print(f"{path}: no whole benchmark ({error!r}): run `make bench` first", file=sys.stderr)
        return 2
    if kept["stamp"]["quick"]:
        print(f"{path}: of `biped bench --quick`, which is too noisy to be told: run `make bench`", file=sys.stderr)
        return 2
    KEPT.write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    README.write_text(BLOCK.sub(lambda _: block_of(kept), README.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
