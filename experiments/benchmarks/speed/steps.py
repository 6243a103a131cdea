"""Cost of a step: of the human by our integrators, of whole experiments, and on a rigid floor beside other engines."""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median

import numpy as np

from biped.errors import InputError
from biped.integrators import Rigid, integrator_named
from biped.model import human
from controllers.impedance import JointImpedance
from experiments.benchmarks.free_flight import Glider
from experiments.benchmarks.scenes import STEPS, Timed, closed_loops, stiff_stance, whole_experiment
from experiments.benchmarks.sections import Column, Section
from experiments.benchmarks.speed import table
from experiments.benchmarks.speed.table import Budget
from experiments.benchmarks.timing import seconds
from experiments.engines.registry import engine_named

#: The first is what the other is measured against.
INTEGRATORS = ("recursive", "midpoint")
#: [s] of the human's steps by both integrators.
INTEGRATOR_STEPS = (5e-4, 1e-3)
OURS = "rigid (ours)"
#: [s] of standing before an engine's clock starts.
SETTLING = 0.5
#: [m] An engine's human stands while its trunk is this close to where it was.
SAG = 0.02


def per_step(runs: Sequence[Timed]) -> list[float]:
    """Return the times of a step [s]."""
    return [run.per_step for run in runs]


def closed_loop_section(work: Budget) -> Section:
    def numbers(runs: list[Timed]) -> tuple[float, ...]:
        call = table.MICROSECONDS * median(run.wall / run.steps for run in runs)
        return (
            *table.microseconds(per_step(runs)),
            runs[0].newton_mean,
            max(run.real_time_factor for run in runs),
            call,
        )

    return table.measured(
        "closed_loop",
        "Cost of a step, on one core, compiled",
        (*table.spread_columns(), Column("iterations"), Column("real time", "×", ".0f"), Column("call", "µs")),
        {f"{scene}, {table.milliseconds(step)}": [run] for (scene, step), run in closed_loops(work.duration).items()},
        numbers,
        work.repeats,
        ["call: the median of the whole call, with set-up and evaluation in Python, over the number of steps"],
    )


def integrators_section(work: Budget) -> Section:
    """Time the same scenes by the midpoint rule in generalized coordinates and by the default integrator."""
    usual, other = INTEGRATORS
    loops = [
        closed_loops(work.duration, INTEGRATOR_STEPS, integrator=integrator_named(name)) for name in (usual, other)
    ]

    def numbers(first: list[Timed], second: list[Timed]) -> tuple[float, ...]:
        times = per_step(first), per_step(second)
        return (
            *table.in_microseconds(*times),
            *table.compared(times[1], times[0]),
            first[0].newton_mean,
            second[0].newton_mean,
        )

    return table.measured(
        "integrators",
        f"Cost of the human's step: {other} beside {usual}",
        (
            *table.columns(usual, other, unit="µs"),
            *table.columns("ratio", "least", "most", f"iterations, {usual}", f"iterations, {other}"),
        ),
        {f"{scene}, {table.milliseconds(step)}": [loop[scene, step] for loop in loops] for scene, step in loops[0]},
        numbers,
        work.repeats,
        [f"medians; ratio: {other} over {usual}, the median, least and most of pairs taken in turn"],
    )


def experiment_section(work: Budget) -> Section:
    def numbers(runs: list[Timed]) -> tuple[float, ...]:
        wall = 1e3 * median(run.wall for run in runs)
        return (*table.spread([run.compiled for run in runs], 1e3), wall, runs[0].newton_mean)

    return table.measured(
        "experiments",
        "A whole experiment of 3 s at h = 0.5 ms",
        (*table.spread_columns("ms"), Column("call", "ms"), Column("iterations")),
        {name: [whole_experiment(name)] for name in ("stand-tilted", "thrown-block")},
        numbers,
        work.repeats,
        ["least, median, most: the compiled part; call: the median with everything but files and figures"],
    )


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
    for step in STEPS:
        standing = {name: Standing(name, step) for name in _installed(names, section.notes)}
        rows = {OURS: [partial(_own_time, stiff_stance(step, steps * step, integrator=Rigid()))]}
        rows |= {name: [partial(one.step_time, steps)] for name, one in standing.items()}
        for name, numbers in table.numbers_of(rows, table.microseconds, repeats).items():
            if name == OURS or standing[name].stands:
                section.rows[f"{name}, {table.milliseconds(step)}"] = numbers
            else:
                section.notes.append(f"{name} does not stand at {table.milliseconds(step)}")
    return section


def _installed(names: Sequence[str], notes: list[str]) -> list[str]:
    installed = []
    for name in names:
        try:
            engine_named(name).check_installed()
            installed.append(name)
        except InputError as missing:
            if str(missing) not in notes:
                notes.append(str(missing))
    return installed


def _own_time(stance: Callable[[], Timed]) -> float:
    return stance().per_step
