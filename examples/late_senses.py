"""Draw what is left of the largest pushes where senses are late: the table and the figure of ``docs/late-senses.md``.

    for law in whole-body cone-workspace workspace lqr; do
        biped threshold examples/late-senses.toml --controller $law --out results/late-senses/$law
    done
    biped threshold examples/late-steps.toml --out results/late-senses/stepping
    python examples/late_senses.py [FOLDER [FIGURE]]

Each study's thresholds are medians over replicas, with their intervals; shares of the threshold without delay are
medians over replicas of the replica's own.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from experiments.studies import median_interval

#: Folders of the laws' studies; ``stepping`` takes as many steps as it needs, the others stand in place.
LAWS = ("stepping", "whole-body", "cone-workspace", "workspace", "lqr")
DELAYS = (0, 50, 100, 150, 200)  # [ms]
AHEAD, SENSED = "seen ahead", "as sensed"
PUSHES = ("front", "left", "back")


def read(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Medians and replicas of a law's study, with ``delay`` [ms] and ``how`` in place of its words for senses."""
    found = []
    for suffix in ("", "-replicas"):
        frame = pd.read_csv(folder / f"threshold{suffix}.csv")
        words = frame["senses"].str.extract(r"(?P<delay>\d+) ms, (?P<how>.*)")
        found.append(frame.assign(delay=words["delay"].astype(int), how=words["how"]))
    return found[0], found[1]


def at(frame: pd.DataFrame, push: str, delay: int, how: str) -> pd.DataFrame:
    """The rows of a condition; without delay there is one for both."""
    how = "at once" if delay == 0 else how
    return frame[(frame["push"] == push) & (frame["delay"] == delay) & (frame["how"] == how)]


def share(replicas: pd.DataFrame, push: str, delay: int, how: str) -> str:
    """The median over replicas of the threshold by that without delay, and its interval, in percent."""
    ends = ("low", "high")
    late, now = (at(replicas, push, when, how).sort_values("replica") for when in (delay, 0))
    low, high = (late[end].clip(lower=0.0).to_numpy() for end in ends)  # who falls unpushed withstands nothing
    least, most = (now[end].to_numpy() for end in ends)
    found = median_interval((low / least).tolist(), (low / most).tolist(), (high / least).tolist())
    return f"{100 * found.value:.0f} ({100 * found.low:.0f} … {100 * found.high:.0f})"


def table(folder: Path) -> str:
    """Of all laws as they see ahead, in Markdown: thresholds and shares, with intervals."""
    lines = ["| law | push to the | " + " | ".join(f"{delay} ms" for delay in DELAYS) + " |"]
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
    """Thresholds over the delay, a panel for each direction; what is sensed late, as it is, is dashed."""
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
            axes.set_title(f"to the {push}", fontsize="medium")
            axes.set_xlabel("delay of the senses [ms]")
            axes.set_xticks(DELAYS)
    panels[0].set_ylabel("largest impulse withstood [N·s]")
    panels[0].set_ylim(bottom=0.0)
    panels[-1].legend(fontsize="small", title="— seen ahead, ··· as sensed", title_fontsize="small")
    plt.savefig(figure, dpi=110)


def main(folder: str = "results/late-senses", figure: str = "docs/figures/late-senses.png") -> None:
    """Print the table, and draw the figure."""
    print(table(Path(folder)))
    draw(Path(folder), Path(figure))


if __name__ == "__main__":
    main(*sys.argv[1:])
