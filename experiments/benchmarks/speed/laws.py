"""Cost of control laws: users' own, compiled and in Python, and those that solve programs, beside libraries."""

import inspect
import math
import tempfile
from collections.abc import Callable, Sequence
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
from biped.simulation.simulate import simulate
from biped.simulation.world import Fall
from contact.arrays import Floats
from controllers import workspace
from controllers.cone_workspace import ConeWorkspaceController
from controllers.kernels import workspace as kernels
from controllers.kernels.contact_qp import ContactQp
from controllers.kernels.whole_body import WholeBodyLaw
from experiments.benchmarks.sections import Section
from experiments.benchmarks.speed import table
from experiments.benchmarks.speed.kernels import Slack, solve_again
from experiments.benchmarks.speed.programs import Kept, Watched, copied, matrices
from experiments.benchmarks.speed.studies import STEPS, study_of
from experiments.benchmarks.speed.table import Budget
from experiments.benchmarks.timing import seconds

#: [s] simulated, and the control period, where a tick in Python is timed.
SPAN, PERIOD = 4.0, 2e-3
CONTROLLER = workspace.WorkspaceController.__name__
#: [N·s] and [rad] from straight back: half of what it withstands to the front and the sides, and nearly all.
PUSHES = ((10.0, 0.0), (20.0, 1.5), (20.0, 3.0), (38.0, 1.6))
#: In a row, for a solve that takes some microseconds.
SOLVES = 20
LIBRARIES = {"quadprog": "quadprog", "proxqp": "proxsuite"}
_TICKS = "each tick: the least of its repetitions; a tick is asked from Python, which takes some of its time"


def copy_of_ours(folder: Path) -> str:
    """Write the workspace controller and its kernels as a user would have them, in files; returns its name."""
    for module, name in ((workspace, "users_law"), (kernels, "users_kernels")):
        text = inspect.getsource(module).replace(kernels.__name__, "users_kernels")
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return f"{folder / 'users_law.py'}:{CONTROLLER}"


def compiled_laws_section(work: Budget) -> Section:
    trials = 120
    section = Section(
        "compiled_laws",
        f"Studies of {trials} trials of 3 s on one core: ours, and a user's copy of it in a file",
        (*table.columns("ours", "copy", unit="1/s", form=".1f"), *table.columns("ratio", "least", "most")),
        notes=["medians of runs taken in turn; ratio: trials a second of the copy over ours, pair by pair"],
    )

    def numbers(ours: list[float], copy: list[float]) -> tuple[float, ...]:
        return (trials / median(ours), trials / median(copy), *table.compared(ours, copy))

    with tempfile.TemporaryDirectory() as folder:
        users = copy_of_ours(Path(folder))
        for step in STEPS:
            works = [study_of(trials, step, 1, name) for name in (None, users)]
            section.rows |= table.numbers_of(
                {f"steps of {table.milliseconds(step)}": works}, numbers, min(work.repeats, 9)
            )
    return section


class CompiledSlack(Controller):
    """A compiled law that asks for nothing."""

    period = PERIOD

    def law(self, model: Model) -> Slack:
        return Slack()


class PythonSlack(Controller):
    """A law in Python that asks for nothing; with ``looks`` it reads what a law reads."""

    period = PERIOD

    def __init__(self, looks: bool) -> None:
        self._looks, self._torques = looks, np.zeros(len(human().joint_names))

    def torques(self, observation: Observation) -> Floats:
        if self._looks:
            _: tuple[Floats, ...] = (observation.q, observation.v, observation.angles, observation.rates)
        return self._torques


def python_law_section(work: Budget) -> Section:
    model = human()

    def tick(controller: Controller) -> float:
        """Return what a tick with its step takes [s]: the human falls, and all laws let it."""
        return float(simulate(model, controller, duration=SPAN, step=PERIOD).summary["wall_time"]) / (SPAN / PERIOD)

    def numbers(times: list[float], compiled: list[float]) -> tuple[float, ...]:
        return table.microseconds([its - base for its, base in zip(times, compiled, strict=True)])

    compiled = partial(tick, CompiledSlack())
    laws = {"a law that returns": False, "… and reads q, v, angles, rates": True}
    return table.measured(
        "python_laws",
        "A tick of a law in Python, beyond the law itself: its time less that of a compiled one that does the same",
        table.spread_columns(),
        {name: [partial(tick, PythonSlack(looks)), compiled] for name, looks in laws.items()},
        numbers,
        work.repeats,
    )


class Seen(list[tuple[Observation, ContactQp]]):
    """Ticks of pushed runs under the whole-body law."""

    def keep(self, observation: Observation, law: WholeBodyLaw, torques: Floats) -> None:
        self.append((observation, copied(law)))


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
    seen, law = Seen(), Kept()
    push_four_times(Watched(seen.keep, work.of(20, 4)))
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
