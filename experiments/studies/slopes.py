"""Derivatives of a trial's metrics by the varied parameters, as part of its result."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from biped.derivatives.gradients import Differentiator, Effect, Parameter, effect_of
from biped.errors import InputError
from biped.simulation.scene import Scene
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.studies.failures import Result
from experiments.studies.tuning.design_variable import DesignVariable, changes_of

#: Key in a result: reason why a trial has no derivatives; empty if it has.
NO_GRADIENT = "no_gradient"
#: Number of cached effects of parameters, each equal for all trials of a candidate.
MOST_KEPT = 64


@dataclass(frozen=True)
class Slopes:
    """Metrics of a trial to differentiate, and the variables."""

    #: weighted sums of metrics by name; each takes a backward pass
    sums: Mapping[str, Mapping[str, float]]
    variables: tuple[DesignVariable, ...]  # variables of the derivatives
    point: Mapping[str, float]  # values of the variables
    base: Mapping[str, Value]  # values of all other parameters


@dataclass(frozen=True)
class SlopeTerm:
    """A metric's part in a sum."""

    called: str  # name of the sum
    metric: str  # name of the metric
    weight: float  # weight of the metric
    scenarios: tuple[str, ...]  # names or patterns of the scenarios in which it counts


def sums_in(terms: Sequence[SlopeTerm], scenario: str) -> dict[str, dict[str, float]]:
    """Return the sums of metrics for a trial of a scenario."""
    found: dict[str, dict[str, float]] = {}
    for term in terms:
        if any(fnmatchcase(scenario, one) for one in term.scenarios):
            own = found.setdefault(term.called, {})
            own[term.metric] = own.get(term.metric, 0.0) + term.weight
    return found


def column(called: str, variable: str) -> str:
    """Return the key of a derivative in a result."""
    return f"slope of {called} by {variable}"


def slopes_of(experiment: Experiment, changes: Mapping[str, Value], wanted: Slopes, scene: Scene) -> Result:
    """Return the derivatives of a trial; if it has none, only the reason.

    A trial that fell has none, nor one whose controller or integrator cannot be differentiated.
    """
    try:
        parameters = [_parameter(experiment, changes, wanted, variable) for variable in wanted.variables]
        effect = _effect(experiment, changes, wanted, scene, parameters)
        differentiator = Differentiator(scene, parameters, effect)
        found: Result = {NO_GRADIENT: ""}
        for called, terms in wanted.sums.items():
            slopes = differentiator.of(terms).slopes.tolist()
            found |= {column(called, one.name): slope for one, slope in zip(parameters, slopes, strict=True)}
        return found
    except InputError as error:
        return {NO_GRADIENT: str(error)}


def _parameter(
    experiment: Experiment, changes: Mapping[str, Value], wanted: Slopes, variable: DesignVariable
) -> Parameter:
    return Parameter(variable.name, wanted.point[variable.name], _scene_at(experiment, changes, wanted, variable.name))


def _scene_at(
    experiment: Experiment, changes: Mapping[str, Value], wanted: Slopes, name: str
) -> Callable[[float], Scene]:
    def scene_at(value: float) -> Scene:
        moved = changes_of(wanted.variables, {**wanted.point, name: value}, wanted.base)
        return experiment.build({**changes, **moved})

    return scene_at


_effects: dict[object, Effect] = {}
_access = threading.Lock()


def _keep(key: object, effect: Effect) -> None:
    with _access:
        _effects[key] = effect
        while len(_effects) > MOST_KEPT:
            del _effects[next(iter(_effects))]


def _effect(
    experiment: Experiment, changes: Mapping[str, Value], wanted: Slopes, scene: Scene, parameters: list[Parameter]
) -> Effect:
    """Return the parameters' effect on the controller, computed once for all trials of a candidate if possible."""
    own = (experiment.address, experiment.controller, experiment.robot), wanted.variables, tuple(wanted.point.items())
    controller = [(name, value) for name, value in changes.items() if name.startswith("controller")]
    key = own, frozenset(controller), frozenset(wanted.base.items())
    with _access:
        known = _effects.get(key)
    if known is None:
        known = effect_of(scene, parameters)
        if not any(known.plant):
            _keep(key, known)
    return known
