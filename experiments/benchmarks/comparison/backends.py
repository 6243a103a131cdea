"""Who is compared: integrators of ours and other engines, all asked for in the same way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from biped.control.controller import Impedance
from biped.disturbances import sorted_disturbances
from biped.errors import InputError
from biped.integrators import INTEGRATORS, Integrator, integrator_named, settings_of
from biped.runs.run import versions
from biped.simulation.scene import Scene
from biped.simulation.session import Announce, Progress
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.engines.engine import Case, Engine, Natural, check_installed, version_of
from experiments.engines.engine import settings_of as engine_settings
from experiments.engines.registry import engine_named
from experiments.engines.rollout import Rollout, rollout

#: Compared unless others are asked for.
DEFAULT = ("recursive", "pybullet", "mujoco")
#: Of ours, the integrators that serve smooth motion better.
SMOOTH = {"recursive": ("sofroniou-spaletta-6",)}


@dataclass(frozen=True)
class Contestant:
    """One of those that are compared.

    Attributes:
        label: a word, unique: in tables, and of its folders.
        title: in figures and sentences.
        engine: another engine, or the name of an integrator of ours.
    """

    label: str
    title: str
    engine: Engine | str

    @property
    def foreign(self) -> Engine | None:
        """The engine, if it is not ours."""
        return None if isinstance(self.engine, str) else self.engine

    @property
    def lag(self) -> float:
        """By how much of a step its velocities lag behind its positions."""
        return 0.0 if self.foreign is None else self.foreign.lag

    @property
    def natural(self) -> Natural | None:
        """Its own natural settings; those of ours are the experiment's defaults."""
        return None if self.foreign is None else self.foreign.natural

    @property
    def version(self) -> str | None:
        """Of what is installed."""
        return versions()["biped-balance"] if self.foreign is None else version_of(self.foreign)

    @property
    def smooth(self) -> "tuple[Contestant, ...]":
        """The engine in other settings of its own, which serve smooth motion without contacts better.

        An engine that has such settings says so by an attribute ``smooth``, a tuple of engines.
        """
        if isinstance(self.engine, str):
            return tuple(contestant_named(name) for name in SMOOTH.get(self.engine, ()))
        return tuple(_variant(self, other) for other in getattr(self.foreign, "smooth", ()))

    def settings(self, changes: Mapping[str, Value]) -> dict[str, Any]:
        """All settings by name."""
        if self.foreign is not None:
            return engine_settings(self.foreign)
        own = settings_of(integrator_named(str(self.engine)))
        return own | {name: changes[f"integrator.{name}"] for name in own if f"integrator.{name}" in changes}

    def integrator(self, changes: Mapping[str, Value]) -> Integrator:
        """The integrator of ours, with those of its settings that the changes give.

        Raises:
            InputError: it is another engine, or a value is out of range.
        """
        if self.foreign is not None:
            raise InputError(f"{self.title} is no integrator of ours")
        return integrator_named(str(self.engine), **self.settings(changes))

    def run(
        self,
        experiment: Experiment,
        changes: Mapping[str, Value],
        progress: Progress | None = None,
        announce: Announce | None = None,
    ) -> Rollout:
        """One rollout; raises what ``experiments.engines.rollout.rollout`` raises."""
        return rollout(experiment, changes, self.engine, progress=progress, announce=announce)


def _variant(base: Contestant, engine: Engine) -> Contestant:
    """Named after the settings in which it differs."""
    assert base.foreign is not None
    other = base.foreign
    values = [
        str(getattr(engine, item.name))
        for item in fields(engine)  # type: ignore[arg-type]
        if getattr(engine, item.name) != getattr(other, item.name)
    ]
    return Contestant("-".join([base.label, *values]).lower(), " ".join([base.title, *values]), engine)


def contestant_named(name: str) -> Contestant:
    """An integrator of ours or an engine of this name, in settings that are as equal as can be.

    Raises:
        InputError: there is none of this name, or it is not installed.
    """
    if name in INTEGRATORS:
        return Contestant(name, f"ours ({name})", name)
    engine = engine_named(name)
    check_installed(engine)
    return Contestant(name, engine.title, engine)


def contestants_of(names: Sequence[str]) -> tuple[tuple[Contestant, ...], tuple[str, ...]]:
    """Those that can be used here, and a sentence about each that is not installed.

    Raises:
        InputError: a name is unknown or given twice, or none is left.
    """
    if not names or any(not name for name in names):
        raise InputError("--engines: it must be names with commas between them, such as recursive,mujoco")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"--engines: {', '.join(twice)} stands there twice")
    for name in names:
        if name not in INTEGRATORS:
            engine_named(name)
    found, missing = [], []
    for name in names:
        try:
            found.append(contestant_named(name))
        except InputError as error:
            missing.append(str(error))
    if not found:
        raise InputError("; ".join(missing))
    return tuple(found), tuple(missing)


def case_of(setup: Scene) -> Case:
    """What an engine is given of a setup."""
    acting = sorted_disturbances(setup.disturbances)
    impedance = None if setup.controller is None else setup.controller.impedance(setup.model)
    return Case(acting.with_payload(setup.model), setup.floor, setup.step, impedance or Impedance(), acting.throw)
