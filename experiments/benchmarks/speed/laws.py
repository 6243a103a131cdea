"""What a user's own law costs: a compiled one beside ours, and a tick of one in Python beyond the law itself."""

import inspect
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from biped.control.controller import Controller
from biped.control.observation import Observation
from biped.model import Model, human
from biped.simulation.simulate import simulate
from contact.arrays import Floats
from controllers import workspace
from controllers.kernels import workspace as kernels
from experiments.benchmarks.sections import Column, Section
from experiments.benchmarks.speed.kernels import Slack
from experiments.benchmarks.speed.studies import STEPS, study_of
from experiments.benchmarks.timing import Spread, interleaved, ratios

#: [s] simulated, and the control period, where a tick in Python is timed.
SPAN, PERIOD = 4.0, 2e-3
CONTROLLER = workspace.WorkspaceController.__name__


def copy_of_ours(folder: Path) -> str:
    """The workspace controller and its kernels as a user would have them, in files of their own; its name."""
    for module, name in ((workspace, "users_law"), (kernels, "users_kernels")):
        text = inspect.getsource(module).replace(kernels.__name__, "users_kernels")
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return f"{folder / 'users_law.py'}:{CONTROLLER}"


def compiled_laws_section(count: int, repeats: int) -> Section:
    section = Section(
        "compiled_laws",
        f"Studies of {count} trials of 3 s on one core: ours, and a user's copy of it in a file",
        (*(Column(name, "1/s", ".1f") for name in ("ours", "copy")), *map(Column, ("ratio", "least", "most"))),
        notes=["medians of runs taken in turn; ratio: trials a second of the copy over ours, pair by pair"],
    )
    with tempfile.TemporaryDirectory() as folder:
        users = copy_of_ours(Path(folder))
        for step in STEPS:
            cases = {name: study_of(count, step, 1, name) for name in (None, users)}
            walls = interleaved(cases, repeats)
            ratio = Spread.of(ratios(walls[None], walls[users]))
            speeds = (count / median(walls[name]) for name in (None, users))
            section.rows[f"steps of {1e3 * step:g} ms"] = (*speeds, ratio.median, ratio.least, ratio.most)
    return section


class CompiledSlack(Controller):
    """Asks for nothing, compiled."""

    period = PERIOD

    def law(self, model: Model) -> Slack:
        return Slack()


class PythonSlack(Controller):
    """The same, asked from Python; ``looks`` at what a law looks at."""

    period = PERIOD

    def __init__(self, looks: bool) -> None:
        self._looks, self._torques = looks, np.zeros(len(human().joint_names))

    def torques(self, observation: Observation) -> Floats:
        if self._looks:
            _: tuple[Floats, ...] = (observation.q, observation.v, observation.angles, observation.rates)
        return self._torques


def python_law_section(repeats: int) -> Section:
    model = human()

    def tick(controller: Controller) -> float:
        """[s] a tick with its step takes: the human falls, and both laws let it."""
        return float(simulate(model, controller, duration=SPAN, step=PERIOD).summary["wall_time"]) / (SPAN / PERIOD)

    cases: dict[str, Callable[[], float]] = {
        "compiled": partial(tick, CompiledSlack()),
        "a law that returns": partial(tick, PythonSlack(looks=False)),
        "… and reads q, v, angles, rates": partial(tick, PythonSlack(looks=True)),
    }
    times = interleaved(cases, repeats)
    compiled = times.pop("compiled")
    section = Section(
        "python_laws",
        "A tick of a law in Python, beyond the law itself: its time less that of a compiled one that does the same",
        (Column("least", "µs"), Column("median", "µs"), Column("most", "µs")),
    )
    for name, found in times.items():
        beyond = Spread.of([1e6 * (its - base) for its, base in zip(found, compiled, strict=True)])
        section.rows[name] = (beyond.least, beyond.median, beyond.most)
    return section
