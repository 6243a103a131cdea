"""Groups of parameters that experiments share: each group's table, and the object its values go into.

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
from experiments.catalogue.parameters.initial import OURS
from experiments.catalogue.parameters.parameter import Parameter, Value, Values
from experiments.engines.engine_integrator import EngineIntegrator
from experiments.engines.registry import ENGINES, engine_named

T = TypeVar("T")


def _kept(group: str, make: Callable[[dict[str, Any]], T]) -> Callable[[Values], T]:
    """A function that makes an object of a group's values, immutable, and one object for most trials of a study."""
    made = lru_cache(maxsize=64)(lambda items: make(dict(items)))
    return lambda values: made(values.items_of(group))


def fall_parameters(fall: Fall, root: str) -> tuple[Parameter, ...]:
    return (
        Parameter("fall.height", fall.height, "m", f"the {root}'s centre of mass below it: fallen", OURS),
        Parameter("fall.tilt", fall.tilt, "rad", f"the {root} farther from upright: fallen", OURS),
        Parameter("fall.joint_rate", fall.joint_rate, "rad/s", "a joint faster: control is lost", OURS),
    )


fall_from = _kept("fall", lambda group: Fall(**group))


#: Unit and meaning of every setting that some integrator has.
_SETTINGS = {
    "tolerance": ("N·s", "norm of a step's residual to reach"),
    "max_iterations": ("", "iterations before a step is halved"),
    "max_backtracks": ("", "halvings of an iteration's step before it is given up"),
    "max_halvings": ("", "a step is retried in 2, 4, … parts, two to this power at most"),
    "landing_depth": ("m", "retried too if a landing point ends it deeper; inf: never"),
    "complementarity": ("N·s·m", "of rigid contact: greatest product of a gap, or a sliding way, with its impulse"),
    "directions": ("", "of rigid contact: sides of the pyramid of friction, an even number; 0: the true cone"),
    "restitution": ("", "of rigid contact: the part of its speed that what lands leaves with, from 0 to 1"),
    "touching": ("", "of rigid contact: points, or body: trunk, hands, legs too"),
    "body_friction": ("", "of rigid contact: coefficient of friction between bodies"),
    "guess": ("", "where the search of a step starts: extrapolation, current, euler or dynamics"),
    "alpha": ("", "of the midpoint rule: where in the step the Lagrangian is taken, 0.5: in its middle"),
    "scheme": ("", "of a composition: the lengths of its parts"),
    "base": ("", "of a composition: the integrator that its parts are steps of"),
    "relative_tolerance": ("", "of each number of a step with error control"),
    "absolute_tolerance": ("", "the same where the number is near zero, in its SI unit"),
}


@cache
def _settings() -> dict[str, Value]:
    """The settings of all integrators; a name has the same meaning in all, and the default of the first that has it."""
    found: dict[str, Value] = {}
    for integrator in INTEGRATORS.values():
        found = settings_of(integrator) | found
    return found


def own_settings(changes: Mapping[str, Value]) -> dict[str, Value]:
    """The settings' defaults of the integrator that the changes name: they may differ between integrators."""
    name = changes.get("integrator.name")
    if name not in INTEGRATORS:
        return {}
    return {f"integrator.{key}": value for key, value in settings_of(INTEGRATORS[str(name)]).items()}


def integrator_parameters() -> tuple[Parameter, ...]:
    return (
        Parameter("integrator.name", "recursive", "", f"one of: {', '.join((*INTEGRATORS, *ENGINES))}", OURS),
        *(
            Parameter(f"integrator.{name}", default, *_SETTINGS[name], OURS, may_be_infinite=name == "landing_depth")
            for name, default in _settings().items()
        ),
    )


def _own_integrator(group: dict[str, Any]) -> Integrator:
    name = group.pop("name")
    known = settings_of(integrator_named(name))
    wanted = {key: group[key] for key, default in _settings().items() if key in known or group[key] != default}
    return integrator_named(name, **wanted)


_own_integrator_from = _kept("integrator", _own_integrator)


def integrator_from(values: Values) -> Integrator:
    """An integrator of ours, or an engine in its place: that is made anew for each run."""
    name = values.word("integrator.name")
    if name not in ENGINES:
        return _own_integrator_from(values)
    engine = engine_named(name)
    for key, default in _settings().items():
        if values[f"integrator.{key}"] != default:
            raise InputError(f"integrator.{key} is a setting of our integrators: {engine.title} has none")
    return EngineIntegrator(engine)


def run_parameters(
    duration: float, step: float, recorded: str, source: str, step_source: str = OURS, extend: float = 0.0
) -> tuple[Parameter, ...]:
    return (
        Parameter("run.duration", duration, "s", "time to simulate", source),
        Parameter("run.step", step, "s", "of the integrator; divides a controller's period", step_source),
        Parameter("run.extend", extend, "s", "Longest extension while the end leaves open whether it falls", OURS),
        Parameter("run.record_every", 0.0, "s", f"between recorded rows; 0: {recorded}", OURS),
    )


def scene_from(
    values: Values, model: Model, state: State, controller: Controller | None = None, **others: Any
) -> Scene:
    """The scene with the run and the integrator of these values; without a controller every step is recorded."""
    step = values.number("run.step")
    return Scene(
        model=model, state=state, controller=controller, integrator=integrator_from(values),
        duration=values.number("run.duration"), step=step, extend=values.number("run.extend"),
        record_every=values.number("run.record_every") or (step if controller is None else None), **others,
    )  # fmt: skip
