"""Backends of a comparison: biped's integrators and external engines, behind one interface."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biped.control.controller import Impedance
from biped.disturbances import sorted_disturbances
from biped.errors import InputError
from biped.integrators import INTEGRATORS, Integrator, integrator_named, settings_of
from biped.runs.run import versions
from biped.simulation.driver import Announce, Progress
from biped.simulation.scene import Scene
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.rollout import Rollout, rollout
from experiments.engines.engine import Case, Engine, VendorDefaults
from experiments.engines.registry import engine_named

#: Default backends of a comparison.
DEFAULT = ("recursive", "pybullet", "mujoco")


@dataclass(frozen=True)
class Backend:
    """An integrator or engine of a comparison."""

    label: str  # unique name for tables and folders
    title: str  # name in figures and sentences
    engine: Engine | str  # an external engine, or the name of one of biped's integrators

    @property
    def external(self) -> Engine | None:
        return None if isinstance(self.engine, str) else self.engine

    @property
    def vendor_defaults(self) -> VendorDefaults | None:
        """The engine with its vendor's default settings; None for integrators, whose defaults the experiment sets."""
        return None if self.external is None else self.external.vendor_defaults

    @property
    def version(self) -> str | None:
        return versions()["biped-balance"] if self.external is None else self.external.version

    @property
    def smooth(self) -> "tuple[Backend, ...]":
        """Backends with the engine's other settings for smooth motion without contacts."""
        if isinstance(self.engine, str):
            return ()
        usual, variants = self.engine.settings, []
        for other in self.engine.smooth:
            values = [str(value) for name, value in other.settings.items() if value != usual[name]]
            variants.append(Backend("-".join([self.label, *values]).lower(), " ".join([self.title, *values]), other))
        return tuple(variants)

    def settings(self, changes: Mapping[str, Value]) -> dict[str, Any]:
        if self.external is not None:
            return self.external.settings
        defaults = settings_of(integrator_named(str(self.engine)))
        return defaults | {name: changes[f"integrator.{name}"] for name in defaults if f"integrator.{name}" in changes}

    def integrator(self, changes: Mapping[str, Value]) -> Integrator:
        """Return the integrator, with its settings from the changes of the experiment."""
        return integrator_named(str(self.engine), **self.settings(changes))

    def run(
        self,
        experiment: Experiment,
        changes: Mapping[str, Value],
        progress: Progress | None = None,
        announce: Announce | None = None,
    ) -> Rollout:
        return rollout(experiment, changes, self.engine, progress=progress, announce=announce)


def backend_named(name: str) -> Backend:
    """Return the integrator or engine of this name, with settings that match the other backends where possible."""
    if name in INTEGRATORS:
        return Backend(name, f"ours ({name})", name)
    engine = engine_named(name)
    engine.check_installed()
    return Backend(name, engine.title, engine)


def backends_of(names: Sequence[str]) -> tuple[tuple[Backend, ...], tuple[str, ...]]:
    """Return the named integrators and engines that are installed, and a sentence on each that is not installed."""
    if not names or not all(names):
        raise InputError("--engines: give names separated by commas, such as recursive,mujoco")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"--engines: {', '.join(twice)} is given twice; leave one out")
    for name in names:
        if name not in INTEGRATORS:
            engine_named(name)
    backends, missing = [], []
    for name in names:
        try:
            backends.append(backend_named(name))
        except InputError as error:
            missing.append(str(error))
    if not backends:
        raise InputError("; ".join(missing))
    return tuple(backends), tuple(missing)


def case_of(setup: Scene) -> Case:
    disturbances, model = sorted_disturbances(setup.disturbances, setup.model), setup.model
    impedance = (None if setup.controller is None else setup.controller.impedance(model)) or Impedance()
    return Case.of(disturbances.with_payload(model), setup.floor, setup.step, impedance, disturbances)
