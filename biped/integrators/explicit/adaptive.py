"""An adaptive integrator of high order, scipy's, around the compiled equations of motion."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from biped.errors import InputError
from biped.inputs.checks import is_finite
from biped.inputs.fields import quantity
from biped.integrators.explicit.integrators import ContinuousTime, buffers_for
from biped.integrators.explicit.interrupts import interrupts_afterwards
from biped.integrators.explicit.kernels.methods import Explicit, begin_flow, end_flow, no_stages, slope_of_flow
from biped.kernels.loop.closed_loop import World, interpreted, record, take_step
from biped.kernels.loop.log import STRIDE
from biped.kernels.solve.causes import NOT_CONVERGED
from biped.kernels.state.method import advance
from biped.kernels.state.simulation_state import STEP_LENGTH, STEPS
from biped.kernels.state.status import OK
from biped.kernels.step.step import time_of
from biped.model import Model
from contact.arrays import Floats

#: Least relative tolerance that scipy accepts, 100 roundings.
LEAST_RELATIVE = 1e-13


class _ByScipy(NamedTuple):
    """The method of a step taken from Python."""

    inner: Explicit  # buffers and energy balance
    relative_tolerance: float
    absolute_tolerance: float


@dataclass(frozen=True)
class Adaptive(ContinuousTime):
    """The adaptive Runge–Kutta method DOP853 of scipy, of order 8 (Hairer, Nørsett and Wanner 1993, II.10).

    The time step of ``simulate`` is the output interval, which the solver divides as the tolerances need. It restarts
    in each interval, since contact modes, anchors of friction springs and held torques change only between intervals: a
    contact point that lands is in contact only from the interval's end on, at the depth that it has reached by then,
    and a sliding point can stick only from the end on. While contacts change, the accuracy depends on the interval: a
    human dropped from 5 mm stands with intervals of 0.5 ms but is thrown up with 1 ms. In flight it depends on the
    tolerances. In each interval a push acts with its mean force.

    The solver calls the compiled equations from Python. Computing an interval takes about 1 ms, 150 times as long as a
    step of the recursive integrator, and up to seconds while points slide in an impact: the equations are then stiff,
    because friction is viscous below ``stiction_velocity``. ``order`` is the order of the solver's internal steps.

    Raises:
        InputError: a tolerance is not a finite number above zero, or the relative tolerance is below 1e-13.
    """

    name: ClassVar[str] = "dop853"
    paper: ClassVar[str] = "Hairer, Nørsett and Wanner 1993"
    order: ClassVar[int] = 8
    cost: ClassVar[str] = "O(n), from Python"
    steps_from_python: ClassVar[bool] = True

    relative_tolerance: float = quantity("", "Relative error allowed per adaptive step in each variable", 1e-9)
    absolute_tolerance: float = quantity("", "Absolute error allowed per adaptive step in each variable, in SI", 1e-10)

    def __post_init__(self) -> None:
        for name, least in (("relative_tolerance", LEAST_RELATIVE), ("absolute_tolerance", 0.0)):
            value: Any = getattr(self, name)
            if not (is_finite(value) and value > 0.0 and value >= least):
                above = f"{least:g} or above" if least else "above zero"
                raise InputError(f"integrator.{name} = {value!r}: it must be a finite number, {above}")

    def method(self, model: Model) -> Explicit:
        """Return the buffers of the compiled equations."""
        return no_stages(buffers_for(model))

    def take_steps(self, world: World, steps: int) -> int:
        """Take steps from Python; return a reason to stop or OK, as ``biped.kernels.loop.closed_loop.Loop.rollout``.

        Ctrl-C interrupts the run between two steps or control ticks. If ``steps`` is zero, the kernels are only loaded.
        """
        tree, ground, state, pushes, scratch = world.tree, world.ground, world.state, world.pushes, world.scratch
        inner, log = world.method, world.log
        other = interpreted(world, _ByScipy(inner, self.relative_tolerance, self.absolute_tolerance))
        if steps == 0:
            begin_flow(tree, ground, state, pushes, scratch, inner, time_of(state), state.clock[STEP_LENGTH])
            slope_of_flow(tree, ground, state, pushes, inner.flow, state.clock[STEP_LENGTH])
        for _ in range(steps):
            with interrupts_afterwards():
                if state.counts[STEPS] % log.cursor[STRIDE] == 0:
                    record(world)
                reason: int = take_step(other)
                if reason != OK:
                    return reason
        return OK


def _advance_by_scipy(
    tree: Any, ground: Any, state: Any, pushes: Any, scratch: Any, method: _ByScipy, begin: float, h: float
) -> int:
    """Advance the plant by h; the solver's first trial step is h."""
    from scipy.integrate import DOP853  # takes a while to load

    flow = method.inner.flow
    begin_flow(tree, ground, state, pushes, scratch, method.inner, begin, h)

    def slope(_: float, y: Floats) -> Floats:
        flow.at.flat[:] = y
        slope_of_flow(tree, ground, state, pushes, flow, h)
        return flow.slope.flat.copy()

    with np.errstate(over="ignore", invalid="ignore"):  # a failed step is detected by its numbers
        solver = DOP853(
            slope, 0.0, flow.start.copy(), h, first_step=h, rtol=method.relative_tolerance,
            atol=method.absolute_tolerance,
        )  # fmt: skip
        while solver.status == "running":
            solver.step()
    if solver.status == "failed":
        return NOT_CONVERGED
    flow.at.flat[:] = solver.y
    return int(end_flow(tree, ground, state, pushes, scratch, method.inner, h))


advance.register(_ByScipy)(_advance_by_scipy)
