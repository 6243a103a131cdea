"""Work and precision: error against cost of a second of free flight, a smooth problem that all engines solve alike.

The reference is that of ``biped work-precision``: the continuous equations, by a method of order 8.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from biped import dynamics
from biped.errors import IntegrationError
from biped.model import Model
from contact.arrays import Floats
from experiments.benchmarks.comparison.backends import Backend
from experiments.benchmarks.comparison.budget import Budget, Progress
from experiments.benchmarks.free_flight import Glider, start_of
from experiments.benchmarks.timing import one_core, seconds
from experiments.benchmarks.work_precision.case import TREE, Forms, Motion, StepSize, TreeCase
from experiments.benchmarks.work_precision.problems import FLIGHT
from experiments.benchmarks.work_precision.reference import Reference
from experiments.benchmarks.work_precision.step_sizes import Budget as StepBudget
from experiments.benchmarks.work_precision.step_sizes import Comparison, compare
from experiments.catalogue.parameters.parameter import Value

#: Of ``experiments.benchmarks.free_flight.MOTIONS``, the one that ``FLIGHT`` is.
MOTION = "fast"


@dataclass
class EngineCase:
    """The flight in external engines; see ``experiments.benchmarks.work_precision.case.Case``."""

    backends: tuple[Backend, ...]
    model: Model
    places: Callable[[Floats], Floats]
    reference: Reference
    systems: str = field(default=TREE, init=False)
    gliders: dict[tuple[str, float], Glider] = field(default_factory=dict, init=False)

    def methods(self) -> Mapping[str, Any]:
        """By label; of an engine's method no order is known."""
        return {one.label: SimpleNamespace(order=None) for one in self.backends}

    def grid(self, method: str, steps: Sequence[float], interval: float) -> tuple[StepSize, ...]:
        return tuple(StepSize(step) for step in steps)

    def move(self, method: str, size: StepSize, duration: float, samples: int) -> Motion:
        found = self._glider(method, size).samples(duration, duration / samples, lambda _: None)
        if not (np.isfinite(found.q).all() and np.isfinite(found.in_phase).all()):
            raise IntegrationError("the motion is not finite")
        states = zip(found.q[1:], found.in_phase[1:], strict=True)
        energies = np.array([dynamics.energy(self.model, q, v).total for q, v in states])
        return Motion(np.array([self.places(q) for q in found.q[1:]]), energies, 0.0)

    def seconds(self, method: str, size: StepSize, duration: float) -> float:
        """[s] in the engine's steps, with nothing in between where it takes many in one call."""
        glider = self._glider(method, size)
        glider.restart()
        glider.advance(1)
        return seconds(lambda: glider.advance(round(duration / size.step)))

    def _glider(self, method: str, size: StepSize) -> Glider:
        key = method, size.step
        if key not in self.gliders:
            engine = next(one.external for one in self.backends if one.label == method)
            assert engine is not None
            self.gliders[key] = Glider(engine, start_of(MOTION), size.step)
        return self.gliders[key]


def measure(
    everyone: tuple[Backend, ...], changes: Mapping[str, Value], budget: Budget, progress: Progress
) -> Comparison:
    """Errors and costs of all on a grid of step sizes; of ``changes``, the settings of our integrators are honoured."""
    (tree,) = (case for case in FLIGHT.forms().cases if isinstance(case, TreeCase))
    external = tuple(one for one in everyone if one.external is not None)
    settings = {
        one.label: {name: value for name, value in one.settings(changes).items() if f"integrator.{name}" in changes}
        for one in everyone
        if one.external is None
    }
    cases = (
        *((replace(tree, settings=settings),) if settings else ()),
        *((EngineCase(external, tree.model, tree.places, tree.reference),) if external else ()),
    )
    problem = replace(FLIGHT, forms=lambda: Forms(cases, ()))
    most = StepBudget(budget.precisions, min(budget.repeats, 3), budget.patience)
    with one_core():
        return compare(problem, most, [one.label for one in everyone], progress)
