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
#: Weighting of errors: divided by the response's standard deviation over cycles, which gives the likeliest parameters;
#: divided by the response's size; or the difference of logarithms, which separates gain and phase.
ERRORS = ("deviation", "relative", "log")
#: Number of starts in addition to the middle of the ranges.
STARTS = 7


@dataclass(frozen=True)
class ResponseModel:
    """A closed-form model of the frequency response to a stimulus, with the parameters that are not fitted.

    Attributes:
        name: name of the model, one of ``MODELS``.
        known: values of the parameters that are not fitted.
        stimulus: kind of stimulus that the model's method ``response`` accepts, such as ``"tilt"``, ``"translation"``.
        response: names of the measured responses, each with the name of the model's response.
        height: [m] height at which a force acts: above the ankles, or above the hips if it acts on the double
            pendulum's trunk.
        soles: [m] heights of the ankles above the soles and of the CoM above the ankles, if the angles of tilt and
            sway are about the soles; None if they are about the ankles.

    Raises:
        InputError: the model, or a parameter in ``known``, does not exist.
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
        """Raise InputError if the model has no parameter of this name."""
        names = [field.name for field in dataclasses.fields(MODELS[self.name])]
        if name not in names:
            hint = did_you_mean(name, names)
            raise InputError(f"model {self.name} has no parameter {name!r}: {hint}parameters are {', '.join(names)}")

    def unit(self, name: str) -> str:
        """Return the unit of a parameter."""
        units = {field.name: field.metadata.get("unit", "1") for field in dataclasses.fields(MODELS[self.name])}
        return str(units[name])

    def at(self, values: Mapping[str, float]) -> IndependentChannels | DoublePendulum:
        """Return the model with fitted ``values``; raises InputError if a parameter is missing or out of range."""
        given = {**self.known, **values}
        needed = [field.name for field in dataclasses.fields(MODELS[self.name]) if _is_needed(field)]
        if missing := [name for name in needed if name not in given]:
            raise InputError(f"{self.name}: the parameter {missing[0]} is neither set nor fitted: do one of them")
        return MODELS[self.name](**given)

    def values(self, values: Mapping[str, float], frequencies: Floats) -> dict[str, Complexes]:
        """Return the complex response (k,) at ``frequencies`` [Hz], by name of the measured response."""
        model = self.at(values)
        responses = self._about_ankles(model, frequencies, self.stimulus)
        if self.soles is not None:
            ankles, lever = self.soles
            tilts = self.stimulus == "tilt"
            if tilts:  # tilt about the soles also moves the ankles
                shifted = self._about_ankles(model, frequencies, "translation")
                responses = {name: tilted + ankles * shifted[name] for name, tilted in responses.items()}
            responses["sway"] = (lever * responses["sway"] + ankles * tilts) / (lever + ankles)
        for name, modelled in self.response.items():
            if modelled not in responses:
                raise InputError(f"{name}: {self.name} has no response {modelled!r}; it has {', '.join(responses)}")
        return {name: responses[modelled] for name, modelled in self.response.items()}

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
    """Result of a fit of a model to a frequency response.

    Attributes:
        model: model, with the parameters that were not fitted.
        error: weights of the deviations from the measurement, one of ``ERRORS``.
        estimate: values, intervals and correlation of the fitted parameters.
        notes: sentences on parameters that are poorly identifiable, or at a bound of their range.
    """

    model: ResponseModel
    error: str
    estimate: Estimate
    notes: tuple[str, ...]

    def values(self, frequencies: Floats) -> dict[str, Complexes]:
        """Return the complex response (k,) of the fitted model at ``frequencies`` [Hz], by name of the response."""
        return self.model.values(self.estimate.values, frequencies)

    @property
    def as_json(self) -> dict[str, Any]:
        """Model, values, intervals, correlation and notes, of types that JSON has."""
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
    measured: FrequencyResponse,
    model: ResponseModel,
    parameters: Sequence[Bounded],
    *,
    error: Literal["deviation", "relative", "log"] = "deviation",
    seed: int = 0,
) -> ModelFit:
    """Fit a model's parameters to a measured response, and return the best fit from several starts.

    Args:
        measured: measured response.
        model: model, with the parameters that are not fitted.
        parameters: fitted parameters and their ranges.
        error: weights of the deviations from the measurement: ``"deviation"``, by its standard deviation over cycles
            and the correlation of responses; ``"relative"``, by its magnitude; ``"log"``, differences of logarithms.
        seed: seed of the random starts.

    Raises:
        InputError: a name is wrong, there are too few frequencies, or ``"deviation"`` needs more cycles.
    """
    check_fit(model, parameters, measured.values)
    weigh = _weighed(measured, list(model.response), error)

    def residuals(parts: Floats) -> Floats:
        return np.stack([residuals_at(row) for row in parts])

    def residuals_at(row: Floats) -> Floats:
        values = {p.name: p.from_unit(float(part)) for p, part in zip(parameters, row, strict=True)}
        raw = model.values(values, measured.excited)
        modelled = np.stack([measured.averaged(raw[name]) for name in model.response], axis=1)
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
    """Raise InputError unless a model can be fitted to responses with the names in ``measured``."""
    for parameter in parameters:
        model.check(parameter.name)
        if parameter.name in model.known:
            raise InputError(f"{parameter.name} is both set and fitted: leave one of them out")
    if not parameters:
        raise InputError("no parameter of the model is fitted: name one or more, with their ranges")
    measured = list(measured)
    for name in model.response:
        if name not in measured:
            raise InputError(f"no response {name!r} was measured; measured responses are {', '.join(measured)}")
    model.values({parameter.name: parameter.from_unit(0.5) for parameter in parameters}, np.ones(1))


def _weighed(response: FrequencyResponse, names: Sequence[str], error: str) -> Any:
    """Return a function from modelled values (k, r) to weighted residuals (2 k r,), real and imaginary parts."""
    measured = np.stack([response.values[name] for name in names], axis=1)
    if error == "deviation":
        if response.covariance is None:
            raise InputError("error = deviation needs two or more cycles: set error to relative or log")
        places = [list(response.values).index(name) for name in names]
        covariance = response.covariance[:, places][:, :, places]
        try:
            factor = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:
            message = "error = deviation needs cycles and responses that differ: set error to relative or log"
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
