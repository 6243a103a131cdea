"""The limits of the inverted pendulum: on the terminal, as a table in a file, and as a picture."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from experiments.cli.terminal import terminal
from experiments.studies.limits import LIMITS, ScenePush
from experiments.studies.threshold.directions import word_of
from experiments.visualization.figures import style
from experiments.visualization.figures.writing import styled, write_figure
from experiments.visualization.studies.compass import face_front

#: The name of the table and the figure in the folder.
NAME = "limits"
#: Of columns, in the terminal's table.
HEADINGS = {
    "distance": "to the edge [m]",
    "limit": "limit [N·s]",
    "limit_without_friction": "without friction",
    "limit_hips": "with hips [N·s]",
    "limit_hips_without_friction": "without friction",
    "platform": "floor [m]",
}


def print_limits(push: ScenePush, found: pd.DataFrame, who: str) -> None:
    """What is assumed, and a row for each direction."""
    console = terminal()
    pendulum = push.stance.pendulum
    console.print(
        Text(f"{who}: {pendulum.mass:.5g} kg at {pendulum.height:.3g} m, ω = {pendulum.rate:.4g} 1/s; ", style="bold")
        + Text(f"friction {push.friction:g}, reaction after {push.delay:g} s, push of {push.shape.ends:g} s")
    )
    table = Table(title=Text("Largest push without a step"), title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    table.add_column("direction")
    names = [name for name in HEADINGS if name in found]
    for name in names:
        table.add_column(HEADINGS[name], justify="right")
    for row in found.to_dict("records"):
        azimuth = float(row["direction"])
        word = f" {word_of(azimuth)}" if azimuth % 45.0 == 0.0 else ""
        table.add_row(f"{azimuth:g}°{word}", *(f"{row[name]:.4g}" for name in names))
    console.print(table)
    if not push.stance.flywheels:
        told = "what the hips add is not known: give the hips' joints limits of torque and position"
        console.print(Text(told, style="yellow"))


def write_limits(push: ScenePush, found: pd.DataFrame, folder: Path, who: str, *, draw: bool) -> list[Path]:
    """The table as CSV, and a figure; the files, which are told."""
    files = [folder / f"{NAME}.csv"]
    found.to_csv(files[0], index=False)
    if draw:
        files += draw_limits(push, found, folder / f"{NAME}.png", who)
    terminal().print(Text(f"{folder}/  {', '.join(file.name for file in files)}", style="cyan"))
    return files


def draw_limits(push: ScenePush, found: pd.DataFrame, path: Path, who: str) -> list[Path]:
    """Impulses over the direction, seen from above with the front at the top."""
    with styled():
        figure = Figure(figsize=(6.0, 5.4))
        axes: Any = figure.add_subplot(projection="polar")
        angles = np.radians(np.append(found["direction"], found["direction"].iloc[0]))
        for (name, label), color in zip(LIMITS.items(), (style.BLUE, style.ORANGE), strict=True):
            for column, dashes, more in ((name, "-", ""), (f"{name}_without_friction", ":", ", without friction")):
                if column in found:
                    values = np.append(found[column], found[column].iloc[0])
                    axes.plot(angles, values, dashes, color=color, label=f"{label}{more}")
        axes.set_ylim(0.0, None)
        face_front(axes)
        axes.set_title(f"Largest push of {push.shape.ends:g} s without a step [N·s]: {who}")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2)
        return write_figure(figure, path)
