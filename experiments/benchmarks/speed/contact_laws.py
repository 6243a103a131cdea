"""What a tick costs of laws that solve programs, and the whole-body law's program beside two libraries of solvers."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import count
from statistics import median

import numpy as np

from biped.control.controller import Controller
from biped.control.observation import Observation
from biped.disturbances import Push
from biped.model import human
from biped.runs.postures import standing
from biped.simulation.simulate import simulate
from biped.simulation.world import Fall
from contact.arrays import Floats
from controllers.cone_workspace import ConeWorkspaceController
from controllers.kernels.contact_qp import ContactQp
from controllers.kernels.whole_body import WholeBodyLaw
from controllers.workspace import WorkspaceController
from experiments.benchmarks.sections import Column, Section
from experiments.benchmarks.speed.kernels import solve_again
from experiments.benchmarks.speed.programs import Kept, Matrices, Watched, copied, matrices
from experiments.benchmarks.timing import seconds

#: [N·s] and [rad] from straight back: half of what it withstands to the front and the sides, and nearly all.
PUSHES = ((10.0, 0.0), (20.0, 1.5), (20.0, 3.0), (38.0, 1.6))
#: [s] of each run, pushed at its start.
SPAN = 1.0
#: In a row, for a solve that takes some microseconds.
SOLVES = 20
LIBRARIES = {"quadprog": "quadprog", "proxqp": "proxsuite"}
MICROSECONDS = 1e6


class Seen(list[tuple[Observation, ContactQp]]):
    """Ticks of pushed runs."""

    def keep(self, observation: Observation, law: WholeBodyLaw, torques: Floats) -> None:
        self.append((observation, copied(law)))


class Noted(Controller):
    """The cone-workspace law, asked from Python, and what it was asked at each so many-th tick."""

    def __init__(self, every: int) -> None:
        self.asked, self.seen = ConeWorkspaceController(), list[Observation]()
        self.period, self._every, self._ticks = self.asked.period, every, count()

    def torques(self, observation: Observation) -> Floats:
        if next(self._ticks) % self._every == 0:
            self.seen.append(observation)
        return self.asked.torques(observation)


def push_four_times(controller: Controller) -> None:
    """A human that stands, in four runs."""
    start = standing(human())
    for impulse, angle in PUSHES:
        push = Push("trunk", (-math.cos(angle), -math.sin(angle), 0.0), impulse=impulse, start=0.02, duration=0.1)
        simulate(human(), controller, state=start, duration=SPAN, step=1e-3, disturbances=(push,), fall=Fall())


def recorded(every: int) -> Seen:
    """Each so many-th tick of a human that is pushed in four ways."""
    seen = Seen()
    push_four_times(Watched(seen.keep, every))
    return seen


def whole_body_section(every: int, repeats: int) -> Section:
    """The law, asked from Python, which adds some microseconds; its program by itself; libraries, where they are."""
    seen = recorded(every)
    section = Section(
        "whole_body_law",
        f"The whole-body law in {len(seen)} ticks of pushed runs",
        (Column("median", "µs", ".1f"), Column("99 %", "µs", ".1f"), Column("most", "µs", ".1f")),
        notes=["each tick: the least of its repetitions; a tick is asked from Python, which takes some of its time"],
    )
    law = Kept()
    section.rows["a tick"] = _spread([_least(partial(law.torques, observation), repeats) for observation, _ in seen])
    section.rows["its program"] = _spread([_least(partial(_again, qp), repeats) / SOLVES for _, qp in seen])
    for solver, package in LIBRARIES.items():
        if find_spec("qpsolvers") is None or find_spec(package) is None:
            section.notes.append(f"{solver} is not compared: pip install qpsolvers {package}")
            continue
        said = [matrices(qp, len(qp.lower)) for _, qp in seen]
        section.rows[f"the same by {solver}"] = _spread([_least(_library(solver, one), repeats) for one in said])
    return section


def cone_workspace_section(every: int, repeats: int) -> Section:
    """The law beside the one that it replaces Algorithm 4.5 of, both asked from Python in the same ticks."""
    noted = Noted(every)
    push_four_times(noted)
    section = Section(
        "cone_workspace_law",
        f"The workspace laws in {len(noted.seen)} ticks of runs that are pushed under cone-workspace",
        (Column("median", "µs", ".1f"), Column("99 %", "µs", ".1f"), Column("most", "µs", ".1f")),
        notes=["each tick: the least of its repetitions; a tick is asked from Python, which takes some of its time"],
    )
    for name, law in (("cone-workspace", noted.asked), ("workspace", WorkspaceController())):
        section.rows[name] = _spread([_least(partial(law.torques, seen), repeats) for seen in noted.seen])
    return section


def _again(qp: ContactQp) -> None:
    """So many solves, H as it was afterwards."""
    hessian = qp.hessian.copy()
    solve_again(qp, hessian, len(qp.lower), SOLVES)
    qp.hessian[:] = hessian


def _library(solver: str, said: Matrices) -> Callable[[], object]:
    import qpsolvers

    problem = qpsolvers.Problem(said.P, -said.g, -said.C, -said.c, said.E, said.e)
    return partial(qpsolvers.solve_problem, problem, solver=solver)


def _least(work: Callable[[], object], repeats: int) -> float:
    return min(seconds(work) for _ in range(repeats))


def _spread(times: Sequence[float]) -> tuple[float, float, float]:
    ranked = MICROSECONDS * np.array(times)
    return float(median(ranked)), float(np.quantile(ranked, 0.99)), float(ranked.max())
