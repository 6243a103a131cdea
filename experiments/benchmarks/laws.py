"""Cost of control laws: users' own, those with late senses, and those that solve programs, beside libraries."""

import inspect
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from statistics import median

import numpy as np

from biped.control.controller import Controller
from biped.control.observation import Observation
from biped.disturbances import Push
from biped.model import Model, human
from biped.runs.postures import standing
from biped.runs.stance import Stance
from biped.runs.state import State
from biped.simulation.simulate import simulate
from biped.simulation.world import Fall
from contact.arrays import Floats
from controllers import LQR, ForwardModel, Postural, Predicted, Reweighting, WholeBodyController, workspace
from controllers.cone_workspace import ConeWorkspaceController
from controllers.kernels import workspace as kernels
from controllers.kernels.contact_qp import ContactQp
from experiments.benchmarks import section as table
from experiments.benchmarks.kernels import Slack, solve_again
from experiments.benchmarks.programs import Kept, Watched, copied, matrices
from experiments.benchmarks.scenes import timed_run
from experiments.benchmarks.section import Budget, Column, Section, milliseconds
from experiments.benchmarks.studies import STEPS, study_of
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.registry import experiment_named
from experiments.timing import seconds

#: [s] simulated, and the control period, where a tick is timed; and by how much senses are late.
SPAN, PERIOD, DELAY = 4.0, 2e-3, 0.15
#: [N·s] and [rad] from straight back: half of what it withstands to the front and the sides, and nearly all.
PUSHES = ((10.0, 0.0), (20.0, 1.5), (20.0, 3.0), (38.0, 1.6))
#: In a row, for a solve that takes some microseconds; and ticks, of which some do more than others.
SOLVES, IN_A_ROW = 20, 100
LIBRARIES = {"quadprog": "quadprog", "proxqp": "proxsuite"}
_TICKS = "each tick: the least of its repetitions; a tick is asked from Python, which takes some of its time"
#: Quiet stance with eyes open, and the laws of its trials.
TRIAL: dict[str, Value] = {
    "initial.stance": "upright", "initial.settle": 0.0, "initial.jitter": 0.0, "sensors.preset": "eyes-open",
    "run.duration": 20.0, "run.step": PERIOD,
}  # fmt: skip
STANDERS: dict[str, dict[str, Value]] = {"postural": {"controller.weight": 0.7}, "reweighting": {}, "whole-body": {}}


@dataclass(frozen=True)
class Idle(Controller):
    """A compiled law that asks for nothing; frozen, it is compiled for Python once."""

    def law(self, model: Model) -> Slack:
        return Slack()


@dataclass(frozen=True)
class Asking(WholeBodyController):
    """A compiled law that asks for nothing, for a forward model."""

    def law(self, model: Model) -> Slack:  # type: ignore[override]
        return Slack()


class InPython(Controller):
    """A law in Python that asks for nothing; with ``looks`` it reads what a law reads."""

    period = PERIOD

    def __init__(self, looks: bool) -> None:
        self._looks, self._torques = looks, np.zeros(len(human().joint_names))

    def torques(self, observation: Observation) -> Floats:
        if self._looks:
            _: tuple[Floats, ...] = (observation.q, observation.v, observation.angles, observation.rates)
        return self._torques


def compiled_laws_section(work: Budget) -> Section:
    trials = 120
    section = Section(
        "compiled_laws",
        f"Studies of {trials} trials of 3 s on one core: ours, and a user's copy of it in a file",
        (*table.columns("ours", "copy", unit="1/s", form=".1f"), *table.columns("ratio", "least", "most")),
        notes=["medians of runs taken in turn; ratio: trials a second of the copy over ours, pair by pair"],
    )
    with tempfile.TemporaryDirectory() as folder:
        users = copy_of_ours(Path(folder))
        for step in STEPS:
            rows = {f"steps of {milliseconds(step)}": [study_of(trials, step, 1, name) for name in (None, users)]}
            section.rows |= table.numbers_of(
                rows,
                lambda ours, copy: (trials / median(ours), trials / median(copy), *table.compared(ours, copy)),
                min(work.repeats, 9),
            )
    return section


def copy_of_ours(folder: Path) -> str:
    """Write the workspace controller and its kernels as a user would have them, in files; returns its name."""
    for module, name in ((workspace, "users_law"), (kernels, "users_kernels")):
        text = inspect.getsource(module).replace(kernels.__name__, "users_kernels")
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return f"{folder / 'users_law.py'}:{workspace.WorkspaceController.__name__}"


def python_law_section(work: Budget) -> Section:
    model = human()

    def tick(controller: Controller) -> float:
        """Return what a tick with its step takes [s]: the human falls, and all laws let it."""
        return float(simulate(model, controller, duration=SPAN, step=PERIOD).summary["wall_time"]) / (SPAN / PERIOD)

    compiled = partial(tick, Idle())
    laws = {"a law that returns": False, "… and reads q, v, angles, rates": True}
    return table.measured(
        "python_laws",
        "A tick of a law in Python, beyond the law itself: its time less that of a compiled one that does the same",
        table.spread_columns(),
        {name: [partial(tick, InPython(looks)), compiled] for name, looks in laws.items()},
        table.microseconds,
        work.repeats,
    )


