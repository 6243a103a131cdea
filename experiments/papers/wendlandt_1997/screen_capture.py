"""Figure 4.11 of Wendlandt 1997: how experiment 2 looks at 0.32 s, standing on its toes after the hit."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from biped.extras import has
from biped.runs.run import Run
from experiments.papers.criteria import stated, when
from experiments.papers.item import Finding, Item, Outcome, Progress
from experiments.papers.wendlandt_1997.experiment2 import SIDES, heel, rises
from experiments.papers.wendlandt_1997.simulated import run_of
from experiments.visualization.viewer.chromium import chromium_path

#: [s] of the picture.
MOMENT = 0.32
#: What draws it, besides Chromium.
PACKAGES = ("viser", "trimesh", "websockets")


def compare(run: Run) -> Iterator[Finding]:
    """State what the text says of that moment: both heels are in the air, and the toes stand."""
    for side in SIDES:
        up, down = heel(run, side)
        ours = f"from {up:.3f} to {down:.3f} s"
        yield stated(f"the {side} heel is in the air at {MOMENT:g} s", "yes", ours,
                     when("it is then", up < MOMENT < down))  # fmt: skip
        toes = rises(run, f"{side}_toes")
        ours = f"they rise at {toes:.3f} s" if np.isfinite(toes) else "they stay down"
        yield stated(f"the {side} toes stand at {MOMENT:g} s", "yes", ours, when("they do then", toes > MOMENT))


def produce(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - one picture is as short as it gets
    run = run_of("thrown-block")
    progress(0.3)
    can_draw = chromium_path() is not None and has(*PACKAGES)
    assumptions: tuple[str, ...] = ("The camera: the thesis's picture is not printed with where it was taken from.",)
    if not can_draw:
        assumptions += (f"Not drawn: that takes Chromium, and the packages {', '.join(PACKAGES)}.",)
    return Outcome(tuple(compare(run)), assumptions, figures=_drawn(run) if can_draw else {})


def _drawn(run: Run) -> dict[str, Figure]:
    from experiments.papers.wendlandt_1997.screen_picture import picture

    return {"figure-4.11-screen-capture": picture(run, MOMENT)}


ITEM = Item("figure-4.11", "Screen Capture of Experiment 2", "Wendlandt 1997, section 4.3, experiment 2", produce)
