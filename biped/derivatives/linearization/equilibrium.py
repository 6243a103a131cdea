"""Equilibria of a closed loop, by Newton's method on the map of a control period with its exact derivative."""

import numpy as np

from biped.derivatives.linearization.coordinates import displaced
from biped.derivatives.linearization.linearization import Linearization
from biped.derivatives.linearization.linearizer import Linearizer
from biped.errors import InputError
from biped.kernels.state.simulation_state import LAST_STEP_LENGTH
from biped.runs.state import State
from biped.simulation.scene import Scene

#: [m, rad, N·s, N·m·s] Greatest change of an equilibrium state in a control period.
STILL = 1e-9
#: Greatest number of Newton iterations.
MOST = 20


def equilibrium(scene: Scene, state: State) -> tuple[State, Linearization]:
    """Return an equilibrium near ``state`` in which all contact points stick, and the linearization there.

    Args:
        scene: scene with the model, its controller and the floor.
        state: a state near the equilibrium, such as the end of a run that came to rest.

    Raises:
        InputError: a contact point slips, sensors have delay or actuators lag, or no equilibrium is nearby.
    """
    linearizer = Linearizer(scene)
    model, state = linearizer.model, state.copy()
    nv, moved = model.nv, np.inf
    for _ in range(MOST):
        linearization = linearizer.at(state)
        if len(linearization.moved) != len(linearization.states):
            raise InputError(
                "equilibria need sensors without delay, actuators without lag: leave both out; equilibria are the same"
            )
        if any(linearization.states[k].startswith("anchor_") for k in linearization.kept):
            raise InputError("no equilibrium: a contact point slips; start from a state in which all points stick")
        moved = float(np.abs(linearization.moved[: 2 * nv]).max())
        if moved <= STILL:
            return state, linearization
        step = np.linalg.solve(np.eye(2 * nv) - linearization.A[: 2 * nv, : 2 * nv], linearization.moved[: 2 * nv])
        state.arrays.q[:] = displaced(model, state.q, np.asarray(step[:nv], dtype=np.float64))
        state.arrays.momentum[:] += step[nv:]
        state.arrays.cache.rate[:] = 0.0
        state.arrays.clock[LAST_STEP_LENGTH] = scene.step
    raise InputError(
        f"no equilibrium nearby: after {MOST} iterations the state changes by {moved:.3g} per period; start closer"
    )
