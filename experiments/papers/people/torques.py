"""Floor accelerations before a first and before a second step, expressed as ankle torques."""

import math
from collections.abc import Mapping, Sequence
from textwrap import fill

import pandas as pd
from matplotlib.figure import Figure

from biped import Stance, human
from biped.identification.channels import GRAVITY
from experiments.catalogue.parameters.parameter import Value
from experiments.papers.criteria import stated, when
from experiments.papers.figures import plotted
from experiments.papers.item import Finding, Outcome, Progress
from experiments.papers.people import person
from experiments.studies.grid import Grid
from experiments.studies.identification.subject import pendulum_of
from experiments.studies.mean import Mean
from experiments.studies.threshold.search import Bracket
from experiments.studies.threshold.threshold import SweptParameter

#: Published mean and standard deviation [N·m] before a first and a second step, by the direction of the fall.
FIRST = {
    "forwards": (273.0, 82.3), "backwards": (235.5, 98.0), "to the side of the leg that steps": (236.8, 85.4),
    "to the side of the leg that stands": (225.7, 77.7),
}  # fmt: skip
SECOND = {"forwards": (977.0, 416.3), "backwards": (701.9, 237.5)}
#: Axis of the platform, and sign of its displacement, for each direction of the fall: the human faces −x.
WAYS = {
    "forwards": ("x", 1.0), "backwards": ("x", -1.0), "to the side of the leg that steps": ("y", 1.0),
    "to the side of the leg that stands": ("y", -1.0),
}  # fmt: skip
#: Durations [s] of the floor's motion; torques are compared for the middle one, as in ``displacement``.
RISES, RISE = (0.2, 0.4, 0.6), 0.4
#: Peak acceleration of a minimum-jerk displacement D in a time T, divided by D/T² (Flash and Hogan 1985).
PEAK = 10.0 / math.sqrt(3.0)
#: Half of the last shown digit of a ratio.
_DIGIT = 0.005
_LAW = {
    1: (person.ANKLES, {**person.PERSON, **person.BY_ANKLES}),
    2: ("stepping", {**person.PERSON, **person.EXACT, "initial.settle": 3.0, "initial.jitter": 0.005, "run.step": 1e-3,
                     "actuators.stiffness": 300.0, "actuators.damping": 30.0,
                     "controller.instruction": "one-step-only"}),
}  # fmt: skip
_SIDE = "the joints of the person are held by any torque that is needed, while people's hips give way"
_ANKLES = "with only the ankle strategy, other joints being held, the person withstands less than people, who use hips"
_STEP = "after the one step the trunk, which the swing of the leg has tilted, falls"
#: Seeds that differ between replicas: of sensor noise, or, without noise, of the initial joint angles.
_SCATTERED = {1: "sensors.seed", 2: "initial.seed"}
#: Thresholds by duration of the floor's motion, number of steps, and direction.
Brackets = Mapping[tuple[float, int, str], Sequence[Bracket]]


def lever() -> float:
    """Return m h [kg·m] of the upright human above the ankles: torque / acceleration of the floor."""
    model = human()
    return pendulum_of(model, Stance().configuration(model))["toppling"] / GRAVITY


def torque(brackets: Sequence[Bracket], rise: float) -> Mean:
    """Return the ankle torque [N·m] that keeps the body upright at threshold displacements in ``rise`` [s]."""
    return person.median(brackets, lever() * PEAK / rise**2)


def findings(brackets: Brackets) -> tuple[Finding, ...]:
    """Compare torques at one duration of the floor's motion, and ratios of torques at all durations."""
    rows = [("first", 1, way, *numbers) for way, numbers in FIRST.items()]
    rows += [("second", 2, way, *numbers) for way, numbers in SECOND.items()]
    statements = []
    for which, steps, way, mean, sd in rows:
        ours = torque(brackets[RISE, steps, way], RISE)
        statements.append(
            person.compared(f"torque before a {which} step, {way} [N·m]", mean, sd, ours, why(steps, way))
        )
    front = FIRST["forwards"][0]
    ratios = [(f"torque before a first step {way} / forwards", mean / front, (1, way), (1, "forwards"), why(1, way))
              for way, (mean, _) in FIRST.items() if way != "forwards"]  # fmt: skip
    ratios += [(f"torque before a second / before a first step {way}", mean / FIRST[way][0], (2, way), (1, way), _STEP)
               for way, (mean, _) in SECOND.items()]  # fmt: skip
    for what, published, over, under, because in ratios:
        all_times = [person.median(brackets[t, *over]).value / person.median(brackets[t, *under]).value for t in RISES]
        within = min(all_times) - _DIGIT <= published <= max(all_times) + _DIGIT
        text = f"{min(all_times):.2f} … {max(all_times):.2f}"
        statements.append(stated(what, f"{published:.2f}", text, when("within our range", within), why=because))
    return tuple(statements)


