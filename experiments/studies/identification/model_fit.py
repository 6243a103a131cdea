"""Closed-form models fitted to frequency responses, and the identifiability of their parameters."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from biped.errors import InputError
from biped.identification import DoublePendulum, FrequencyResponse, IndependentChannels
from biped.inputs.checks import integer
from contact.arrays import Floats
from contact.errors import did_you_mean
from experiments.studies.bounded import Bounded
from experiments.studies.fitting.estimate import Estimate, Problem, estimate
from experiments.studies.fitting.identifiability import at_bounds, sentences

if TYPE_CHECKING:
    from biped.metrics.fourier import Complexes

MODELS: dict[str, type[IndependentChannels] | type[DoublePendulum]] = {
    "independent-channels": IndependentChannels,
    "double-pendulum": DoublePendulum,
}
#: Weighting of errors: by the response's deviation, from the scatter of its cycles, which gives the likeliest
#: parameters; by its size; or the difference of logarithms, for gain and phase separately.
ERRORS = ("deviation", "relative", "log")
#: Number of starts in addition to the middle of the ranges.
STARTS = 7


@dataclass(frozen=True)
class ResponseModel:
    """A closed-form model with some parameters known.

    Attributes:
        name: one of ``MODELS``.
        known: values of parameters that are not fitted.
        stimulus: name of the stimulus in the model's ``response``.
        response: the model's response by the name of each measured one; ``sway`` if not given.
        height: [m] height of a force above the ankles, or, on the double pendulum's trunk, above its hips.
        soles: [m] heights of the ankles above the soles and of the CoM above the ankles, if tilt and sway are about
            the soles; None if both are about the ankles.

    Raises:
        InputError: there is no such model or parameter.
    """

    name: str
    known: Mapping[str, float]
    stimulus: Any = "tilt"
    response: Mapping[str, str] = dataclasses.field(default_factory=lambda: {"sway": "sway"})
    height: float = 0.0
    soles: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.name not in MODELS:
            raise InputError(f"model = {self.name!r}: {did_you_mean(self.name, MODELS)}models are {', '.join(MODELS)}")
        for name in self.known:
            self.check(name)

    def check(self, name: str) -> None:
        """Raise InputError if there is no parameter of this name."""
        names = [field.name for field in dataclasses.fields(MODELS[self.name])]
        if name not in names:
            raise InputError(
                f"{self.name} has no {name!r}: {did_you_mean(name, names)}its parameters are {', '.join(names)}"
            )

    def unit(self, name: str) -> str:
        """Return the unit of a parameter."""
        units = {field.name: field.metadata.get("unit", "1") for field in dataclasses.fields(MODELS[self.name])}
        return str(units[name])

    def at(self, values: Mapping[str, float]) -> IndependentChannels | DoublePendulum:
        """Return the model with all parameters; raises InputError if one is missing or out of range."""
        given = {**self.known, **values}
        needed = [field.name for field in dataclasses.fields(MODELS[self.name]) if _is_needed(field)]
        if missing := [name for name in needed if name not in given]:
            raise InputError(f"{self.name}: {missing[0]} is neither set nor fitted")
        return MODELS[self.name](**given)

    def values(self, values: Mapping[str, float], frequencies: Floats) -> dict[str, Complexes]:
        """Return a dict: name of the measured response → complex values (k,) at ``frequencies`` [Hz]."""
        model = self.at(values)
        found = self._about_ankles(model, frequencies, self.stimulus)
        if self.soles is not None:
            ankles, lever = self.soles
            tilts = self.stimulus == "tilt"
            if tilts:  # it takes the ankles along
                shifted = self._about_ankles(model, frequencies, "translation")
                found = {name: own + ankles * shifted[name] for name, own in found.items()}
            found["sway"] = (lever * found["sway"] + ankles * tilts) / (lever + ankles)
        for name, own in self.response.items():
            if own not in found:
                raise InputError(f"{self.name} has no response {own!r} for {name}: it has {', '.join(found)}")
        return {name: found[own] for name, own in self.response.items()}

    def _about_ankles(
        self, model: IndependentChannels | DoublePendulum, frequencies: Floats, stimulus: Any
    ) -> dict[str, Complexes]:
        if isinstance(model, IndependentChannels):
            if stimulus in ("push_leg", "push_trunk"):
                return {"sway": self.height * model.response(frequencies, "torque")}
            return {"sway": model.response(frequencies, stimulus)}
        return model.response(frequencies, stimulus, self.height)


def _is_needed(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


@dataclass(frozen=True)
class ModelFit:
    """A model fitted to a response.

    Attributes:
        model: fitted model.
        error: weighting of the errors, one of ``ERRORS``.
        estimate: values, intervals and correlation.
        notes: sentences on poorly identifiable parameters.
    """

    model: ResponseModel
    error: str
    estimate: Estimate
    notes: tuple[str, ...]

    def values(self, frequencies: Floats) -> dict[str, Complexes]:
        """Return values (k,) of the fitted model at frequencies [Hz]."""
        return self.model.values(self.estimate.values, frequencies)

    @property
    def as_json(self) -> dict[str, Any]:
        """Values, intervals, correlation, and sentences on poorly identifiable parameters."""
        table = self.estimate.table
        table.insert(1, "unit", [self.model.unit(name) for name in table["parameter"]])
        return {
            "model": self.model.name,
            "error": self.error,
            "known": dict(self.model.known),
            "parameters": table.to_dict("records"),
            "correlation": self.estimate.correlation.to_dict(),
            "residual_deviation": math.sqrt(self.estimate.spread.variance),
            "converged": self.estimate.converged,
            "notes": list(self.notes),
        }


def fit_response(
    found: FrequencyResponse,
    model: ResponseModel,
    parameters: Sequence[Bounded],
    *,
    error: Literal["deviation", "relative", "log"] = "deviation",
    seed: int = 0,
) -> ModelFit:
    """Fit a model's parameters to a measured response, from the best of several starts.

    Args:
        found: measured response.
        model: model with its known parameters.
        parameters: fitted parameters and their ranges.
        error: one of ``ERRORS``. Weighting by deviation includes the correlation of several responses.
        seed: seed of the starts.

    Raises:
        InputError: a name is wrong, the responses have no deviation, or there are too few frequencies.
    """
    check_fit(model, parameters, found.values)
    weigh = _weighed(found, list(model.response), error)
    names = [one.name for one in parameters]

    def residuals(parts: Floats) -> Floats:
        return np.stack([one_set(row) for row in parts])

    def one_set(row: Floats) -> Floats:
        values = {name: one.from_unit(float(part)) for name, one, part in zip(names, parameters, row, strict=True)}
        raw = model.values(values, found.excited)
        modelled = np.stack([found.averaged(raw[name]) for name in model.response], axis=1)
        return weigh(modelled)

    starts = np.vstack(
        [
            np.full((1, len(parameters)), 0.5),
            np.random.default_rng(integer(seed, "seed")).uniform(0.1, 0.9, (STARTS, len(parameters))),
        ]
    )
    best = estimate(Problem(list(parameters), residuals), starts)
    return ModelFit(model, error, best, (*at_bounds(best), *sentences(best)))


def check_fit(model: ResponseModel, parameters: Sequence[Bounded], measured: Iterable[str]) -> None:
    """Raise InputError if a fit to measured responses has a wrong name or lacks a parameter."""
    for one in parameters:
        model.check(one.name)
        if one.name in model.known:
            raise InputError(f"{one.name} is both set and fitted: leave one of them out")
    if not parameters:
        raise InputError("no parameter of the model is to be fitted: name one, and its range")
    measured = list(measured)
    for name in model.response:
        if name not in measured:
            raise InputError(f"no response {name!r} was measured; there are {', '.join(measured)}")
    model.values({one.name: one.from_unit(0.5) for one in parameters}, np.ones(1))


def _weighed(found: FrequencyResponse, names: Sequence[str], error: str) -> Any:
    """Return a function from modelled values (k, r) to weighted residuals (2 k r,), real and imaginary parts."""
    measured = np.stack([found.values[name] for name in names], axis=1)
    if error == "deviation":
        if found.covariance is None:
            raise InputError("a single cycle has no deviation to weight errors by: set error = relative or log")
        places = [list(found.values).index(name) for name in names]
        covariance = found.covariance[:, places][:, :, places]
        try:
            factor = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:
            message = "the responses of all cycles are equal, or two responses are: set error = relative or log"
            raise InputError(message) from None
        # Real and imaginary part have half of the variance each.
        return lambda modelled: _parts(math.sqrt(2.0) * np.linalg.solve(factor, (measured - modelled)[:, :, None]))
    if error == "relative":
        return lambda modelled: _parts((measured - modelled) / np.abs(measured))
    if error == "log":
        return lambda modelled: _parts(np.log(measured / modelled))
    raise InputError(f"error = {error!r}: it must be one of {', '.join(ERRORS)}")


def _parts(values: NDArray[Any]) -> Floats:
    return np.concatenate([values.real.ravel(), values.imag.ravel()])
