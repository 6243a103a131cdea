"""Run-in: the model stands until it is at rest before the time of a scene begins; the run-in is not counted.

A prescribed posture is not the equilibrium of a controller, which depends on gains, passive joints and the depth in the
floor. After a run-in the scene begins at that equilibrium.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.disturbances import Actuators, Load, Patch, Sensors
from biped.errors import InputError, UnsettledError
from biped.inputs.checks import above_zero
from biped.kernels.state.simulation_state import TICKS, TIME_ORIGIN
from biped.runs.state import State
from biped.simulation.driver import Announce
from biped.simulation.session import Session
from biped.simulation.snapshot import Snapshot
from contact.arrays import Floats

if TYPE_CHECKING:
    from biped.simulation.scene import Scene

#: [s] between two checks of rest.
LOOK = 0.02
#: Number of settled starts that a process keeps for trials with other disturbances.
MOST_KEPT = 16


@dataclass(frozen=True)
class Settle:
    """A run-in before the start of a scene; its time does not count.

    The run-in uses the scene's controller, integrator, floor and patches, loads, sensors and actuators, but no pushes,
    forces, thrown boxes or motions of the floor. Its time is before the start, so that set points do not move yet and
    the noise differs from the run's. Clock, energy balance and counters begin at the start of the scene; controller
    memory, muscle torques, anchors of contact points and delayed sensor values are kept.

    Attributes:
        seconds: [s] fixed duration of the run-in, for example if noise causes sway; None: until the model is at rest.
        longest: [s] longest duration of the run-in if ``seconds`` is None.
        window: [s] time for which the model must be at rest.
        speed: [m/s] largest speed of the centre of mass that counts as rest.
        drift: [m or rad] largest change of a coordinate within ``window`` that counts as rest.
        then: function that returns a changed copy of the state at the end of the run-in, for example with random
            changes; muscle torques are kept. None: no change.

    Raises:
        InputError: a number is not above zero.
    """

    seconds: float | None = None
    longest: float = 60.0
    window: float = 0.5
    speed: float = 1e-5
    drift: float = 1e-5
    then: Callable[[State], State] | None = None

    def __post_init__(self) -> None:
        for name in ("longest", "window", "speed", "drift"):
            above_zero(getattr(self, name), f"settle.{name}")
        if self.seconds is not None:
            above_zero(self.seconds, "settle.seconds")

    @property
    def most(self) -> float:
        """Longest duration of the run-in [s]."""
        return self.longest if self.seconds is None else self.seconds


def rest_of(scene: Scene, start: State, announce: Announce | None = None) -> Snapshot:
    """Return the end of the run-in of a scene from ``start``; scenes that differ in later disturbances share it.

    Raises:
        UnsettledError: the model falls or does not come to rest; the message says which.
        InputError: sensors or actuators are noisy and ``seconds`` is not given.
    """
    assert scene.settle is not None
    then, settle = scene.settle.then, replace(scene.settle, then=None)
    disturbances = tuple(item for item in scene.disturbances if isinstance(item, (Load, Patch, Sensors, Actuators)))
    if settle.seconds is None and any(isinstance(d, (Sensors, Actuators)) and d.is_noisy for d in disturbances):
        raise InputError(
            "with noise in sensors or actuators the model never comes to rest: give the run-in a length in seconds, "
            "Settle(seconds=10) or initial.settle=10"
        )
    alone = replace(
        scene, disturbances=disturbances, duration=settle.most, record_every=None, state=None, settle=None, extend=0.0
    )
    key = _key_of(alone, settle, start)
    end = None if key is None else _KEPT.get(key)
    if end is None:
        end = _rest(replace(alone, state=start), settle, announce)
        if key is not None:
            while len(_KEPT) >= MOST_KEPT:
                _KEPT.pop(next(iter(_KEPT)), None)
            _KEPT[key] = end
    state = end.state.copy()
    if then is not None:
        state = then(state)
        state.check_model(end.state.model)
        state.exert_as(end.state)
        end = replace(end, estimator=())  # the estimation begins at the changed state
    return replace(end, state=state)


#: Ends of run-ins by ``_key_of``; the oldest is dropped first.
_KEPT: dict[Hashable, Snapshot] = {}


def _key_of(alone: Scene, settle: Settle, start: State) -> Hashable | None:
    """Return all inputs of a run-in as a key; None if they cannot be compared, for example a mutable controller."""
    if not (_is_immutable(alone.controller) and _is_immutable(alone.integrator)):
        return None
    values = (getattr(alone, item.name) for item in fields(alone) if item.name != "controller")
    try:
        key = (*values, settle, pickle.dumps(alone.controller), start.q.tobytes(), start.arrays.cache.rate.tobytes())
        hash(key)
    except (pickle.PicklingError, AttributeError, TypeError):  # a function, or a table, in it
        return None
    return (*key, start.time)


def _is_immutable(thing: Any) -> bool:
    """Return True for None, a string or an object of a frozen dataclass."""
    settings = getattr(thing, "__dataclass_params__", None)
    return thing is None or isinstance(thing, str) or (settings is not None and settings.frozen)


def _rest(alone: Scene, settle: Settle, announce: Announce | None) -> Snapshot:
    """Simulate the run-in before the start and return its end, with the clock at the start."""
    session = Session(alone, announce=announce)
    begins, ticks = session.time, max(1, round(settle.most / session.period))
    began = begins - ticks * session.period
    session.state.arrays.clock[TIME_ORIGIN] = began
    session.state.arrays.counts[TICKS] = -ticks
    if announce is not None:
        session.warm_up(announce)
    if settle.seconds is None:
        _stand_until_rest(session, settle, began)
    else:
        session.advance(ticks)
        _check_stands(session, began)
    end = session.save()
    end.state.begin_anew(begins)
    return end


def _stand_until_rest(session: Session, settle: Settle, began: float) -> None:
    look = max(1, round(LOOK / session.period))
    places: deque[Floats] = deque(maxlen=1 + max(1, round(settle.window / (look * session.period))))
    moved_at = session.time
    for _ in range(max(1, round(settle.longest / (look * session.period)))):
        session.advance(look)
        _check_stands(session, began)
        places.append(session.state.q.copy())
        if _speed(session) > settle.speed:
            moved_at = session.time
        if len(places) == places.maxlen and session.time - moved_at >= settle.window and _drift(places) <= settle.drift:
            return
    raise UnsettledError(
        f"{_who(session)} does not come to rest in {settle.longest:g} s: its centre of mass still moves at "
        f"{1e3 * _speed(session):.2g} mm/s, and its posture by {_drift(places):.2g} rad in {settle.window:g} s; use a "
        "run-in of fixed length, Settle(seconds=10) or initial.settle=10, or another controller"
    )


def _check_stands(session: Session, began: float) -> None:
    ending = session.ending
    if ending is not None:
        limit = ending.limit
        reason = ending.reason if limit is None else replace(limit, time=limit.time - began).reason
        why = f": {reason}" if reason else ""
        raise UnsettledError(
            f"{_who(session)} cannot begin at rest: in the run-in before the start, it {ending.verdict}{why}"
        )


def _who(session: Session) -> str:
    law = session.scene.controller
    return f"the {session.model.name} {'without a controller' if law is None else f'under {type(law).__name__}'}"


def _speed(session: Session) -> float:
    """Return the speed of the centre of mass [m/s]; zero for a model with a fixed root, judged by its drift alone."""
    if not session.model.is_floating:
        return 0.0
    return float(np.linalg.norm(session.state.momentum[:3])) / session.model.total_mass


def _drift(places: deque[Floats]) -> float:
    """Return the greatest range of a coordinate over some configurations [m, rad]."""
    return float(np.ptp(np.array(places), axis=0).max())
