"""What chapter 2 says about CPU times, against ours on another machine."""

from collections.abc import Sequence

from experiments.reproduce.item import Finding
from experiments.reproduce.wendlandt_1997.convergence import slope
from experiments.reproduce.wendlandt_1997.printed import STEPS

#: Timings of each run, in the whole and in the short version.
REPEATS = {False: 15, True: 3}
MACHINE = "theirs: an SGI Indy, MIPS R4600 at 100 MHz, 1993"


def cpu_findings(what: str, published: Sequence[float], ours: Sequence[float]) -> list[Finding]:
    """Nearly linear in the number of steps, and how much faster."""
    found = slope(STEPS, ours)
    return [
        Finding(
            f"CPU time, {what}: slope over the step",
            slope(STEPS, published),
            found,
            "nearly linear: −1.0 ± 0.25",
            abs(found + 1.0) <= 0.25,
            "larger steps take more Newton iterations, and a short run what it takes to start one",
        ),
        Finding(
            f"CPU time, {what}, h = 1e-4 s [s]",
            published[0],
            ours[0],
            "less, on a later machine",
            ours[0] < published[0],
            f"{published[0] / ours[0]:.0f} times as fast; {MACHINE}",
        ),
    ]
