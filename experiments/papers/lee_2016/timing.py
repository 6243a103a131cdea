"""Processor time of steps, without what a run costs besides."""

import time
from dataclasses import dataclass

from biped.errors import IntegrationError
from biped.integrators import Integrator
from biped.kernels.loop.closed_loop import hold
from biped.kernels.state.simulation_state import ITERATIONS, RETRIED
from biped.kernels.state.status import OK
from biped.runs.state import State
from biped.simulation.scene import Scene
from experiments.papers.lee_2016.chain import STEP


@dataclass(frozen=True)
class Cost:
    """What steps cost.

    Attributes:
        seconds: [s] of a step: the process's own processor time, which other processes do not add to.
        iterations: of a step, on average.
        retried: how many steps were taken in parts.
    """

    seconds: float
    iterations: float
    retried: int


def cost_of(integrator: Integrator, start: State, steps: int) -> Cost:
    """Take ``steps`` steps of 1 ms from a copy of ``start``.

    Raises:
        IntegrationError: a step has no solution.
    """
    state = start.copy()
    model = state.model
    unrecorded = (steps + 1) * STEP
    world = (
        Scene(model, state=state, step=STEP, integrator=integrator, record_every=unrecorded)
        .prepare(in_place=True)
        .world
    )
    hold(world, 0)  # compiled or loaded before the clock starts
    begin = time.process_time()
    reason = hold(world, steps)
    seconds = time.process_time() - begin
    if reason != OK:
        raise IntegrationError(f"{integrator.name}: no solution of a step at {state.time:g} s, of {model.name}")
    counts = state.plant.counts
    return Cost(seconds / steps, counts[ITERATIONS] / steps, int(counts[RETRIED]))
