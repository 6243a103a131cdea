"""Experiments as data: a table of parameters, and how to set up a simulation from their values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from biped.errors import InputError, IntegrationError, RunInterrupted
from biped.runs.run import Run
from biped.simulation.driver import Announce, Progress
from biped.simulation.scene import Scene
from experiments.catalogue.parameters.groups import own_settings
from experiments.catalogue.parameters.initial import scattered_by_seed
from experiments.catalogue.parameters.parameter import Parameter, Value, Values, assembled, parameter_named


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
    set_up: Callable[[Values], Scene]
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

    def build(self, changes: Mapping[str, Value] | None = None) -> Scene:
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
        scene = self._set_up(values)
        try:
            run = scene.run(progress, announce)
        except (IntegrationError, RunInterrupted) as error:
            if error.run is not None:
                error.run.parameters = self._record(values)
            raise
        run.parameters = self._record(values)
        return run

    def _set_up(self, values: Values) -> Scene:
        scene = self.set_up(values)
        if scene.record_every is not None and scene.record_every < 0.0:
            raise InputError(f"run.record_every = {scene.record_every:g}: it must be zero or above [s]")
        return scene

    def _record(self, values: Values) -> dict[str, Any]:
        return {"experiment": self.name} | values.as_json()
