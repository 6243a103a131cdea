"""Reader of the table ``[model]`` of an identification: the closed-form model to fit."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from biped.identification import FrequencyResponse
from biped.model import Model
from biped.model.geometry import Vector3
from contact.arrays import Floats
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.studies.bounded import Bounded
from experiments.studies.config import Config
from experiments.studies.identification.model_fit import ERRORS, ModelFit, ResponseModel, check_fit, fit_response
from experiments.studies.identification.subject import double_pendulum_of, height_of, heights_of, pendulum_of

#: Choices for the axis of the floor's tilt, from which sway is measured, too.
SOLES, ANKLES = "soles", "ankles"


@dataclass(frozen=True)
class ModelToFit:
    """A closed-form model to fit to a frequency response, with its free parameters."""

    model: ResponseModel
    parameters: tuple[Bounded, ...]  # free parameters and their ranges
    error: str = ERRORS[0]

    def fitted(self, response: FrequencyResponse, seed: int) -> ModelFit:
        error: Any = self.error
        return fit_response(response, self.model, self.parameters, error=error, seed=seed)


def model_to_fit_from(
    config: Config,
    experiment: Experiment,
    fixed: Mapping[str, Value],
    stimulus: str,
    responses: Collection[str],
    place: tuple[str, Vector3] | None = None,
) -> ModelToFit | None:
    """Return the model in the table ``[model]``; None if the table is missing.

    Args:
        config: configuration of the study.
        experiment: experiment, from whose body properties are taken that the table does not set.
        fixed: changes of the experiment's parameters.
        stimulus: name of the stimulus in the model's ``response``.
        responses: names of the measured responses.
        place: body, and point [m] from its centre of mass, on which a force acts; None: the table sets ``height``.

    Raises:
        InputError: a name is wrong, or a parameter is missing.
    """
    if "model" not in config:
        return None
    table = config.table("model")
    model, q = config.within(lambda: _stance(experiment, fixed), "set")
    of_two = table.data.get("name") == "double-pendulum"
    body = double_pendulum_of if of_two else pendulum_of
    about = table.word("about", SOLES, (SOLES, ANKLES))
    height = 0.0
    if place is not None:
        on_trunk, height = table.within(lambda: height_of(model, q, *place, above_hips=of_two))
        stimulus = "push_trunk" if on_trunk else "push_leg"
    to_fit = _model_from(table, table.within(lambda: body(model, q)), stimulus, height)
    if about == SOLES:
        to_fit = replace(to_fit, model=replace(to_fit.model, soles=heights_of(model, q)))
    config.within(lambda: check_fit(to_fit.model, to_fit.parameters, responses), "model")
    return to_fit


def _stance(experiment: Experiment, fixed: Mapping[str, Value]) -> tuple[Model, Floats]:
    """Return the experiment's model, and the configuration q in which it stands."""
    scene = experiment.build(fixed)
    if scene.state is not None:
        return scene.model, scene.state.q
    law = scene.controller
    q = None if law is None else law.initial_configuration(scene.model, scene.floor)
    return scene.model, scene.model.neutral() if q is None else q


def _model_from(table: Config, body: Mapping[str, float], stimulus: str, height: float) -> ModelToFit:
    """Return the model in the table ``[model]``.

    Args:
        table: table with ``name``, ``error``, ``responses``, ``set``, ``parameter`` and ``height``.
        body: properties of the body, used for parameters that the table does not set.
        stimulus: name of the stimulus.
        height: [m] height at which a force acts, used if the table does not set it.
    """
    name, error = table.word("name"), table.word("error", ERRORS[0], ERRORS)
    fixed = table.table("set", {})
    values = {key: fixed.get(key, float) for key in fixed.data}
    responses = table.table("responses", {})
    named = {key: responses.word(key) for key in responses.data} or {"sway": "sway"}
    parameters = tuple(item.make(Bounded, name=item.word("name")) for item in table.tables("parameter"))
    is_missing = height == 0.0 and "height" not in table.data
    height = table.get("height", float, height)
    if stimulus.startswith("push") and is_missing and name == "independent-channels":
        raise table.error("height is missing: the height [m] above the ankles at which the force acts", "name")
    given = {parameter.name for parameter in parameters} | values.keys()
    known_of_body = {key: value for key, value in body.items() if key not in given}
    model = table.within(lambda: ResponseModel(name, {**known_of_body, **values}, stimulus, named, height))
    return ModelToFit(model, parameters, error)