def why(steps: int, way: str) -> str:
    return _STEP if steps > 1 else _SIDE if "side" in way else _ANKLES


def produce(quick: bool, progress: Progress) -> Outcome:
    replicas, fine = (3, 0.02) if quick else (7, 2.5e-3)
    brackets: dict[tuple[float, int, str], Sequence[Bracket]] = {}
    cases = [(rise, steps, way) for rise in RISES for steps in (1, 2) for way in (FIRST if steps == 1 else SECOND)]
    for number, (rise, steps, way) in enumerate(cases):
        axis, sign = WAYS[way]
        law, changes = _LAW[steps]
        floor: person.Changes = {
            "platform.motion": "step", "platform.axis": axis, "platform.start": 0.5, "platform.rise": rise,
            "run.duration": 5.0,
        }  # fmt: skip
        swept, grid = SweptParameter("platform.size", sign), Grid(0.005, 0.8, 0.1, fine)
        condition: Mapping[str, Mapping[str, Value]] = {way: {}}
        done = lambda share, n=number: progress((n + share) / len(cases))  # noqa: E731
        brackets[rise, steps, way] = person.thresholds(
            law, swept, grid, condition, {**changes, **floor}, replicas=replicas, progress=done,
            scattered=_SCATTERED[steps], count_stepping=steps > 1,
        )[way]  # fmt: skip
    assumptions = (
        person.PERSON_TEXT,
        "before a second step: the controller is stepping, limited to one step, with a sensory delay of 100 ms, "
        "without sensor noise or thresholds, with an intrinsic stiffness of 300 N·m/rad in each joint",
        "the two lateral directions differ only by noise for the first step, since no leg is chosen without a step",
        "torque: m h of the body above the ankles times the floor's greatest acceleration",
        f"the floor moves with minimum jerk within {', '.join(f'{rise:g}' for rise in RISES)} s, as the treadmill's "
        f"profile is unknown; torques are compared at {RISE:g} s, ratios at all durations",
        "agreement: torques within a published standard deviation (the abstract does not give the number of people, so "
        "that the standard error is unknown); ratios if the published ratio is within our range",
        f"medians of {replicas} replicas, with their intervals",
    )
    torques = {key: torque(replicated, key[0]) for key, replicated in brackets.items()}
    columns = ("time [s]", "step", "way", "torque [N·m]", "from [N·m]", "to [N·m]", "displacement [m]")
    table = pd.DataFrame(
        [(*key, *person.ends(mean), person.median(brackets[key]).value) for key, mean in torques.items()],
        columns=columns,
    )
    return Outcome(findings(brackets), assumptions, {"Torques": table}, {"torques": _draw(torques)})


def _draw(torques: Mapping[tuple[float, int, str], Mean]) -> Figure:
    with plotted("Torque before a step", "", "torque [N·m]") as (figure, axes):
        names = [f"{which},\n{fill(way, 16)}" for which, ways in (("first", FIRST), ("second", SECOND)) for way in ways]
        published = [*FIRST.values(), *SECOND.values()]
        means, deviations = zip(*published, strict=True)
        axes.errorbar(names, means, deviations, fmt="s", capsize=4.0, color="C1", label="people, mean ± SD")
        for rise in RISES:
            ours = [torques[rise, 1, way].value for way in FIRST] + [torques[rise, 2, way].value for way in SECOND]
            axes.plot(names, ours, "o", zorder=3, label=f"ours, in {rise:g} s", color=f"C{2 + RISES.index(rise)}")
        axes.set(xlim=(-0.5, len(names) - 0.5), ylim=(0.0, None))
        axes.tick_params(axis="x", labelsize="x-small")
    return figure
