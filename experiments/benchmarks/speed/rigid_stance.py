"""The human standing on a rigid floor, beside MuJoCo and Drake: what a step costs, in one run.

All hold every joint with the springs and dampers of ``JointImpedance()``, stand on the same four points a foot, and
take many steps in one call. Contacts of the engines are soft, set to the default floor's springs; ours do not yield.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from biped.errors import InputError
from biped.integrators import Rigid
from biped.model import human
from contact import RUBBER
from controllers.impedance import JointImpedance
from experiments.benchmarks.scenes import Timed, stiff_stance
from experiments.benchmarks.sections import Column, Section
from experiments.benchmarks.timing import Spread, interleaved, seconds
from experiments.engines.engine import Case
from experiments.engines.kernels.external import new_arrival
from experiments.engines.registry import engine_named

OURS = "rigid (ours)"
#: [s]
STEPS = (5e-4, 1e-3, 2e-3)
#: [s] of standing before an engine's clock starts.
SETTLING = 0.5
#: [m] An engine's human stands while its trunk is this close to where it was.
SAG = 0.02


class Standing:
    """The human in an engine, standing."""

    def __init__(self, name: str, step: float) -> None:
        model = human()
        self.height = float(model.neutral()[2])
        self.arrival = new_arrival(model.nq, model.nv, model.nc)
        self.simulation = engine_named(name).start(Case(model, RUBBER, step, JointImpedance().impedance(model), None))
        self.simulation.place(model.neutral(), np.zeros(model.nv), np.zeros(13))
        self.simulation.passive_rollout(round(SETTLING / step))

    def step_time(self, steps: int) -> float:
        """[s] that one of the next steps takes."""
        return seconds(lambda: self.simulation.passive_rollout(steps)) / steps

    @property
    def stands(self) -> bool:
        self.simulation.read(self.arrival)
        return bool(abs(self.arrival.q[2] - self.height) < SAG)


def rigid_stance_section(names: Sequence[str], steps: int, repeats: int) -> Section:
    """Times of a step of ours and of the engines with these names; of those that are not installed, how to get them."""
    section = Section(
        "rigid_stance",
        "Cost of a step of the human that stands on a rigid floor, beside engines on soft contacts",
        (Column("least", "µs"), Column("median", "µs"), Column("most", "µs")),
        notes=["each takes many steps in one call, on one core; engines' contacts are set to the default floor's"],
    )
    for step in STEPS:
        standing = {name: Standing(name, step) for name in _installed(names, section.notes)}
        cases = {OURS: partial(_own_time, stiff_stance(step, steps * step, integrator=Rigid()))}
        cases |= {name: partial(one.step_time, steps) for name, one in standing.items()}
        for name, times in interleaved(cases, repeats).items():
            if name == OURS or standing[name].stands:
                spread = Spread.of(times).scaled(1e6)
                section.rows[f"{name}, {1e3 * step:g} ms"] = (spread.least, spread.median, spread.most)
            else:
                section.notes.append(f"{name} does not stand at {1e3 * step:g} ms")
    return section


def _installed(names: Sequence[str], notes: list[str]) -> list[str]:
    found = []
    for name in names:
        try:
            engine_named(name).check_installed()
            found.append(name)
        except InputError as missing:
            if str(missing) not in notes:
                notes.append(str(missing))
    return found


def _own_time(stance: Callable[[], Timed]) -> float:
    return stance().per_step
