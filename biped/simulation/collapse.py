"""Collapse after a fall: the model goes limp, and all of its body touches the floor."""

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

#: [s] Steps that a limp body takes at most: its head hits the floor at several m/s.
LONGEST_STEP = 5e-4


def collapse(scene: Scene, duration: float) -> Run:
    """How a model that has fallen in a scene goes on falling, as a run of its own.

    It begins at the last control tick before the fall is known, or before a part of the body that the model names
    (``body_points``) is in the floor, whichever is first: the scene is simulated again up to there.

    Args:
        scene: in which it fell.
        duration: [s] from there.

    Returns:
        The run; one that ended early, where a step had no solution, as its summary says.

    Raises:
        InputError: the duration is not above zero; or the scene's model does not float, and cannot fall.
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
    """Whether there is a fall that could go on: a run that fell, or lost control of itself."""
    return run.summary["verdict"] in (FELL, LOST_CONTROL)


def last_clear_state(scene: Scene) -> State:
    """Where a scene was at the last control tick before its end, or before a part of the body was in the floor."""
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
    """Which of the points that the model names of its body are in the floor, which they do not touch before a fall."""
    probe = state.model.once(_probe)
    places = forward_kinematics(probe, state.q).contact
    if state.floor is not None:
        places = (places - state.floor[0:3]) @ quaternion_matrix(state.floor[12:16])
    return [name for name, place in zip(probe.contact_names, places, strict=True) if place[2] < 0.0]


def _probe(model: Model) -> Model:
    """The model with nothing but its body's points."""
    return model.with_contact_points(model.body_points)


def limp(scene: Scene, state: State, duration: float) -> Scene:
    """The scene that goes on from a state with nobody in control: its model a ``ragdoll``, no end before the duration.

    What acts from outside goes on acting: floors move, patches are slippery, boxes fly, pushes push, but for what would
    begin after its end. Rigid contact
    stays rigid; the place of other integrators takes the default one, which takes all of this.
    """
    model = ragdoll(scene.model, state.q)
    outside = (d for d in scene.disturbances if not isinstance(d, (Sensors, Actuators)))
    acting = tuple(d for d in outside if d.begins < state.time + duration)
    carrying = sorted_disturbances(acting, model).with_payload(model)
    integrator = scene.integrator if isinstance(scene.integrator, Rigid) or scene.integrator == Rigid.name else None
    changes: dict[str, Any] = dict.fromkeys(("controller", "fall", "record_every", "settle"))
    return replace(
        scene, model=model, state=_taken_over(state, carrying), duration=duration,
        step=min(scene.step, LONGEST_STEP), disturbances=acting, integrator=integrator, **changes,
    )  # fmt: skip


def _taken_over(state: State, model: Model) -> State:
    """A state of the model with more contact points that goes on with this motion, holding on to the points it had."""
    velocity = np.linalg.solve(mass_matrix(model, state.q), state.momentum)
    taken = State.at(model, state.q, velocity, state.time)
    taken.arrays.momentum[:] = state.momentum
    for name in ("mode", "found", "anchor", "force"):
        old = getattr(state.arrays, name)
        getattr(taken.arrays, name)[: len(old)] = old
    taken.projectile, taken.throw, taken.floor = state.projectile, state.throw, state.floor
    return taken
