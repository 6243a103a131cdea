"""Run-in: a scene stands until it is at rest, before its time begins, and nothing of that is counted.

A posture that was written down is not where a law comes to rest: that depends on its gains, on what is passive, and on
how far the floor yields. So a law is let stand, and the scene begins where it has come to rest.
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

#: [s] between two looks at whether it rests.
LOOK = 0.02
#: Starts that a process keeps, of trials that differ in what happens later.
MOST_KEPT = 16


@dataclass(frozen=True)
class Settle:
    """A run-in before the start of a scene, which is not counted.

    It has the scene's law, integrator and floor with its patches, and of what acts the loads, sensors and actuators:
    pushes, forces, thrown boxes and motions of the floor come later. Its time is that before the start, so that set
    points do not move yet, and noise is other noise than the run's. At the start clock, ledger and counters begin anew;
    the law's memory, what muscles exert, the floor's anchors, and what late senses have yet to show, stay.

    Attributes:
        seconds: [s] that it lasts, at rest or not: of a law that sways in noise, a sample of the sway. If not given, it
            lasts until the model is at rest.
        longest: [s] after which it is given up, where ``seconds`` is not given.
        window: [s] for which it must be at rest.
        speed: [m/s] of the centre of mass, at rest at most.
        drift: [m, rad] of any coordinate within the window, at rest at most.
        then: what is done to where it rests before the start, such as a scatter: from that state to another one of its
            model, in which muscles go on to exert what they do.

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
        """[s] that it lasts at most."""
        return self.longest if self.seconds is None else self.seconds


def rest_of(scene: Scene, start: State, announce: Announce | None = None) -> Snapshot:
    """Where a scene begins that stood before from ``start`` on: found once for scenes that differ in what acts later.

    Raises:
        UnsettledError: it falls, or does not come to rest; the message says which.
        InputError: sensors or actuators are noisy, and no ``seconds`` are given.
    """
    assert scene.settle is not None
    then, settle = scene.settle.then, replace(scene.settle, then=None)
    acting = tuple(one for one in scene.disturbances if isinstance(one, (Load, Patch, Sensors, Actuators)))
    if settle.seconds is None and any(isinstance(d, (Sensors, Actuators)) and d.is_noisy for d in acting):
        raise InputError(
            "with noise in sensors or actuators nothing comes to rest: say for how many seconds it is to stand before, "
            "as Settle(seconds=10) or initial.settle=10"
        )
    alone = replace(
        scene, disturbances=acting, duration=settle.most, record_every=None, state=None, settle=None, extend=0.0
    )
    key = _key_of(alone, settle, start)
    found = None if key is None else _KEPT.get(key)
    if found is None:
        found = _rest(replace(alone, state=start), settle, announce)
        if key is not None:
            while len(_KEPT) >= MOST_KEPT:
                _KEPT.pop(next(iter(_KEPT)), None)
            _KEPT[key] = found
    state = found.state.copy()
    if then is not None:
        state = then(state)
        state.check_model(found.state.model)
        state.exert_as(found.state)
    return replace(found, state=state)


#: By what they depend on; the oldest goes first.
_KEPT: dict[Hashable, Snapshot] = {}


def _key_of(alone: Scene, settle: Settle, start: State) -> Hashable | None:
    """What a run-in depends on; None where that cannot be told, as of a law that is an object that may change."""
    if not (_is_immutable(alone.controller) and _is_immutable(alone.integrator)):
        return None
    others = (getattr(alone, item.name) for item in fields(alone) if item.name != "controller")
    try:
        key = (*others, settle, pickle.dumps(alone.controller), start.q.tobytes(), start.arrays.cache.rate.tobytes())
        hash(key)
    except (pickle.PicklingError, AttributeError, TypeError):  # a function, or a table, in it
        return None
    return (*key, start.time)


def _is_immutable(thing: Any) -> bool:
    """Whether it is nothing, a name, or an object of a frozen dataclass."""
    settings = getattr(thing, "__dataclass_params__", None)
    return thing is None or isinstance(thing, str) or (settings is not None and settings.frozen)


def _rest(alone: Scene, settle: Settle, announce: Announce | None) -> Snapshot:
    """Let it stand before its time, and begin anew where it rests."""
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
    found = session.save()
    found.state.begin_anew(begins)
    return found


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
        f"{1e3 * _speed(session):.2g} mm/s, and its posture by {_drift(places):.2g} rad in {settle.window:g} s; let it "
        "stand for some seconds as it does, by Settle(seconds=10) or initial.settle=10, or take another law"
    )


def _check_stands(session: Session, began: float) -> None:
    ending = session.ending
    if ending is not None:
        limit = ending.limit
        reason = ending.reason if limit is None else replace(limit, time=limit.time - began).reason
        why = f": {reason}" if reason else ""
        raise UnsettledError(
            f"{_who(session)} cannot begin at rest: left alone before the start, it {ending.verdict}{why}"
        )


def _who(session: Session) -> str:
    law = session.scene.controller
    return f"the {session.model.name} {'without a controller' if law is None else f'under {type(law).__name__}'}"


def _speed(session: Session) -> float:
    """[m/s] of the centre of mass; zero of a model that is fixed to the ground: its coordinates tell."""
    if not session.model.is_floating:
        return 0.0
    return float(np.linalg.norm(session.state.momentum[:3])) / session.model.total_mass


def _drift(places: deque[Floats]) -> float:
    """[m, rad] by which a coordinate has gone at most since the first of some configurations."""
    return float(np.ptp(np.array(places), axis=0).max())
