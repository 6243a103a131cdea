"""Largest backward floor displacement without a step, young and old, and the contribution of each effect of age."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.figure import Figure

from experiments.catalogue.parameters.controllers import PERSON
from experiments.catalogue.parameters.parameter import Value
from experiments.papers.criteria import stated, when
from experiments.papers.figures import plotted
from experiments.papers.item import Finding, Outcome, Progress
from experiments.papers.people import person
from experiments.studies.grid import Grid
from experiments.studies.mean import Mean
from experiments.studies.threshold.search import Bracket
from experiments.studies.threshold.threshold import SweptParameter

#: Published mean and standard deviation [cm], of 5 people of 20 to 30 years and of 6 people of 70 to 80 years.
YOUNG, OLD = (16.2, 2.6), (11.8, 2.1)
NUMBERS = (5, 6)
#: Decrease in the old [%], and its uncertainty [%]: t of 9 degrees of freedom at 95 %, 2.26, times the standard error
#: of the difference, 1.44 cm, divided by the mean of the young.
LOSS, LOSS_ERROR = (27.0, 20.0), 144.0 / 16.2
#: Duration [s] of the floor's motion, as in the project's platform protocol (``examples/platform.toml``).
RISE = 0.4
_WHY = "the person has the same ankles, hips and rules at any age; people who are asked not to step may try harder"
_LOSS = (
    "only sensors and strength depend on age here, and in the source of the strengths old men's plantarflexors are "
    "stronger than young men's; feet, passive ankles and controller are those of the young"
)


def loss(ours: Sequence[Bracket], theirs: Sequence[Bracket]) -> Mean:
    """Return by how many percent ``ours`` are smaller than ``theirs``, with the confidence interval."""
    kept = person.ratio(ours, theirs)
    return Mean(100.0 * (1.0 - kept.value), kept.of, 100.0 * (1.0 - kept.high), 100.0 * (1.0 - kept.low))


def findings(brackets: Mapping[str, Sequence[Bracket]]) -> tuple[Finding, ...]:
    """Compare thresholds [m], given by the names of ``ages``, with published values."""
    statements = [
        person.compared(
            f"largest displacement backward, {who} [cm]", mean, sd, person.median(brackets[who], 100.0), _WHY,
            error=sd / math.sqrt(people),
        )
        for who, (mean, sd), people in zip(("young", "old"), (YOUNG, OLD), NUMBERS, strict=True)
    ]  # fmt: skip
    decrease = loss(brackets["old"], brackets["young"])
    statements.append(person.compared("decrease in the old [%]", *LOSS, decrease, _LOSS, error=LOSS_ERROR))
    for part in person.PARTS:
        alone = loss(brackets[part], brackets["young"])
        above_zero = when("the interval is above zero", alone.low > 0.0)
        what = f"decrease in the young with only the {part} of the old [%]"
        statements.append(stated(what, "not in the source", person.shown(alone), above_zero, kind="ours"))
    return tuple(statements)


def produce(quick: bool, progress: Progress) -> Outcome:
    replicas, grid = (3, Grid(0.0, 0.2, 0.1, 0.05)) if quick else (7, Grid(0.02, 0.2, 0.06, 0.0025))
    floor: dict[str, Value] = {
        "platform.motion": "step", "platform.start": 0.5, "platform.rise": RISE, "run.duration": 5.0, "run.step": 2e-3,
    }  # fmt: skip
    swept = SweptParameter("platform.size")
    by_name = person.thresholds(PERSON, swept, grid, person.ages(), floor, replicas=replicas, progress=progress)
    assumptions = (
        person.BY_PERSON_TEXT,
        f"the floor moves back within {RISE:g} s, with minimum jerk; the published duration is unknown",
        "young and old: the sensor presets of these names, eyes open, with delays of 150 and 190 ms, and the strength "
        "of young and old men; with one effect: this part is that of the old, all other parts are those of the young",
        "agreement: within a published standard deviation between 5 young or between 6 old people; for the difference "
        f"within {LOSS[1]:g} % of the young's mean, the confidence interval for 5 and 6 people with these deviations",
        f"ours: medians of {replicas} replicas, which differ only in their noise, with their intervals",
    )
    medians = {who: person.median(brackets, 100.0) for who, brackets in by_name.items()}
    lost = {who: loss(brackets, by_name["young"]) for who, brackets in by_name.items()}
    columns = ("who", "largest displacement [cm]", "from [cm]", "to [cm]", "less by [%]", "from [%]", "to [%]")
    rows = [(who, *person.ends(mean), *person.ends(lost[who])) for who, mean in medians.items()]
    tables = {"Displacements": pd.DataFrame(rows, columns=columns)}
    return Outcome(findings(by_name), assumptions, tables, {"displacements": _draw(medians)})


def _draw(medians: Mapping[str, Mean]) -> Figure:
    with plotted("Largest displacement backward without a step", "", "displacement [cm]") as (figure, axes):
        values = [mean.value for mean in medians.values()]
        apart = person.reaches(medians.values())
        axes.errorbar(list(medians), values, apart, fmt="o", capsize=4.0, label="ours, with the named effects of age")
        means, deviations = zip(YOUNG, OLD, strict=True)
        axes.errorbar(["young", "old"], means, deviations, fmt="s", capsize=4.0, color="C1", label="people, mean ± SD")
        axes.set(xlim=(-0.5, len(medians) - 0.5), ylim=(0.0, None))
    return figure
