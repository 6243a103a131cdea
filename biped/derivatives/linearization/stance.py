"""A stance at rest under constant torques, and its exact linearization, for the design of regulators."""

import numpy as np

from biped.control.controller import Controller
from biped.derivatives.linearization.coordinates import displaced
from biped.derivatives.linearization.linearization import Linearization
from biped.derivatives.linearization.linearizer import Linearizer
from biped.dynamics.whole_body import WholeBody
from biped.errors import InputError
from biped.kernels.loop.closed_loop import Passive
from biped.model import Model
from biped.runs.state import State
from biped.simulation.driver import Announce
from biped.simulation.scene import Scene
from contact import Floor
from contact.arrays import Floats
from contact.modes import STICKING
from contact.point_law import pressure

#: Greatest imbalance of gravity and ground reaction forces relative to the weight [N, N·m].
BALANCED = 1e-12
#: Greatest number of iterations; each reduces the imbalance to a tenth.
MOST = 60
#: Degrees of freedom of a floating root: height and turns about the horizontal axes.
HEAVE_AND_TILT = (2, 3, 4)


def held_stance(model: Model, floor: Floor, q: Floats) -> State:
    """Return a state at rest near ``q`` with all contact points sticking, and with the joint torques that hold it.

    The joints keep the coordinates of ``q``. The root is moved vertically and tilted until the floor carries the model,
    by the vertical contact forces of least norm. Horizontal contact forces are zero: the anchors of the friction
    springs are directly below the contact points. The joint torques balance gravity and the contact forces.

    Args:
        model: a model with a floating root and contact points.
        floor: a level floor.
        q: (nq,) configuration near the stance.

    Raises:
        InputError: the root is fixed, there are no contact points, or the centre of mass is not above the feet.
    """
    if not model.is_floating or not model.nc:
        raise InputError(f"model {model.name!r} cannot stand: it needs a floating root and contact points")
    rows, q = list(HEAVE_AND_TILT), q.copy()
    for _ in range(MOST):
        load, stiffness, forces = _unbalanced(model, floor, q)
        if not (forces > 0.0).all():
            break
        if float(np.abs(load[:6]).max()) <= BALANCED * float(forces.sum()):
            return _sticking(model, q, load)
        step = np.zeros(model.nv)
        step[rows] = -np.linalg.solve(stiffness[np.ix_(rows, rows)], load[rows])
        q = displaced(model, q, step)
    raise InputError(
        f"{model.name!r} does not stand in this posture with all of its contact points on the floor: its centre of "
        "mass must be above its feet"
    )


def _unbalanced(model: Model, floor: Floor, q: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the imbalance of gravity and contact forces (nv,), their stiffness (nv, nv), and the forces (nc,) [N]."""
    body = WholeBody(model, q)
    up = np.array([body.contact_jacobian(name)[2] for name in model.contact_names])
    heights = np.array([body.contact_position(name)[2] for name in model.contact_names])
    forces = np.array([pressure(floor.normal, height, 0.0) for height in heights])
    stiffness = np.array([floor.slopes_at(-height)[0] for height in heights])
    stiffest = stiffness.max()
    scaled = np.sqrt(stiffness / stiffest)[:, None] * up
    load: Floats = body.gravity_forces - up.T @ forces
    return load, stiffest * (scaled.T @ scaled), forces


def _sticking(model: Model, q: Floats, load: Floats) -> State:
    state = State.at(model, q)
    state.arrays.mode[:] = state.arrays.contact_state[:] = STICKING
    state.arrays.torque[6:] = load[6:]
    return state


class _Ticking(Controller):
    """No controller: torques are held in periods of a given length."""

    def __init__(self, period: float) -> None:
        self.period = period

    def law(self, model: Model) -> Passive:
        return Passive()


def linearize_stance(model: Model, floor: Floor, state: State, *, step: float, period: float) -> Linearization:
    """Return the linearization of a stance over a control period in which the torques of ``state`` are held.

    Args:
        model: the standing model.
        floor: the floor under the model.
        state: the stance, from ``held_stance``.
        step: [s] time step of the default integrator.
        period: [s] control period, for which torques are held.

    Raises:
        InputError: the step does not divide the period, or ``linearize`` refuses the state.
    """
    return Linearizer(_held(model, floor, state, step, period)).at(state)


def warm_up_stance(model: Model, floor: Floor, state: State, announce: Announce, *, step: float, period: float) -> None:
    """Compile the kernels of ``linearize_stance`` unless they are cached on disk; call ``announce`` before compiling.

    Raises:
        InputError: the errors of ``linearize_stance``.
    """
    Linearizer(_held(model, floor, state, step, period), announce=announce)


def _held(model: Model, floor: Floor, state: State, step: float, period: float) -> Scene:
    return Scene(model, _Ticking(period), floor=floor, state=state, step=step)
