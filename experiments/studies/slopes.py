"""Derivatives of a trial's metrics with respect to the varied parameters, as part of the trial's result."""

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

#: Key in a result: reason why a trial has no derivatives; empty if it has them.
NO_GRADIENT = "no_gradient"
#: Largest number of cached effects of parameters; all trials of a candidate share one.
MOST_KEPT = 64


@dataclass(frozen=True)
class Slopes:
    """Metrics of a trial to differentiate, and the variables."""

    #: by the name of a sum: the weights of metrics, by metric; each sum takes a backward pass
    sums: Mapping[str, Mapping[str, float]]
    variables: tuple[DesignVariable, ...]  # variables with respect to which the sums are differentiated
    point: Mapping[str, float]  # values of the variables
    base: Mapping[str, Value]  # values of all other parameters


@dataclass(frozen=True)
class SlopeTerm:
    """A metric as a term of a weighted sum."""

    called: str  # name of the sum
    metric: str  # name of the metric
    weight: float  # weight of the metric
    scenarios: tuple[str, ...]  # names or patterns of the scenarios in which it counts


def sums_in(terms: Sequence[SlopeTerm], scenario: str) -> dict[str, dict[str, float]]:
    """Return the weights of metrics in each sum, by sum and metric, for a trial of a scenario."""
    sums: dict[str, dict[str, float]] = {}
    for term in terms:
        if any(fnmatchcase(scenario, pattern) for pattern in term.scenarios):
            weights = sums.setdefault(term.called, {})
            weights[term.metric] = weights.get(term.metric, 0.0) + term.weight
    return sums


def column(called: str, variable: str) -> str:
    """Return the key of a derivative in a result."""
    return f"slope of {called} by {variable}"


def slopes_of(experiment: Experiment, changes: Mapping[str, Value], request: Slopes, scene: Scene) -> Result:
    """Return the derivatives of a trial as entries of its result, or only the reason why it has none.

    A trial has none if it fell, or if its controller or integrator cannot be differentiated.
    """
    try:
        parameters = [_parameter(experiment, changes, request, variable) for variable in request.variables]
        effect = _effect(experiment, changes, request, scene, parameters)
        differentiator = Differentiator(scene, parameters, effect)
        entries: Result = {NO_GRADIENT: ""}
        for called, terms in request.sums.items():
            slopes = differentiator.of(terms).slopes.tolist()
            entries |= {column(called, p.name): slope for p, slope in zip(parameters, slopes, strict=True)}
        return entries
    except InputError as error:
        return {NO_GRADIENT: str(error)}


def _parameter(
    experiment: Experiment, changes: Mapping[str, Value], request: Slopes, variable: DesignVariable
) -> Parameter:
    scene_at = _scene_at(experiment, changes, request, variable.name)
    return Parameter(variable.name, request.point[variable.name], scene_at)


def _scene_at(
    experiment: Experiment, changes: Mapping[str, Value], request: Slopes, name: str
) -> Callable[[float], Scene]:
    def scene_at(value: float) -> Scene:
        moved = changes_of(request.variables, {**request.point, name: value}, request.base)
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
    experiment: Experiment, changes: Mapping[str, Value], request: Slopes, scene: Scene, parameters: list[Parameter]
) -> Effect:
    """Return the parameters' effect on the controller, computed once for all trials of a candidate if possible."""
    names = experiment.address, experiment.controller, experiment.robot
    controller = [(name, value) for name, value in changes.items() if name.startswith("controller")]
    candidate = request.variables, tuple(request.point.items()), frozenset(request.base.items())
    key = names, candidate, frozenset(controller)
    with _access:
        known = _effects.get(key)
    if known is None:
        known = effect_of(scene, parameters)
        if not any(known.plant):
            _keep(key, known)
    return known
