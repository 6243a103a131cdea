"""Experiments as data: a table of parameters, and how to set up a simulation from their values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from biped.control.controller import Controller, SetPoint
from biped.disturbances import Disturbance
from biped.errors import InputError, IntegrationError, RunInterrupted
from biped.integrators import Integrator
from biped.metrics import measure_run
from biped.model import Model
from biped.runs.run import Run
from biped.runs.state import State
from biped.simulation.session import Announce, Plan, Progress
from biped.simulation.simulate import prepare, simulate
from biped.simulation.world import Fall
from contact import Floor
from experiments.catalogue.parameters.groups import own_settings
from experiments.catalogue.parameters.initial import scattered_by_seed
from experiments.catalogue.parameters.parameter import Parameter, Value, Values, assembled, parameter_named


@dataclass(frozen=True)
class Setup:
    """All that ``simulate`` takes; ``dataclasses.replace`` puts another controller or floor in its place.

    Attributes:
        record_every: [s] between two recorded rows; None for once a control period.
    """

    model: Model
    state: State
    floor: Floor
    controller: Controller | None
    disturbances: tuple[Disturbance, ...]
    integrator: Integrator
    fall: Fall | None
    duration: float
    step: float
    record_every: float | None

    @property
    def set_point(self) -> SetPoint | None:
        """Where the controller wants the root to be, if it says so."""
        if self.controller is None or not hasattr(self.controller, "set_point"):
            return None
        point: SetPoint = self.controller.set_point(self.model)
        return point

    def simulate(self, progress: Progress | None = None, announce: Announce | None = None) -> Run:
        """Simulate it, from a copy of the state; raises what ``biped.simulation.simulate`` raises."""
        return simulate(self.model, self.controller, **self._others(), progress=progress, announce=announce)

    def prepare(self) -> Plan:
        """All of that before the first step, with a log that holds the whole run."""
        return prepare(self.model, self.controller, **self._others(), in_one_go=True)

    def _others(self) -> dict[str, Any]:
        return {
            "floor": self.floor,
            "state": self.state.copy(),
            "duration": self.duration,
            "step": self.step,
            "disturbances": self.disturbances,
            "integrator": self.integrator,
            "fall": self.fall,
            "record_every": self.record_every,
        }


@dataclass(frozen=True)
class Experiment:
    """One experiment.

    Attributes:
        name: as on the command line.
        title: one line.
        source: where it was published.
        parameters: everything that can be changed.
        set_up: from values to what is simulated.
        figures: the published figures it has a counterpart of: the kind of figure, and its number there.
    """

    name: str
    title: str
    source: str
    parameters: tuple[Parameter, ...]
    set_up: Callable[[Values], Setup]
    figures: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def _defaults(self) -> dict[str, Value]:
        return {parameter.name: parameter.default for parameter in self.parameters}

    @cached_property
    def _by_name(self) -> dict[str, Parameter]:
        return {parameter.name: parameter for parameter in self.parameters}

    def parameter(self, name: str) -> Parameter:
        """The parameter of this name, or one number of one that is a tuple (``parameter_named``).

        Raises:
            InputError: it does not exist.
        """
        return self._by_name[name] if name in self._by_name else parameter_named(name, self.parameters)

    def values(self, changes: Mapping[str, Value] | None = None) -> Values:
        """A value for every parameter: ``changes``, and the defaults where they say nothing.

        Raises:
            InputError: a parameter does not exist, or a value is not of its kind.
        """
        changed = {name: self.parameter(name).checked(value) for name, value in dict(changes or {}).items()}
        changed = assembled(changed, self._defaults)
        return Values(self._defaults | own_settings(changed) | scattered_by_seed(changed))

    def parse(self, assignments: Mapping[str, str]) -> dict[str, Value]:
        """Values from texts, by the names of their parameters.

        Raises:
            InputError: a parameter does not exist, or a text is not of its kind.
        """
        return {name: self.parameter(name).parse(text) for name, text in assignments.items()}

    def build(self, changes: Mapping[str, Value] | None = None) -> Setup:
        """What is simulated under these changes.

        Raises:
            InputError, ModelError, FloorError: a value is impossible; the message says what would be right.
        """
        return self._set_up(self.values(changes))

    def run(
        self,
        changes: Mapping[str, Value] | None = None,
        *,
        progress: Progress | None = None,
        announce: Announce | None = None,
    ) -> Run:
        """Simulate it; the run, or that of an error, knows all parameters.

        Raises:
            InputError, ModelError, FloorError: as ``build``.
            IntegrationError, RunInterrupted: as ``biped.simulation.simulate``; ``error.run`` is what was computed.
        """
        values = self.values(changes)
        setup = self._set_up(values)
        try:
            run = setup.simulate(progress, announce)
        except (IntegrationError, RunInterrupted) as error:
            if error.run is not None:
                error.run.parameters = self._record(values)
            raise
        run.parameters = self._record(values)
        run.summary["metrics"] = measure_run(run)
        return run

    def _set_up(self, values: Values) -> Setup:
        setup = self.set_up(values)
        if setup.record_every is not None and setup.record_every < 0.0:
            raise InputError(f"run.record_every = {setup.record_every:g}: it must be zero or above [s]")
        return setup

    def _record(self, values: Values) -> dict[str, Any]:
        return {"experiment": self.name} | values.as_json()
