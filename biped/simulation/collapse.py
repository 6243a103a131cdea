"""Collapse after a fall: the model goes limp, and its whole body can touch the floor."""

from dataclasses import replace
from typing import Any

import numpy as np

from biped.disturbances import Actuators, Sensors, sorted_disturbances
from biped.dynamics import forward_kinematics, mass_matrix
from biped.errors import InputError, IntegrationError
from biped.integrators import Rigid
from biped.model import Model
from biped.model.geometry import quaternion_matrix
from biped.model.ragdoll import ragdoll
from biped.runs.run import Run
from biped.runs.state import State
from biped.runs.verdict import FELL, LOST_CONTROL
from biped.simulation.scene import Scene
from biped.simulation.session import Session

#: [s] Longest integration step of a limp body: its head hits the floor at several m/s.
LONGEST_STEP = 5e-4


def collapse(scene: Scene, duration: float) -> Run:
    """Simulate the collapse of a model that has fallen in a scene, as a separate run.

    The scene is simulated again up to the last control tick before the fall is detected, or before one of the model's
    ``body_points`` is below the floor, whichever is first. The collapse begins there.

    Args:
        scene: the scene of the run that fell.
        duration: [s] duration of the collapse.

    Returns:
        The run. If a time step has no solution, it ends early, and its summary reports that.

    Raises:
        InputError: the duration is not above zero, or the root of the scene's model is fixed, so that it cannot fall.
    """
    if not scene.model.is_floating:
        raise InputError(f"model {scene.model.name!r} cannot fall: its root does not float")
    state = last_clear_state(scene)
    try:
        return limp(scene, state, duration).run()
    except IntegrationError as error:
        if error.run is None:
            raise
        part: Run = error.run
        return part


def has_fallen(run: Run) -> bool:
    """Return True if the run ended in a fall or a loss of control, so that a collapse can follow."""
    return run.summary["verdict"] in (FELL, LOST_CONTROL)


def last_clear_state(scene: Scene) -> State:
    """Return the state at the last control tick before the end, or before a body point is below the floor."""
    session = Session(scene)
    last = session.save().state
    for _ in range(round(scene.duration / session.period)):
        session.advance(1)
        now = session.save().state
        if session.has_ended or parts_in_floor(now):
            break
        last = now
    return last


def parts_in_floor(state: State) -> list[str]:
    """Return the names of the model's ``body_points`` that are below the floor."""
    probe = state.model.once(_probe)
    places = forward_kinematics(probe, state.q).contact
    if state.floor is not None:
        places = (places - state.floor[0:3]) @ quaternion_matrix(state.floor[12:16])
    return [name for name, place in zip(probe.contact_names, places, strict=True) if place[2] < 0.0]


def _probe(model: Model) -> Model:
    """Return the model with its body points as the only contact points."""
    return model.with_contact_points(model.body_points)


def limp(scene: Scene, state: State, duration: float) -> Scene:
    """Return the scene that continues from a state with a limp model (``ragdoll``) and no controller, for ``duration``.

    External disturbances continue (motions of the floor, patches, thrown boxes and pushes), unless they begin after the
    end. The rigid integrator is kept; any other integrator is replaced by the default integrator.
    """
    model = ragdoll(scene.model, state.q)
    outside = (d for d in scene.disturbances if not isinstance(d, (Sensors, Actuators)))
    disturbances = tuple(d for d in outside if d.begins < state.time + duration)
    carrying = sorted_disturbances(disturbances, model).with_payload(model)
    integrator = scene.integrator if isinstance(scene.integrator, Rigid) or scene.integrator == Rigid.name else None
    changes: dict[str, Any] = dict.fromkeys(("controller", "fall", "record_every", "settle"))
    return replace(
        scene, model=model, state=_taken_over(state, carrying), duration=duration,
        step=min(scene.step, LONGEST_STEP), disturbances=disturbances, integrator=integrator, **changes,
    )  # fmt: skip


def _taken_over(state: State, model: Model) -> State:
    """Return this motion as a state of a model with more contact points; the present contacts keep their anchors."""
    velocity = np.linalg.solve(mass_matrix(model, state.q), state.momentum)
    taken = State.at(model, state.q, velocity, state.time)
    taken.arrays.momentum[:] = state.momentum
    for name in ("mode", "contact_state", "anchor", "force"):
        old = getattr(state.arrays, name)
        getattr(taken.arrays, name)[: len(old)] = old
    taken.projectile, taken.throw, taken.floor = state.projectile, state.throw, state.floor
    return taken
