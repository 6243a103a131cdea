"""The scene: all inputs of a simulation in one immutable object."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from biped.control.controller import Controller, SetPoint
from biped.disturbances import Disturbance
from biped.errors import InputError, IntegrationError, RunInterrupted
from biped.inputs.checks import is_finite
from biped.integrators import Integrator
from biped.metrics import assemble
from biped.model import Model
from biped.runs.run import Run
from biped.runs.state import State
from biped.runs.verdict import INTERRUPTED
from biped.simulation.driver import Announce, Progress
from biped.simulation.plan import Plan, plan_of
from biped.simulation.session import Session
from biped.simulation.settling import Settle, rest_of
from biped.simulation.snapshot import Snapshot
from biped.simulation.world import Fall
from contact import RUBBER, Floor
from contact.errors import did_you_mean

#: Required types of some members, and their names in messages.
_KINDS: dict[str, tuple[Any, str]] = {
    "model": (Model, "a biped.Model, such as human() or load_robot(file)"),
    "floor": (Floor, "a contact.Floor; for no contact at all, use model.without_contacts()"),
    "state": (State | None, "a biped.State, such as State.at(model, q)"),
    "fall": (Fall | None, "the limits of a fall, Fall(), or None"),
    "settle": (Settle | None, "a run-in, Settle(), or None"),
}


def floor_of(model: Model) -> Floor:
    """Return the default floor of a model: rubber, with the friction of the model's file if it has one."""
    mu = getattr(model, "floor_friction", None)  # whether it is a model is seen later
    return RUBBER if mu is None else RUBBER.with_(mu_s=mu, mu_d=mu)


@dataclass(frozen=True)
class Scene:
    """The inputs of a simulation: model, start, controller, disturbances, duration and integrator.

    A scene is immutable: ``dataclasses.replace`` returns a changed copy.

    Attributes:
        model: the model to simulate.
        controller: the controller of the joints; None: the joints are free.
        floor: the floor under the contact points.
        state: start state, or final state of a run to continue; None: the controller's ``initial_configuration`` at
            rest or, without it, the home configuration at rest.
        duration: [s] simulated time.
        step: [s] time step of the integrator; it must divide the controller's period.
        disturbances: one or several disturbances from ``biped.disturbances``; any number of pushes, forces, patches and
            loads, at most one of each other kind.
        integrator: an integrator, or its name in ``biped.integrators.INTEGRATORS``; None: ``Recursive``.
        fall: limits at which the run ends as "fell" or "lost control"; None: no limits.
        record_every: [s] interval between recorded rows; None: the controller's period.
        settle: run-in before the start, not part of ``duration``; None: no run-in. A continued run has none.
        extend: [s] longest extension of a run that ends, without an acting disturbance, before a fall is certain or
            excluded. The extended run ends as soon as this is decided.

    Raises:
        InputError: a member has a wrong type.
    """

    model: Model
    controller: Controller | None = None
    floor: Floor = RUBBER
    state: State | None = None
    duration: float = 3.0
    step: float = 5e-4
    disturbances: Sequence[Disturbance] = ()
    integrator: Integrator | str | None = None
    fall: Fall | None = None
    record_every: float | None = None
    settle: Settle | None = None
    extend: float = 0.0

    def __post_init__(self) -> None:
        for name, (kind, what) in _KINDS.items():
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise InputError(f"{name} = {_called(value)}: it must be {what}")
        if not (is_finite(self.extend) and self.extend >= 0.0):
            raise InputError(f"extend = {self.extend!r}: it must be a finite number of seconds, zero or above")
        controller: Any = self.controller
        if controller is not None and not isinstance(controller, Controller):
            what = _called(controller)
            raise InputError(f"controller = {what}: it must be an object of a class that derives from biped.Controller")
        given: Any = self.disturbances
        if not isinstance(given, Iterable):
            object.__setattr__(self, "disturbances", (given,))

    @classmethod
    def of(cls, model: Model, controller: Controller | None, options: dict[str, Any]) -> "Scene":
        """Return a scene with members given by name in ``options``; the default floor is ``floor_of(model)``.

        Raises:
            InputError: an option is unknown; the message gives similar names.
        """
        known = [field.name for field in fields(cls)][2:]
        for name in options:
            if name not in known:
                raise InputError(f"unknown option {name!r}; {did_you_mean(name, known)}options are {', '.join(known)}")
        return cls(model, controller, **{"floor": floor_of(model)} | options)

    @property
    def set_point(self) -> SetPoint | None:
        """Target pose of the root, if the controller has one."""
        return None if self.controller is None else self.controller.set_point(self.model)

    @property
    def initial_state(self) -> State:
        """State at the start: ``state`` or its default, after the run-in if there is one.

        Raises:
            UnsettledError: the model falls during the run-in, or does not come to rest.
        """
        rest = self.rest()
        return self._given_state if rest is None else rest.state

    @property
    def _given_state(self) -> State:
        if self.state is not None:
            return self.state
        q = None if self.controller is None else self.controller.initial_configuration(self.model, self.floor)
        return State.at(self.model, q)

    def rest(self, announce: Announce | None = None) -> Snapshot | None:
        """Return the end of the run-in with the controller's memory; None without a run-in, or if a run is continued.

        Raises:
            UnsettledError: the model falls during the run-in, or does not come to rest.
        """
        if self.settle is None or (self.state is not None and self.state.steps):
            return None
        return rest_of(self, self._given_state, announce)

    def settled(self) -> "Scene":
        """Return this scene without a run-in, starting from the end of the run-in.

        Raises:
            UnsettledError: the model falls during the run-in, or does not come to rest.
        """
        return self if self.settle is None else replace(self, state=self.initial_state, settle=None)

    def prepare(self, *, log_holds_run: bool = False, in_place: bool = False) -> Plan:
        """Check the scene and return its plan, ready for the first step.

        Args:
            log_holds_run: True to let the log hold the whole run, if it fits in memory.
            in_place: True to change ``state`` itself instead of a copy.

        Raises:
            InputError: members are incompatible; the message gives a remedy.
        """
        state = self.initial_state
        return plan_of(self, state if in_place else state.copy(), log_holds_run)

    def run(self, progress: Progress | None = None, announce: Announce | None = None) -> Run:
        """Simulate the scene and return the run; ``state`` of the scene is not changed.

        Args:
            progress: function that is called now and then with the time simulated so far [s].
            announce: function that is called with a sentence before kernels are compiled.

        Raises:
            InputError: members are incompatible; the message gives a remedy.
            IntegrationError: a time step has no solution; ``error.run`` is the run up to this step.
            RunInterrupted: the user pressed Ctrl-C; ``error.run`` is the run up to this time.
        """
        session = Session(self, announce=announce)
        session.check_run()
        session.warm_up(announce, measures=True)
        recording = session.run(progress)
        if recording.ending.verdict == INTERRUPTED:
            raise RunInterrupted(assemble(recording))
        if recording.ending.error is not None:
            raise IntegrationError(recording.ending.error, assemble(recording))
        return assemble(recording)


def _called(value: Any) -> str:
    """Return the name of a value of a wrong type, for a message."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return repr(value) if isinstance(value, (str, int, float)) or value is None else type(value).__name__
