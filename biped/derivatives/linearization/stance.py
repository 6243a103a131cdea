"""A stance at rest that held torques alone keep, and its exact linearization: what regulators are designed on."""

import numpy as np

from biped.control.controller import Controller, Impedance
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

#: Part of the weight [N, N·m] that the floor's forces may leave.
BALANCED = 1e-12
#: Iterations, of which each leaves a tenth of what the one before did.
MOST = 60
#: Of a floating root: its height and its turns about the horizontal axes.
HEAVE_AND_TILT = (2, 3, 4)


def held_stance(model: Model, floor: Floor, q: Floats) -> State:
    """A state at rest near a configuration, all contact points sticking, with the torques that keep it so.

    The joints stay as they are in ``q``. The whole is heaved and tilted until the floor carries it: so the vertical
    forces on the points are those of least norm that do. Anchors are right below the points: the floor pulls nowhere
    sideways, and the feet do not strain against each other. Torques are what is then left of the joints' weight.

    Args:
        model: with a floating root and contact points.
        floor: level.
        q: (nq,) near it.

    Raises:
        InputError: the model has none, or its centre of mass is not above its feet.
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
    """(nv,) gravity's load less the points', (nv, nv) by how much the points' grows, (nc,) [N] forces."""
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
    state.arrays.mode[:] = state.arrays.found[:] = STICKING
    state.arrays.torque[6:] = load[6:]
    return state


class _Ticking(Controller):
    """Nobody: the torques that are held go on, in periods of this length, beside an impedance."""

    def __init__(self, period: float, impedance: Impedance | None) -> None:
        self.period, self._impedance = period, impedance

    def impedance(self, model: Model) -> Impedance | None:
        return self._impedance

    def law(self, model: Model) -> Passive:
        return Passive()


def linearize_stance(
    model: Model, floor: Floor, state: State, *, step: float, period: float, impedance: Impedance | None = None
) -> Linearization:
    """A and B over a control period with the torques of ``state`` held.

    Args:
        model: what stands.
        floor: on what.
        state: where, as ``held_stance`` finds it.
        step: [s] of the integrator, the default one.
        period: [s] that torques are held.
        impedance: of joints, at rest where they are.

    Raises:
        InputError: the step does not divide the period; or what ``linearize`` raises.
    """
    return Linearizer(_held(model, floor, state, step, period, impedance)).at(state)


def warm_up_stance(model: Model, floor: Floor, state: State, announce: Announce, *, step: float, period: float) -> None:
    """Compile what ``linearize_stance`` needs, unless that is on disk; ``announce`` is called before that.

    Raises:
        InputError: as ``linearize_stance``.
    """
    Linearizer(_held(model, floor, state, step, period), announce=announce)


def _held(
    model: Model, floor: Floor, state: State, step: float, period: float, impedance: Impedance | None = None
) -> Scene:
    return Scene(model, _Ticking(period, impedance), floor=floor, state=state, step=step)
