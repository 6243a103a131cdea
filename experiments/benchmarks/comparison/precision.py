"""Work and precision: error against cost of a second of free flight, a smooth problem that all engines solve alike.

The reference is that of ``biped work-precision``: the continuous equations, by a method of order 8.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from biped import dynamics
from biped.errors import IntegrationError
from biped.model import Model
from contact.arrays import Floats
from experiments.benchmarks.comparison.backends import Contestant
from experiments.benchmarks.comparison.budget import Effort, Progress
from experiments.benchmarks.comparison.flight import Glider, start_of
from experiments.benchmarks.timing import one_core, seconds
from experiments.benchmarks.work_precision.case import TREE, Rung, TreeCase, TreeData
from experiments.benchmarks.work_precision.problem import Forms
from experiments.benchmarks.work_precision.problems import FLIGHT
from experiments.benchmarks.work_precision.reference import Reference
from experiments.benchmarks.work_precision.step_sizes import Comparison, compare
from experiments.benchmarks.work_precision.step_sizes import Effort as LadderEffort
from experiments.catalogue.parameters.parameter import Value

#: Of ``experiments.benchmarks.flight_energy.MOTIONS``, the one that ``FLIGHT`` is.
MOTION = "fast"


@dataclass(frozen=True)
class Traits:
    """What is known of an engine's method: nothing."""

    order: None = None


@dataclass(frozen=True)
class OurCase(TreeCase):
    """The flight by integrators of ours, in the settings of the compared experiment.

    Attributes:
        chosen: the settings, by label.
    """

    chosen: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def rungs(self, method: str, steps: Sequence[float], interval: float) -> tuple[Rung, ...]:
        """As without them; what a rung sets itself, such as a tolerance, goes before."""
        own = self.chosen[method]
        return tuple(
            replace(rung, settings={**own, **rung.settings}) for rung in super().rungs(method, steps, interval)
        )


@dataclass
class EngineCase:
    """The flight in engines that are not ours; see ``experiments.benchmarks.work_precision.case.Case``."""

    contestants: tuple[Contestant, ...]
    model: Model
    places: Callable[[Floats], Floats]
    reference: Reference
    systems: str = field(default=TREE, init=False)
    gliders: dict[tuple[str, float], Glider] = field(default_factory=dict, init=False)

    def methods(self) -> Mapping[str, Traits]:
        """By label."""
        return {contestant.label: Traits() for contestant in self.contestants}

    def rungs(self, method: str, steps: Sequence[float], interval: float) -> tuple[Rung, ...]:
        """All steps."""
        return tuple(Rung(step) for step in steps)

    def move(self, method: str, rung: Rung, duration: float, samples: int) -> TreeData:
        """The motion, from velocities in phase."""
        found = self._glider(method, rung).samples(duration, duration / samples, lambda _: None)
        if not (np.isfinite(found.q).all() and np.isfinite(found.in_phase).all()):
            raise IntegrationError("the motion is not finite")
        places = np.array([self.places(q) for q in found.q[1:]])
        energies = np.array(
            [dynamics.energy(self.model, q, v).total for q, v in zip(found.q[1:], found.in_phase[1:], strict=True)]
        )
        return TreeData(places, energies, 0.0)

    def seconds(self, method: str, rung: Rung, duration: float) -> float:
        """[s] in the engine's steps, with nothing in between where it takes many in one call."""
        glider = self._glider(method, rung)
        glider.restart()
        glider.coast(1)
        return seconds(lambda: glider.coast(round(duration / rung.step)))

    def _glider(self, method: str, rung: Rung) -> Glider:
        key = method, rung.step
        if key not in self.gliders:
            engine = next(one.foreign for one in self.contestants if one.label == method)
            assert engine is not None
            self.gliders[key] = Glider(engine, start_of(MOTION), rung.step)
        return self.gliders[key]


def measure(
    contestants: tuple[Contestant, ...], changes: Mapping[str, Value], effort: Effort, progress: Progress
) -> Comparison:
    """Errors and costs of all contestants, and of what engines have for smooth motion, on a ladder of steps.

    Of ``changes``, the settings of our integrators are honoured.
    """
    tree = FLIGHT.forms().cases[0]
    assert isinstance(tree, TreeCase)
    everyone = tuple({other.label: other for one in contestants for other in (one, *one.smooth)}.values())
    foreign = tuple(one for one in everyone if one.foreign is not None)
    chosen = {one.label: _changed(one, changes) for one in everyone if one.foreign is None}
    cases = (
        *((_with_settings(tree, chosen),) if chosen else ()),
        *((EngineCase(foreign, tree.model, tree.places, tree.reference),) if foreign else ()),
    )
    problem = replace(FLIGHT, forms=lambda: Forms(cases, ()))
    with one_core():
        return compare(
            problem,
            LadderEffort(effort.rungs, min(effort.repeats, 3), effort.patience),
            [one.label for one in everyone],
            progress,
        )


def _changed(one: Contestant, changes: Mapping[str, Value]) -> dict[str, Any]:
    """The settings of an integrator of ours that the changes give; its defaults for the others."""
    return {name: value for name, value in one.settings(changes).items() if f"integrator.{name}" in changes}


def _with_settings(tree: TreeCase, chosen: Mapping[str, Mapping[str, Any]]) -> OurCase:
    kept = {item.name: getattr(tree, item.name) for item in fields(tree) if item.init}
    return OurCase(**kept, chosen=chosen)
