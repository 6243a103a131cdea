"""Calls of compiled control laws from Python, which cost a few microseconds more than in a compiled loop."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from biped.control.observation import Observation, joint_places, torque_places
from biped.kernels.loop.lone_tick import AskedLaw, Buffers
from biped.model import Model
from contact.arrays import Floats
from contact.modes import NONE

if TYPE_CHECKING:
    from biped.control.controller import Controller

T = TypeVar("T")

#: Number of laws, and of models, whose workspace a thread keeps.
MOST_KEPT = 16


class _Kept(threading.local):
    """A cache of objects by thread: a law writes into its workspace, which threads must not share."""

    def __init__(self) -> None:
        self.by_identity: dict[tuple[int, ...], tuple[tuple[object, ...], Any]] = {}

    def of(self, objects: tuple[object, ...], make: Callable[[], T]) -> T:
        key = tuple(map(id, objects))
        if key not in self.by_identity:
            made = make()
            while len(self.by_identity) >= MOST_KEPT:
                del self.by_identity[next(iter(self.by_identity))]
            self.by_identity[key] = objects, made  # with the objects, so that their identities are not reused
        value: T = self.by_identity[key][1]
        return value


_buffers, _laws = _Kept(), _Kept()


def ask_compiled(controller: "Controller", observation: Observation) -> Floats:
    """Return the torques (joints,) of the controller's compiled law for an observation; see ``Controller.torques``.

    Raises:
        InputError: the observation was not made by a run and has a wrong number of torques.
        NotImplementedError: the controller has no compiled law.
    """
    model = observation.model
    settings = getattr(controller, "__dataclass_params__", None)
    if settings is not None and settings.frozen:
        compiled = _laws.of((controller, model), lambda: _ready(controller, model))
    else:
        compiled = _ready(controller, model)
    measured = compiled.buffers.tick.measurement
    measured.time[0], measured.q[:], measured.motion.rates[:] = observation.time, observation.q, observation.v
    is_of_a_run = observation.torques.size > 0
    measured.force[:] = observation.contact_forces if is_of_a_run else np.nan
    measured.contact_state[:] = observation.contact_modes if is_of_a_run else NONE
    driven = joint_places(model).driven
    measured.held[driven] = _held(observation) if is_of_a_run else np.nan
    return compiled.torques()[driven]


def _held(observation: Observation) -> Floats:
    """Return (driven,) the torques of the actuators; zero in spherical joints that the observation leaves out."""
    driven = joint_places(observation.model).driven
    held = np.zeros(observation.model.nv)
    held[torque_places(observation.model, observation.torques, "the observation's")] = observation.torques
    return held[driven]


def _ready(controller: "Controller", model: Model) -> AskedLaw:
    law = None if controller.acts else controller.law(model)
    if law is None:
        raise NotImplementedError(
            f"{type(controller).__name__} needs a method torques(observation), or law(model) without acts"
        )
    count = len(controller.recorded)
    buffers = _buffers.of((model,), dict[int, Buffers])
    if count not in buffers:
        buffers[count] = Buffers(model.tree, model.nq, model.nv, count)
    return AskedLaw(law, buffers[count])
