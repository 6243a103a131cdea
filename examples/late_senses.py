"""Draw push thresholds over the sensory delay: the table and the figure of ``docs/late-senses-results.md``.

    for law in whole-body cone-workspace workspace lqr; do
        biped threshold examples/late-senses.toml --controller $law --out results/late-senses/$law
    done
    biped threshold examples/late-steps.toml --out results/late-senses/stepping
    python examples/late_senses.py [FOLDER [FIGURE]]

Thresholds are medians over replicas with intervals. Shares are medians of each replica's threshold / its threshold
without delay.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from experiments.studies import median_interval

#: Folders of the studies, by controller; ``stepping`` may take any number of steps, the others stand in place.
LAWS = ("stepping", "whole-body", "cone-workspace", "workspace", "lqr")
DELAYS = (0, 50, 100, 150, 200)  # [ms]
AHEAD, SENSED = "with prediction", "without prediction"
PUSHES = ("forward", "left", "backward")


def read(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return medians and replicas of a study; columns ``delay`` [ms] and ``how`` come from its label ``sensors``."""
    found = []
    for suffix in ("", "-replicas"):
        frame = pd.read_csv(folder / f"threshold{suffix}.csv")
        words = frame["sensors"].str.extract(r"(?P<delay>\d+) ms, (?P<how>.*)")
        found.append(frame.assign(delay=words["delay"].astype(int), how=words["how"]))
    return found[0], found[1]


def at(frame: pd.DataFrame, push: str, delay: int, how: str) -> pd.DataFrame:
    """Return the rows of a condition; without delay, one row serves both."""
    how = "no delay" if delay == 0 else how
    return frame[(frame["push"] == push) & (frame["delay"] == delay) & (frame["how"] == how)]


def share(replicas: pd.DataFrame, push: str, delay: int, how: str) -> str:
    """Return the threshold / threshold without delay in percent: median over replicas and interval."""
    ends = ("low", "high")
    late, now = (at(replicas, push, when, how).sort_values("replica") for when in (delay, 0))
    low, high = (late[end].clip(lower=0.0).to_numpy() for end in ends)  # fell without a push: zero
    least, most = (now[end].to_numpy() for end in ends)
    found = median_interval((low / least).tolist(), (low / most).tolist(), (high / least).tolist())
    return f"{100 * found.value:.0f} ({100 * found.low:.0f} … {100 * found.high:.0f})"


def table(folder: Path) -> str:
    """Return a Markdown table of thresholds and shares with prediction, with intervals."""
    lines = ["| controller | push | " + " | ".join(f"{delay} ms" for delay in DELAYS) + " |"]
    lines.append("|" + "---|" * (2 + len(DELAYS)))
    for law in LAWS:
        medians, replicas = read(folder / law)
        for push in PUSHES:
            cells = [f"`{law}`", push]
            for delay in DELAYS:
                row = at(medians, push, delay, AHEAD)[["median", "ci_low", "ci_high"]].clip(lower=0.0).iloc[0]
                shares = f", {share(replicas, push, delay, AHEAD)} %" if delay else ""
                cells.append(f"{row['median']:.1f} ({row['ci_low']:.1f} … {row['ci_high']:.1f}){shares}")
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(folder: Path, figure: Path) -> None:
    """Draw thresholds over the delay, a panel for each direction; results without prediction are dotted."""
    _, panels = plt.subplots(1, len(PUSHES), figsize=(9.0, 3.4), sharey=True, layout="constrained")
    for color, law in enumerate(LAWS):
        medians, _ = read(folder / law)
        for push, axes in zip(PUSHES, panels, strict=True):
            for how, line in ((AHEAD, "-"), (SENSED, ":")):
                rows = pd.concat([at(medians, push, delay, how) for delay in DELAYS])
                if len(rows) < len(DELAYS):
                    continue
                middle, low, high = (rows[name].clip(lower=0.0) for name in ("median", "ci_low", "ci_high"))
                axes.errorbar(
                    rows["delay"] + 2.0 * (color - 2.0), middle, np.array([middle - low, high - middle]),
                    color=f"C{color}", linestyle=line, marker="o", markersize=3.0, capsize=2.0,
                    label=law if how == AHEAD else None,
                )  # fmt: skip
            axes.set_title(f"push: {push}", fontsize="medium")
            axes.set_xlabel("sensory delay [ms]")
            axes.set_xticks(DELAYS)
    panels[0].set_ylabel("push threshold [N·s]")
    panels[0].set_ylim(bottom=0.0)
    panels[-1].legend(fontsize="small", title="— with prediction, ··· without", title_fontsize="small")
    plt.savefig(figure, dpi=110)


def main(folder: str = "results/late-senses", figure: str = "docs/figures/late-senses.png") -> None:
    """Print the table, and draw the figure."""
    print(table(Path(folder)))
    draw(Path(folder), Path(figure))


if __name__ == "__main__":
    main(*sys.argv[1:])
