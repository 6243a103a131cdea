"""Draw first steps over the push impulse, beside data of people: the figure of ``docs/stepping-results.md``.

    biped sweep examples/steps-over-push.toml
    python examples/steps_over_push.py [FOLDER [FIGURE]]

Lines are means over replicas, bands hold nine of ten. The data of people are from Hof, Vermerris and Gjaltema (2010):
lateral pushes during walking.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from experiments.studies import Study

DIRECTIONS = {0: "forward", 90: "left", 180: "backward"}
#: People: earliest landing [ms] of the foot, and largest outward shift [m] of the foot due to the push.
SOONEST, FARTHEST = 300.0, 0.2


def first_steps(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the plotted quantities of each trial with a step, by panel title."""
    step = {name: frame[f"first_step_{name}"] for name in ("onset", "duration", "length_ap", "length_ml")}
    drawn = {
        "landing time [ms]": 1000.0 * (step["onset"] + step["duration"]),
        "step length [m]": np.hypot(step["length_ap"], step["length_ml"]),
        "landing beyond XCoM [m]": frame["first_step_beyond_xcom"],
        "landing speed [m/s]": frame["first_step_landing_speed"],
    }
    direction = np.degrees(frame["push.azimuth"]).round().map(DIRECTIONS)
    return pd.DataFrame({"direction": direction, "impulse": frame["push.impulse"], **drawn}).dropna()


def draw(steps: pd.DataFrame, figure: Path) -> None:
    """Draw a panel for each quantity, a line for each direction."""
    names = list(steps.columns[2:])
    drawing, panels = plt.subplots(1, len(names), figsize=(12.0, 3.4), layout="constrained")
    for color, (direction, those) in enumerate(steps.groupby("direction", sort=False)):
        by_push = those.groupby("impulse")[names]
        mean, low, high = by_push.mean(), by_push.quantile(0.05), by_push.quantile(0.95)
        for name, axes in zip(names, panels, strict=True):
            axes.fill_between(mean.index, low[name], high[name], color=f"C{color}", alpha=0.2, linewidth=0.0)
            axes.plot(mean.index, mean[name], f"C{color}o-", markersize=4.0, label=f"push: {direction}")
    for name, axes in zip(names, panels, strict=True):
        axes.set_title(name, fontsize="medium")
        axes.set_xlabel("push [N·s]")
    panels[0].axhline(SOONEST, color="k", linestyle=":", label="people, lateral push: earliest; largest")
    panels[1].axhline(FARTHEST, color="k", linestyle=":")
    panels[2].axhline(0.0, color="k", linewidth=0.5)
    for axes in (panels[0], panels[1], panels[3]):
        axes.set_ylim(bottom=0.0)
    drawing.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    plt.savefig(figure, dpi=110)


def main(folder: str = "results/sweep/steps-over-push", figure: str = "docs/figures/steps-over-push.png") -> None:
    """Print the means, and draw the figure."""
    with Study.read(folder) as study:
        steps = first_steps(study.frame())
    print(steps.groupby(["direction", "impulse"], sort=False).mean().round(3).to_string())
    draw(steps, Path(figure))


if __name__ == "__main__":
    main(*sys.argv[1:])
