"""Experiments 1 and 2 on a rigid floor, and with blocks of other sizes: what does not explain their differences."""

import numpy as np
import pandas as pd

from biped.runs.run import Run
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.registry import experiment_named
from experiments.papers.criteria import below, stated, when
from experiments.papers.item import Finding, Item, Outcome, Progress
from experiments.papers.wendlandt_1997.experiment1 import drift
from experiments.papers.wendlandt_1997.experiment2 import SIDES, heel, hit_at, rises
from experiments.papers.wendlandt_1997.simulated import run_of

#: [m] edges of blocks beside the cube of the other items.
BLOCKS = ((0.01, 0.3, 0.3), (0.03, 0.245, 0.245), (0.03, 0.1, 0.1), (0.03, 0.4, 0.05), (0.06, 0.17, 0.17))
#: The thesis's restitution, and friction as on springs.
RIGID: dict[str, Value] = {"integrator.name": "rigid", "integrator.restitution": 0.2}
SPRINGS_AND_CUBE, RIGID_FLOOR = "springs, a cube of 12 cm", "rigid floor, a cube of 12 cm"
#: [s] from the hit to the heels' rise: printed 0.13 less 0.08, each rounded to hundredths.
PRINTED_DELAY = 0.05


def produce(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - runs take a third of a second
    block = experiment_named("thrown-block")
    thrown = {SPRINGS_AND_CUBE: run_of("thrown-block"), RIGID_FLOOR: block.run(RIGID)}
    progress(0.4)
    for edges in BLOCKS:
        size = " × ".join(f"{100 * edge:g}" for edge in edges)
        thrown[f"springs, {size} cm"] = block.run({"block.size": edges})
    rigid = experiment_named("stand-tilted").run(RIGID)
    progress(1.0)
    table = pd.DataFrame([{"floor and block": name, **_row(run)} for name, run in thrown.items()])
    assumed = (
        "rigid floor: the product's, with the thesis's restitution of 0.2, by Newton's law; blocks weigh 1.8 kg",
    )
    return Outcome((*_second(table), *_first(rigid)), assumed, {"Experiment 2": table})


def _row(run: Run) -> dict[str, float]:
    hit, times = hit_at(run), {side: heel(run, side) for side in SIDES}
    return (
        {"hits [s]": hit}
        | {f"{side} heel rises after it [s]": times[side][0] - hit for side in SIDES}
        | {f"{side} heel lands [s]": times[side][1] for side in SIDES}
    )


def _second(table: pd.DataFrame) -> tuple[Finding, ...]:
    delays = table[[f"{side} heel rises after it [s]" for side in SIDES]].max(axis=1)
    left, right = (table[f"{side} heel lands [s]"] for side in SIDES)
    hits = table["hits [s]"]
    return (
        stated("time from the hit to the later heel's rise, the longest of all blocks and floors [s]",
               f"{PRINTED_DELAY:g}, derived: 0.13 less 0.08", float(delays.max()),
               below(0.8 * PRINTED_DELAY, "below 0.04: neither the size nor the springs make it 0.05"), kind="ours"),
        stated("foot that lands first, all blocks and floors", "right",
               f"left in {(left < right).sum()} of {len(left)}",
               when("left in all: neither the size nor the springs decide it", bool((left < right).all())),
               kind="ours"),
        stated("times of the hit, all blocks [s]", "about 0.08", f"{hits.min():.3f} … {hits.max():.3f}",
               when("0.08 among them: it hangs on the size", hits.min() < 0.08 < hits.max()), kind="ours"),
    )  # fmt: skip


def _first(rigid: Run) -> tuple[Finding, ...]:
    toes, force = rises(rigid, "left_toes"), rigid.frame["desired_fz"]
    slides = drift(rigid)
    return (
        stated("the front of the left foot on a rigid floor, experiment 1", "rises at about 0.18 s",
               f"rises at {toes:.3f} s" if np.isfinite(toes) else "stays down",
               when("stays down: springs are not why", not np.isfinite(toes)),
               f"desired Z force from {force.iloc[0]:.1f} to {force.iloc[-1]:.1f} N", kind="ours"),
        stated("drift of its joint angles there [rad]", slides.published, slides.ours,
               when("none that a figure can show: springs are not why", not slides.agrees), kind="ours"),
    )  # fmt: skip


ITEM = Item(
    "other-floors-and-blocks", "experiments 1 and 2 on a rigid floor, and with blocks of other sizes",
    "Wendlandt 1997, section 4.3", produce,
)  # fmt: skip
