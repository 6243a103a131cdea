"""What chapter 2 says about CPU times, against ours on another machine."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from experiments.papers.item import Finding
from experiments.papers.wendlandt_1997.convergence import side_by_side, slope
from experiments.papers.wendlandt_1997.printed import STEPS

#: Timings of each run, in the whole and in the short version.
REPEATS = {False: 15, True: 3}
MACHINE = "theirs: an SGI Indy, MIPS R4600 at 100 MHz, 1993"


def cpu_findings(what: str, published: Sequence[float], ours: Sequence[float]) -> list[Finding]:
    found = slope(STEPS, ours)
    return [
        Finding(
            f"CPU time, {what}: slope over the step",
            slope(STEPS, published),
            found,
            "nearly linear: −1.0 ± 0.25",
            abs(found + 1.0) <= 0.25,
            "larger steps take more Newton iterations, and a short run what it takes to start one",
        )
    ]


def cpu_table(columns: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> dict[str, pd.DataFrame]:
    """The times of each method and how much faster a later machine is, which is no statement of the thesis."""
    table = side_by_side(STEPS, {f"{name} [s]": times for name, times in columns.items()})
    for name, (published, ours) in columns.items():
        table[f"{name}, times as fast"] = np.divide(published, ours)
    return {f"CPU time ({MACHINE})": table}