def late_laws_section(work: Budget) -> Section:
    """Time ticks as they are asked from Python, less what asking takes; the least of many times so many in a row.

    A forward model is timed about a law that asks for nothing: shown the same again and again, a program takes other
    times than it does by itself.
    """
    model, noted, regulator = human(), Noted(1), LQR(step=PERIOD)
    simulate(model, noted, state=State.at(model, Stance().configuration(model)), duration=PERIOD, step=PERIOD)

    def tick(law: Controller) -> float:
        def row() -> None:
            for _ in range(IN_A_ROW):
                law.torques(noted.seen[-1])

        row()
        return min(seconds(row) for _ in range(work.of(10, 100))) / IN_A_ROW

    laws: dict[str, tuple[Controller, Controller]] = {
        "postural": (Postural(), Idle()),
        "reweighting": (Reweighting(), Idle()),
        "a prediction": (Predicted(regulator, DELAY, step=PERIOD), regulator),
        "a forward model": (ForwardModel(Asking(), DELAY), Idle()),
    }
    return table.measured(
        "late_laws",
        f"A tick of laws whose senses are {1e3 * DELAY:g} ms late",
        table.spread_columns(),
        {name: [partial(tick, law) for law in pair] for name, pair in laws.items()},
        table.microseconds,
        work.repeats,
        ["less an idle law's, or, of what shows the present, that of the law to which it does"],
    )


def quiet_stance_section(work: Budget) -> Section:
    """Time quiet stance with everything but files and figures."""
    balance = experiment_named("balance")
    return table.measured(
        "quiet_stance",
        f"Quiet stance of {TRIAL['run.duration']:g} s with eyes open, steps of {milliseconds(PERIOD)}",
        (*table.spread_columns("ms", ".0f"), Column("compiled", "ms", ".0f")),
        {
            law: [partial(timed_run, balance.build({**TRIAL, "controller.name": law, **own}).run)]
            for law, own in STANDERS.items()
        },
        lambda runs: (*table.spread([run.wall for run in runs], 1e3), 1e3 * median(run.compiled for run in runs)),
        work.few,
    )


class Noted(Controller):
    """The cone-workspace law, evaluated from Python, with the observations of each so many-th tick."""

    def __init__(self, every: int) -> None:
        self.asked, self.seen = ConeWorkspaceController(), list[Observation]()
        self.period, self._every, self._ticks = self.asked.period, every, count()

    def torques(self, observation: Observation) -> Floats:
        if next(self._ticks) % self._every == 0:
            self.seen.append(observation)
        return self.asked.torques(observation)


def push_four_times(controller: Controller) -> None:
    """Push a standing human at the start of four runs of 1 s."""
    start = standing(human())
    for impulse, angle in PUSHES:
        push = Push("trunk", (-math.cos(angle), -math.sin(angle), 0.0), impulse=impulse, start=0.02, duration=0.1)
        simulate(human(), controller, state=start, duration=1.0, step=1e-3, disturbances=(push,), fall=Fall())


def whole_body_section(work: Budget) -> Section:
    """Time the law, evaluated from Python, its program by itself, and libraries, where they are installed."""
    seen, law = list[tuple[Observation, ContactQp]](), Kept()
    push_four_times(Watched(lambda observation, its, _: seen.append((observation, copied(its))), work.of(20, 4)))
    section = _ticks_section("whole_body_law", f"The whole-body law in {len(seen)} ticks of pushed runs")
    section.rows["a tick"] = _ticks([partial(law.torques, observation) for observation, _ in seen], work)
    section.rows["its program"] = _ticks([partial(_again, qp) for _, qp in seen], work, SOLVES)
    for solver, package in LIBRARIES.items():
        if find_spec("qpsolvers") is None or find_spec(package) is None:
            section.notes.append(f"{solver} is not compared: pip install qpsolvers {package}")
        else:
            section.rows[f"the same by {solver}"] = _ticks([_library(solver, qp) for _, qp in seen], work)
    return section


def cone_workspace_section(work: Budget) -> Section:
    """Time the law and the one that it replaces Algorithm 4.5 of, both evaluated from Python in the same ticks."""
    noted = Noted(work.of(20, 4))
    push_four_times(noted)
    title = f"The workspace laws in {len(noted.seen)} ticks of runs that are pushed under cone-workspace"
    section = _ticks_section("cone_workspace_law", title)
    for name, law in (("cone-workspace", noted.asked), ("workspace", workspace.WorkspaceController())):
        section.rows[name] = _ticks([partial(law.torques, seen) for seen in noted.seen], work)
    return section


def _ticks_section(name: str, title: str) -> Section:
    return Section(name, title, table.columns("median", "99 %", "most", unit="µs", form=".1f"), notes=[_TICKS])


def _ticks(ticks: Sequence[Callable[[], object]], work: Budget, solves: int = 1) -> tuple[float, float, float]:
    """Return the median, 99 % and most [µs] of ticks, of each the least of its repetitions."""
    times = [min(seconds(tick) for _ in range(work.few)) / solves for tick in ticks]
    ranked = table.MICROSECONDS * np.array(times)
    return float(median(ranked)), float(np.quantile(ranked, 0.99)), float(ranked.max())


def _again(qp: ContactQp) -> None:
    """Solve a program many times, and leave its H as it was."""
    hessian = qp.hessian.copy()
    solve_again(qp, hessian, len(qp.lower), SOLVES)
    qp.hessian[:] = hessian


def _library(solver: str, qp: ContactQp) -> Callable[[], object]:
    import qpsolvers

    said = matrices(qp, len(qp.lower))
    problem = qpsolvers.Problem(said.P, -said.g, -said.C, -said.c, said.E, said.e)
    return partial(qpsolvers.solve_problem, problem, solver=solver)
