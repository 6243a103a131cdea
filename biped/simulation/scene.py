"""A scene: all that a simulation is made of, in one immutable object."""

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

#: What some members must be, and in words.
_KINDS: dict[str, tuple[Any, str]] = {
    "model": (Model, "a biped.Model, such as human() or load_robot(file)"),
    "floor": (Floor, "a contact.Floor; a model that is to touch nothing is model.without_contacts()"),
    "state": (State | None, "a biped.State, such as State.at(model, q)"),
    "fall": (Fall | None, "the limits of a fall, Fall(), or None"),
    "settle": (Settle | None, "a run-in, Settle(), or None"),
}


def floor_of(model: Model) -> Floor:
    """Return the floor that a model stands on where no other is given: with the friction that its file has, if any."""
    mu = getattr(model, "floor_friction", None)  # whether it is a model is seen later
    return RUBBER if mu is None else RUBBER.with_(mu_s=mu, mu_d=mu)


@dataclass(frozen=True)
class Scene:
    """A simulation to be run: model, start, controller, disturbances, duration, integrator, as ``simulate`` takes them.

    It is immutable: ``dataclasses.replace`` makes one with something else in a place.

    Attributes:
        model: what moves.
        controller: what drives its joints; without one they are free.
        floor: what its contact points stand on.
        state: where it starts or goes on; if not given, where the controller wants to begin
            (``Controller.initial_configuration``), or the home configuration at rest.
        duration: [s].
        step: [s] of the integrator; it must divide the controller's period.
        disturbances: what acts on it, of the kinds in ``biped.disturbances``, one or several; pushes, forces, patches
            and loads in any number, of the others one at most.
        integrator: how the steps are taken, or the name of one in ``biped.integrators.INTEGRATORS``; ``Recursive``
            if not given.
        fall: when the run ends as "fell" or "lost control"; never, if not given.
        record_every: [s] between recorded rows; the controller's period if not given.
        settle: how it stands before the start, at rest or for some time, which is not counted; it begins with ``state``
            if not given. A ``state`` that goes on from a run has stood before.
        extend: [s] by which the run goes on at most if its end leaves open whether the body falls, and no disturbance
            acts there; it ends as soon as that is decided.

    Raises:
        InputError: a member is not of its kind.
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
            raise InputError(f"{what} is no controller: give an object of a class that derives from biped.Controller")
        acting: Any = self.disturbances
        if not isinstance(acting, Iterable):
            object.__setattr__(self, "disturbances", (acting,))

    @classmethod
    def of(cls, model: Model, controller: Controller | None, options: dict[str, Any]) -> "Scene":
        """A scene of options by name; the floor is that of the model's file, if it has one and none is given.

        Raises:
            InputError: there is no such option; the message names the nearest.
        """
        known = [field.name for field in fields(cls)][2:]
        for name in options:
            if name not in known:
                raise InputError(f"unknown option {name!r}; {did_you_mean(name, known)}options are {', '.join(known)}")
        return cls(model, controller, **{"floor": floor_of(model)} | options)

    @property
    def set_point(self) -> SetPoint | None:
        """Where the controller wants the root to be, if it says so."""
        return None if self.controller is None else self.controller.set_point(self.model)

    @property
    def initial_state(self) -> State:
        """Where it starts: ``state``, or what stands for it where that is not given; after its run-in, if it has one.

        Raises:
            UnsettledError: it falls in its run-in, or does not come to rest.
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
        """Where its run-in ends, and what the law remembers then; None where it has none, or goes on from a run.

        Raises:
            UnsettledError: it falls in it, or does not come to rest.
        """
        if self.settle is None or (self.state is not None and self.state.steps):
            return None
        return rest_of(self, self._given_state, announce)

    def settled(self) -> "Scene":
        """The scene without a run-in that begins where this one's has ended.

        Raises:
            UnsettledError: it falls in its run-in, or does not come to rest.
        """
        return self if self.settle is None else replace(self, state=self.initial_state, settle=None)

    def prepare(self, *, in_one_go: bool = False, in_place: bool = False) -> Plan:
        """All that is done before the first step.

        Args:
            in_one_go: give the log room for the whole run, if that is not too much.
            in_place: let ``state`` itself move, not a copy of it.

        Raises:
            InputError: for members that do not fit together; the message says what would.
        """
        state = self.initial_state
        return plan_of(self, state if in_place else state.copy(), in_one_go)

    def run(self, progress: Progress | None = None, announce: Announce | None = None) -> Run:
        """Simulate it; its ``state`` stays what it is, and the run's goes on from the end.

        Args:
            progress: called now and then with the time simulated so far [s].
            announce: called with a sentence before kernels are compiled.

        Raises:
            InputError: for members that do not fit together; the message says what would.
            IntegrationError: a step has no solution; ``error.run`` holds what was computed before.
            RunInterrupted: the user pressed Ctrl-C; ``error.run`` holds what was computed before.
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
    """The name of a value of the wrong kind, for a message."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return repr(value) if isinstance(value, (str, int, float)) or value is None else type(value).__name__
