"""Experiments as data: a table of parameters, and a function that sets up a simulation from their values."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from biped.errors import InputError, IntegrationError, RunInterrupted
from biped.runs.run import Run
from biped.simulation.driver import Announce, Progress
from biped.simulation.scene import Scene
from experiments.catalogue.parameters.controllers import CONTROLLERS, defaults_of_person, with_controller
from experiments.catalogue.parameters.controllers import NAME as CONTROLLER
from experiments.catalogue.parameters.floors import LAWS, with_law
from experiments.catalogue.parameters.floors import NAME as LAW
from experiments.catalogue.parameters.groups import integrator_defaults
from experiments.catalogue.parameters.initial import posture_of_stance, scattered_by_seed
from experiments.catalogue.parameters.parameter import Parameter, Value, Values, assembled, parameter_named, split_name
from experiments.catalogue.parameters.robots import HUMAN, address_of, digest_of_robot, robot_named
from experiments.catalogue.parameters.robots import NAME as ROBOT
from experiments.catalogue.registry import all_experiments
from experiments.engines.engine_integrator import EngineIntegrator, complete
from experiments.lookup.foreign_kernels import kernel_errors
from experiments.lookup.metric_files import register_metric
from experiments.lookup.open_registry import Entry

#: Key of the digests of user files in a run's record.
SOURCES = "sources"


@dataclass(frozen=True)
class Experiment:
    """An experiment: its parameters, and the simulation that their values set up.

    Attributes:
        name: name on the command line.
        title: description of the experiment in one line.
        source: publication of the experiment.
        parameters: all parameters, with their default values.
        set_up: function that returns the scene to simulate for the values of all parameters.
        figures: by kind of figure, the number of the published figure that the experiment reproduces.
        brought: registry entry of a user's experiment; None for an experiment of this project.
        is_driven_by_another: True if the controller differs from the one in the experiment's definition.
        metrics: the user's own metrics, measured in addition to the project's.
        for_robot: function that returns the parameters for a robot's name; None if the robot cannot be changed.
    """

    name: str
    title: str
    source: str
    parameters: tuple[Parameter, ...]
    set_up: Callable[[Values], Scene]
    figures: Mapping[str, str] = field(default_factory=dict)
    brought: Entry | None = None
    is_driven_by_another: bool = False
    metrics: tuple[Entry, ...] = ()
    for_robot: Callable[[str], tuple[Parameter, ...]] | None = None

    @property
    def address(self) -> str:
        """Name by which ``experiment_named`` finds the experiment in any process."""
        return self.name if self.brought is None else self.brought.name

    @property
    def controller(self) -> str | None:
        """Name of the controller; None if the experiment has no controller."""
        named = self._by_name.get(CONTROLLER)
        return None if named is None else str(named.default)

    @property
    def sources(self) -> dict[str, str]:
        """Digests of the user files that define it, its controller, contact law and metrics."""
        controller = None if self.controller is None else CONTROLLERS.find(self.controller)
        law = None if self.law is None else LAWS.find(self.law)
        entries = [entry for entry in (self.brought, controller, law, *self.metrics) if entry is not None]
        return {entry.name: entry.digest for entry in entries if entry.digest} | digest_of_robot(self.robot or HUMAN)

    def brought_from(self, entry: Entry) -> "Experiment":
        return replace(self, brought=entry)

    def driven_by(self, controller: str) -> "Experiment":
        """Return this experiment with another controller, given by name, and that controller's parameters.

        Raises:
            InputError: there is no such controller, or the experiment has no controller.
        """
        if self.controller is None:
            raise InputError(f"experiment {self.name} has no controller: leave out the controller")
        if CONTROLLERS.find(controller).name == self.controller:
            return self
        return replace(self, parameters=with_controller(self.parameters, controller), is_driven_by_another=True)

    @property
    def law(self) -> str | None:
        """Name of the contact law; None if the experiment has no floor."""
        named = self._by_name.get(LAW)
        return None if named is None else str(named.default)

    def on_law(self, law: str | None) -> "Experiment":
        """Return this experiment with another contact law, given by name, and that law's parameters; None: unchanged.

        Raises:
            InputError: there is no such law, or the experiment has no floor.
        """
        if law is None:
            return self
        if self.law is None:
            raise InputError(f"experiment {self.name} has no floor, hence no contact law: leave out {LAW}")
        if LAWS.find(law).name == self.law:
            return self
        return replace(self, parameters=with_law(self.parameters, law))

    @property
    def robot(self) -> str | None:
        """Name of the robot; None for the human, or if the experiment's robot is fixed."""
        named = self._by_name.get(ROBOT)
        return None if named is None or named.default == HUMAN else str(named.default)

    @property
    def who(self) -> str:
        """Name of the robot in a sentence."""
        return "the human" if self.robot is None else robot_named(self.robot).name

    def title_over(self, varied: Iterable[str]) -> str:
        """Return the title, in which varied robots are not named."""
        return self.title.replace(self.who, "each of several bodies") if ROBOT in varied else self.title

    def of_robot(self, robot: str) -> "Experiment":
        """Return this experiment with another robot, given by name, and that robot's own posture.

        Raises:
            InputError: the experiment's robot cannot be changed.
            ModelError: there is no such robot.
        """
        if self.for_robot is None:
            raise InputError(f"the robot of {self.name} cannot be changed; use experiment balance for another robot")
        if address_of(robot) == (self.robot or HUMAN):
            return self
        title = self.title.replace(self.who, robot_named(robot).name)
        experiment = replace(self, title=title, parameters=self.for_robot(robot), is_driven_by_another=False)
        experiment = experiment.on_law(self.law)
        return experiment.driven_by(str(self.controller)) if self.is_driven_by_another else experiment

    def measured_by(self, metrics: Iterable[str]) -> "Experiment":
        """Return this experiment with further metrics, given by name; all later runs of this process have them.

        Raises:
            InputError: there is no such metric.
        """
        return replace(self, metrics=tuple(register_metric(name) for name in metrics))

    def under(self, changes: Mapping[str, Any]) -> "Experiment":
        """Return this experiment with the robot, contact law and controller that ``changes`` name, if any."""
        robot, controller, law = changes.get(ROBOT), changes.get(CONTROLLER), changes.get(LAW)
        experiment = self if robot is None or self.for_robot is None else self.of_robot(str(robot))
        experiment = experiment if law is None or self.law is None else experiment.on_law(str(law))
        return experiment if controller is None or self.controller is None else experiment.driven_by(str(controller))

    @cached_property
    def _defaults(self) -> dict[str, Value]:
        return {parameter.name: parameter.default for parameter in self.parameters}

    @cached_property
    def _by_name(self) -> dict[str, Parameter]:
        return {parameter.name: parameter for parameter in self.parameters}

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of this name, or one number of a tuple (``parameter_named``).

        Raises:
            InputError: the parameter does not exist; the message names other experiments that have it.
        """
        if name in self._by_name:
            return self._by_name[name]
        try:
            return parameter_named(name, self.parameters)
        except InputError as error:
            parameter = split_name(name)[0]
            owners = [e.name for e in all_experiments() if parameter in e._by_name and e.name != self.name]
            if parameter in self._by_name or not owners:
                raise
            raise InputError(f"{error}; experiments with this parameter are {', '.join(owners)}") from None

    def values(self, changes: Mapping[str, Value] | None = None) -> Values:
        """Return the value of every parameter: from ``changes``, or its default.

        Raises:
            InputError: a parameter does not exist, or a value is not of its type.
        """
        base = self.under(changes or {})
        changed = {name: base.parameter(name).checked(value) for name, value in dict(changes or {}).items()}
        changed = assembled(changed, base._defaults)
        defaults = base._defaults | defaults_of_person(base.controller, base._defaults)
        values = defaults | integrator_defaults(changed) | scattered_by_seed(changed)
        return Values(values | posture_of_stance(lambda: robot_named(base.robot or HUMAN), values, changed) | changed)

    def parse(self, assignments: Mapping[str, str]) -> dict[str, Value]:
        """Convert texts to values of parameters, both by the parameter's name.

        Raises:
            InputError: a parameter does not exist, or a text cannot be converted to its type.
        """
        experiment = self.under(assignments)
        return {name: experiment.parameter(name).parse(text) for name, text in assignments.items()}

    def build(self, changes: Mapping[str, Value] | None = None) -> Scene:
        """Return the scene to simulate with these changes of parameters.

        Raises:
            InputError, ModelError, FloorError: a value is impossible; the message says what is allowed.
        """
        return self._set_up(self.values(changes))

    def run(
        self,
        changes: Mapping[str, Value] | None = None,
        *,
        progress: Progress | None = None,
        announce: Announce | None = None,
    ) -> Run:
        """Simulate the experiment; the run, or the partial run of an error, records the values of all parameters.

        Raises:
            InputError, ModelError, FloorError: as ``build``.
            IntegrationError, RunInterrupted: as ``biped.simulation.simulate``; ``error.run`` is the partial run.
        """
        values = self.values(changes)
        scene = self._set_up(values)
        try:
            with kernel_errors(scene.controller, scene.floor):
                run = scene.run(progress, announce)
        except (IntegrationError, RunInterrupted) as error:
            if error.run is not None:
                self._complete(error.run, scene, values)
            raise
        self._complete(run, scene, values)
        return run

    def _complete(self, run: Run, scene: Scene, values: Values) -> None:
        run.parameters = self.record(values.as_json())
        if isinstance(scene.integrator, EngineIntegrator):
            complete(run, scene.integrator)

    def _set_up(self, values: Values) -> Scene:
        scene = self.set_up(values)
        if scene.duration < scene.step:
            raise InputError(
                f"run.duration = {scene.duration:g} s: it must be at least one time step (run.step = {scene.step:g} s)"
            )
        if scene.record_every is not None and scene.record_every < 0.0:
            raise InputError(f"run.record_every = {scene.record_every:g} s: it must not be negative")
        return scene

    def record(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the record from which a run with these values can be reproduced, for JSON."""
        sources = self.under(values).sources
        return {"experiment": self.address} | ({SOURCES: sources} if sources else {}) | dict(values)
