"""Where a closed loop stands still: Newton's method on the map of a control period, by its exact derivative."""

import numpy as np

from biped.derivatives.linearization.coordinates import displaced
from biped.derivatives.linearization.linearization import Linearization
from biped.derivatives.linearization.linearizer import Linearizer
from biped.errors import InputError
from biped.kernels.state.simulation_state import LAST_STEP_LENGTH
from biped.runs.state import State
from biped.simulation.scene import Scene

#: [m, rad, N·s, N·m·s] by which an equilibrium may still move in a period.
STILL = 1e-9
#: Iterations of Newton's method at most.
MOST = 20


def equilibrium(scene: Scene, state: State) -> tuple[State, Linearization]:
    """Return the state near by that a control period leaves as it is, and A and B there; contact points stick.

    Args:
        scene: the closed loop.
        state: near it: where a run has come to rest.

    Raises:
        InputError: a point does not stick there; sensors or actuators are late; or there is no equilibrium near by.
    """
    linearizer = Linearizer(scene)
    model, state = linearizer.model, state.copy()
    nv, moved = model.nv, np.inf
    for _ in range(MOST):
        found = linearizer.at(state)
        if len(found.moved) != len(found.states):
            raise InputError("equilibria are found without late sensors and actuators, which do not move them")
        if any(found.states[k].startswith("anchor_") for k in found.kept):
            raise InputError("a contact point yields there: it does not stand still")
        moved = float(np.abs(found.moved[: 2 * nv]).max())
        if moved <= STILL:
            return state, found
        step = np.linalg.solve(np.eye(2 * nv) - found.A[: 2 * nv, : 2 * nv], found.moved[: 2 * nv])
        state.arrays.q[:] = displaced(model, state.q, np.asarray(step[:nv], dtype=np.float64))
        state.arrays.momentum[:] += step[nv:]
        state.arrays.cache.rate[:] = 0.0
        state.arrays.clock[LAST_STEP_LENGTH] = scene.step
    raise InputError(
        f"no equilibrium near by: after {MOST} iterations the state still moves by {moved:.3g} in a period"
    )
