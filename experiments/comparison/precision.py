"""Work-precision comparison: error against cost of a second of free flight, a smooth problem for all engines.

The reference is that of ``biped work-precision``: the continuous equations, by a method of order 8.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from biped import dynamics
from biped.model import Model
from biped.simulation.driver import Progress
from contact.arrays import Floats
from experiments.catalogue.parameters.parameter import Value
from experiments.comparison.backends import Backend
from experiments.comparison.flight import Glider, start_of
from experiments.timing import one_core, seconds
from experiments.work_precision.case import TREE, Case, Forms, Motion, Reference, StepSize, TreeCase
from experiments.work_precision.problems import FLIGHT
from experiments.work_precision.step_sizes import Budget, Comparison, compare

#: Motion of ``experiments.comparison.flight`` that equals that of the problem ``FLIGHT``.
MOTION = "fast"


@dataclass
class EngineCase(Case):
    """The problem ``FLIGHT`` in external engines, by label."""

    backends: Mapping[str, Backend]
    model: Model
    places: Callable[[Floats], Floats]
    reference: Reference
    systems = TREE
    gliders: dict[tuple[str, float], Glider] = field(default_factory=dict, init=False)

    def methods(self) -> Mapping[str, Any]:
        """Return the engines by label; the order of an engine's method is unknown."""
        return dict.fromkeys(self.backends, SimpleNamespace(order=None))

    def move(self, method: str, size: StepSize, duration: float, samples: int) -> Motion:
        flight = self._glider(method, size).samples(duration, duration / samples, lambda _: None)
        states = zip(flight.q[1:], flight.v[1:], strict=True)
        energies = np.array([dynamics.energy(self.model, q, v).total for q, v in states])
        return Motion(np.array([self.places(q) for q in flight.q[1:]]), energies, 0.0)

    def seconds(self, method: str, size: StepSize, duration: float) -> float:
        """Return the computing time [s] of the engine's steps, in one call if possible."""
        glider = self._glider(method, size)
        glider.restart()
        glider.advance(1)
        return seconds(lambda: glider.advance(round(duration / size.step)))

    def _glider(self, method: str, size: StepSize) -> Glider:
        key, engine = (method, size.step), self.backends[method].external
        assert engine is not None
        if key not in self.gliders:
            self.gliders[key] = Glider(engine, start_of(MOTION), size.step)
        return self.gliders[key]


def measure(
    everyone: tuple[Backend, ...], changes: Mapping[str, Value], budget: Budget, progress: Progress
) -> Comparison:
    """Return all backends' errors and costs in free flight; in ``changes``, only ``integrator.*`` has an effect."""
    (tree,) = (case for case in FLIGHT.forms().cases if isinstance(case, TreeCase))
    external = {backend.label: backend for backend in everyone if backend.external is not None}
    settings = {
        backend.label: {k: value for k, value in backend.settings(changes).items() if f"integrator.{k}" in changes}
        for backend in everyone
        if backend.external is None
    }
    cases = (
        *((replace(tree, settings=settings),) if settings else ()),
        *((EngineCase(external, tree.model, tree.places, tree.reference),) if external else ()),
    )
    with one_core():
        problem = replace(FLIGHT, forms=lambda: Forms(cases, ()))
        return compare(problem, budget, [backend.label for backend in everyone], progress)
