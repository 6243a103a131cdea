"""Groups of parameters that experiments share, and the objects that their values set up.

A parameter is named after the attribute of that object: ``fall.height`` is ``Fall.height``.
"""

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any, TypeVar

from biped.control.controller import Controller
from biped.errors import InputError
from biped.integrators import INTEGRATORS, Integrator, integrator_named, settings_of
from biped.model import Model
from biped.runs.state import State
from biped.simulation.scene import Scene
from biped.simulation.world import Fall
from experiments.catalogue.parameters.fields import field_parameters
from experiments.catalogue.parameters.initial import OURS
from experiments.catalogue.parameters.parameter import Parameter, Value, Values
from experiments.engines.engine_integrator import EngineIntegrator
from experiments.engines.registry import ENGINES, engine_address, engine_named, is_engine

T = TypeVar("T")


def _cached(group: str, make: Callable[[dict[str, Any]], T]) -> Callable[[Values], T]:
    """Return a function that makes an immutable object from a group's values, cached for the trials of a study."""
    made = lru_cache(maxsize=64)(lambda items: make(dict(items)))
    return lambda values: made(values.items_of(group))


fall_from = _cached("fall", lambda group: Fall(**group))


@cache
def _settings() -> dict[str, Parameter]:
    """Return the settings of all integrators; shared settings have the default of the first integrator."""
    settings: dict[str, Parameter] = {}
    for integrator in INTEGRATORS.values():
        settings = {p.name: p for p in field_parameters(integrator, "integrator", OURS)} | settings
    return settings


def integrator_defaults(changes: Mapping[str, Value]) -> dict[str, Value]:
    """Return the default settings of the integrator that the changes name; integrators may differ in them."""
    name = changes.get("integrator.name")
    if name not in INTEGRATORS:
        return {}
    return {f"integrator.{key}": value for key, value in settings_of(INTEGRATORS[str(name)]).items()}


class IntegratorName(Parameter):
    """Parameter that names an integrator or engine; files have their whole path, which is valid in any process."""

    def _word(self, value: Any) -> str:
        return engine_address(super()._word(value))


def integrator_parameters() -> tuple[Parameter, ...]:
    names = f"Integrator or engine: {', '.join((*INTEGRATORS, *ENGINES))}, or a scene file of MuJoCo"
    return (IntegratorName("integrator.name", "recursive", "", names, OURS), *_settings().values())


def _built_in_integrator(group: dict[str, Any]) -> Integrator:
    name = group.pop("name")
    known = settings_of(integrator_named(name))
    defaults = {parameter.name.partition(".")[2]: parameter.default for parameter in _settings().values()}
    settings = {key: group[key] for key, default in defaults.items() if key in known or group[key] != default}
    return integrator_named(name, **settings)


_built_in_integrator_from = _cached("integrator", _built_in_integrator)


def integrator_from(values: Values) -> Integrator:
    """Return an integrator, or an external engine in place of it, made anew for each run."""
    name = values.word("integrator.name")
    if not is_engine(name):
        return _built_in_integrator_from(values)
    engine = engine_named(name)
    for setting in _settings().values():
        if values[setting.name] != setting.default:
            raise InputError(f"{setting.name} is only for biped's integrators: leave it out for {engine.title}")
    return EngineIntegrator(engine)


def run_parameters(
    duration: float, step: float, recorded: str, source: str, step_source: str = OURS, extend: float = 0.0
) -> tuple[Parameter, ...]:
    return (
        Parameter("run.duration", duration, "s", "Simulated time", source),
        Parameter("run.step", step, "s", "Time step of the integrator; must divide the control period", step_source),
        Parameter("run.extend", extend, "s", "Longest extension of the run to find out whether the body falls", OURS),
        Parameter("run.record_every", 0.0, "s", f"Time between recorded rows; 0: {recorded}", OURS),
    )


def scene_from(
    values: Values, model: Model, state: State, controller: Controller | None = None, **fields: Any
) -> Scene:
    """Return a scene with the run and integrator of these values; without a controller it records every step."""
    step = values.number("run.step")
    return Scene(
        model=model, state=state, controller=controller, integrator=integrator_from(values),
        duration=values.number("run.duration"), step=step, extend=values.number("run.extend"),
        record_every=values.number("run.record_every") or (step if controller is None else None), **fields,
    )  # fmt: skip
