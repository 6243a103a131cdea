"""Cost of a step: of the human by our integrators, of whole experiments, and on a rigid floor beside other engines."""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median

import numpy as np

from biped.errors import InputError
from biped.integrators import Rigid, integrator_named
from biped.model import human
from controllers.impedance import JointImpedance
from experiments.benchmarks import section as table
from experiments.benchmarks.scenes import STEPS, Timed, closed_loops, whole_experiment
from experiments.benchmarks.section import Budget, Column, Section, milliseconds
from experiments.comparison.flight import Glider
from experiments.engines.registry import engine_named
from experiments.timing import seconds

#: The first is what the other is measured against, at these steps [s].
INTEGRATORS, INTEGRATOR_STEPS = ("recursive", "midpoint"), (5e-4, 1e-3)
OURS = "rigid (ours)"
#: [s] of standing before an engine's clock starts.
SETTLING = 0.5
#: [m] An engine's human stands while its trunk is this close to where it was.
SAG = 0.02


def per_step(runs: Sequence[Timed]) -> list[float]:
    """Return the times of a step [s]."""
    return [run.per_step for run in runs]


def closed_loop_section(work: Budget) -> Section:
    return table.measured(
        "closed_loop",
        "Cost of a step, on one core, compiled",
        (*table.spread_columns(), Column("iterations"), Column("real time", "×", ".0f"), Column("call", "µs")),
        {f"{scene}, {milliseconds(step)}": [run] for (scene, step), run in closed_loops(work.duration).items()},
        lambda runs: (
            *table.microseconds(per_step(runs)), runs[0].newton_mean,
            max(run.simulated / run.compiled for run in runs), *table.in_microseconds([r.wall / r.steps for r in runs]),
        ),
        work.repeats,
        ["call: the median of the whole call, with set-up and evaluation in Python, over the number of steps"],
    )  # fmt: skip


def integrators_section(work: Budget) -> Section:
    """Time the same scenes by the midpoint rule in generalized coordinates and by the default integrator."""
    usual, other = INTEGRATORS
    loops = [closed_loops(work.duration, INTEGRATOR_STEPS, integrator=integrator_named(name)) for name in INTEGRATORS]
    return table.measured(
        "integrators",
        f"Cost of the human's step: {other} beside {usual}",
        (
            *table.columns(usual, other, unit="µs"),
            *table.columns("ratio", "least", "most", f"iterations, {usual}", f"iterations, {other}"),
        ),
        {f"{scene}, {milliseconds(step)}": [loop[scene, step] for loop in loops] for scene, step in loops[0]},
        lambda first, second: (
            *table.in_microseconds(per_step(first), per_step(second)),
            *table.compared(per_step(second), per_step(first)), first[0].newton_mean, second[0].newton_mean,
        ),
        work.repeats,
        [f"medians; ratio: {other} over {usual}, the median, least and most of pairs taken in turn"],
    )  # fmt: skip


def experiment_section(work: Budget) -> Section:
    return table.measured(
        "experiments",
        "A whole experiment of 3 s at h = 0.5 ms",
        (*table.spread_columns("ms"), Column("call", "ms"), Column("iterations")),
        {name: [whole_experiment(name)] for name in ("stand-tilted", "thrown-block")},
        lambda runs: (
            *table.spread([run.compiled for run in runs], 1e3), 1e3 * median(run.wall for run in runs),
            runs[0].newton_mean,
        ),
        work.repeats,
        ["least, median, most: the compiled part; call: the median with everything but files and figures"],
    )  # fmt: skip


class Standing(Glider):
    """The human in an engine, standing on the default floor, every joint held by ``JointImpedance()``."""

    def __init__(self, name: str, step: float) -> None:
        model = human()
        at_rest = (model, model.neutral(), np.zeros(model.nv))
        super().__init__(engine_named(name), at_rest, step, JointImpedance().impedance(model))
        self.restart()
        self.advance(round(SETTLING / step))

    def step_time(self, steps: int) -> float:
        """Return what one of the next steps takes [s]."""
        return seconds(lambda: self.advance(steps)) / steps

    @property
    def stands(self) -> bool:
        return bool(abs(self.state()[0][2] - self.q[2]) < SAG)


def rigid_stance_section(names: Sequence[str], steps: int, repeats: int) -> Section:
    """Time a step of the human on a rigid floor: ours, which does not yield, and engines with soft contacts.

    Engines that are not installed are left out, with a note that says how to get them.
    """
    section = Section(
        "rigid_stance",
        "Cost of a step of the human that stands on a rigid floor, beside engines on soft contacts",
        table.spread_columns(),
        notes=["each takes many steps in one call, on one core; engines' contacts are set to the default floor's"],
    )
    installed = []
    for name in names:
        try:
            engine_named(name).check_installed()
            installed.append(name)
        except InputError as missing:
            section.notes.append(str(missing))
    for step in STEPS:
        standing = {name: Standing(name, step) for name in installed}
        own = closed_loops(steps * step, (step,), integrator=Rigid())["impedance stance", step]
        rows: dict[str, list[Callable[[], float]]] = {OURS: [partial(_own_time, own)]}
        rows |= {name: [partial(one.step_time, steps)] for name, one in standing.items()}
        for name, numbers in table.numbers_of(rows, table.microseconds, repeats).items():
            if name == OURS or standing[name].stands:
                section.rows[f"{name}, {milliseconds(step)}"] = numbers
            else:
                section.notes.append(f"{name} does not stand at {milliseconds(step)}")
    return section


def _own_time(stance: Callable[[], Timed]) -> float:
    return stance().per_step
