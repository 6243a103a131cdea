"""An identification: trials of an experiment on a floor that moves periodically, and their frequency responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from biped.disturbances import Platform
from biped.errors import InputError
from biped.identification import FrequencyResponse, Spectra, response_of
from biped.identification.intervals import check_intervals
from biped.identification.spectra import bins_of
from biped.model import Model
from biped.signals import Signal
from contact.arrays import Floats
from contact.errors import did_you_mean
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.studies.bounded import Bounded
from experiments.studies.config import Config
from experiments.studies.identification.cycles import STIMULUS, Cycles, spectra_from
from experiments.studies.identification.model_fit import ERRORS, ModelFit, ResponseModel, check_fit, fit_response
from experiments.studies.identification.subject import double_pendulum_of, heights_of, pendulum_of
from experiments.studies.store.measured import trace_units
from experiments.studies.study_kind import Evaluate
from experiments.studies.sweep.sweep import Sweep
from experiments.studies.trial import Trial

#: By the axis of the platform that moves: the column that is the stimulus, and the one that sways.
COLUMNS = {
    "pitch": ("floor_tilt_y", "sway_y"), "roll": ("floor_tilt_x", "sway_x"),
    "x": ("floor_x", "sway_y"), "y": ("floor_y", "sway_x"),
}  # fmt: skip
#: What it is to a closed-form model.
MOVES = {"pitch": "tilt", "x": "translation"}


@dataclass(frozen=True)
class Averaging:
    """How responses are averaged, and what their intervals are of; as ``biped.identification.response_of`` takes it."""

    over: str = "cycles"
    confidence: float = 0.95
    resamples: int = 1000

    def __post_init__(self) -> None:
        check_intervals(self.over, self.confidence, self.resamples)

    def response(self, spectra: Spectra, per_decade: float | None, seed: int) -> FrequencyResponse:
        over: Any = self.over
        return response_of(
            spectra, per_decade=per_decade, over=over, confidence=self.confidence, resamples=self.resamples, seed=seed
        )


@dataclass(frozen=True)
class Wanted:
    """The model that is fitted, if one is."""

    model: ResponseModel
    parameters: tuple[Bounded, ...]
    error: str = ERRORS[0]

    def fitted(self, found: FrequencyResponse, seed: int) -> ModelFit:
        error: Any = self.error
        return fit_response(found, self.model, self.parameters, error=error, seed=seed)


@dataclass(frozen=True)
class Identified:
    """The findings of an identification."""

    response: FrequencyResponse
    fit: ModelFit | None
    trials: int  # that were run
    left_out: int = 0  # of them, as they fell or failed


@dataclass(frozen=True)
class Identification(Sweep):
    """Trials on a floor that moves periodically: a sweep that varies nothing, of replicas."""

    cycles: Cycles | None = None
    averaging: Averaging = Averaging()
    per_decade: float | None = None
    wanted: Wanted | None = None
    units_of_columns: Mapping[str, str] = None  # type: ignore[assignment]  # of stimulus and responses
    kind = "identify"

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, Any]) -> Identification:
        return identification_from(Config(configuration))

    def trials(self) -> list[Trial]:
        return [replace(trial, reads=self.cycles) for trial in super().trials()]

    def find(self, evaluate: Evaluate) -> Identified:  # type: ignore[override]
        assert self.cycles is not None
        results = evaluate(self.trials())
        found = [spectra_from(results[number], self.cycles, self.units_of_columns) for number in sorted(results)]
        there = [spectra for spectra in found if spectra is not None]
        if not there:
            first = results[min(results)]
            raise InputError(
                f"none of {len(found)} trials stood through all cycles; the first: {first['verdict']} "
                f"({first['message'] or first['reason']}); move the floor less, or let its law be a stronger one"
            )
        response = self.averaging.response(Spectra.joined(there), self.per_decade, self.seed)
        fit = None if self.wanted is None else self.wanted.fitted(response, self.seed)
        return Identified(response, fit, len(found), len(found) - len(there))

    def run(self, study: Any, evaluate: Evaluate, say: Any) -> Identified:  # type: ignore[override]
        return self.find(evaluate)


def identification_from(config: Config) -> Identification:
    """An identification from its configuration; raises InputError if something in it is wrong."""
    experiment = config.experiment()
    seed = config.whole("seed", 0)
    fixed = dict(config.table("set", {}).changes(experiment))
    table = config.table("identify")
    trials, per_decade = table.whole("trials", 1, least=1), table.get("per_decade", float, 0.0) or None
    rate, averaging = table.get("rate", float, 50.0), table.make(Averaging)
    signal = config.within(lambda: _signal(experiment, fixed), "set")
    axis = str(fixed.get("platform.axis", experiment.parameter("platform.axis").default))
    cycles = _cycles_from(table, signal, rate, axis)
    lasts = (cycles.skip + cycles.count) * cycles.period
    fixed |= {
        "platform.duration": lasts + 2.0 * signal.fade, "run.duration": cycles.begin + lasts,
        "run.record_every": 1.0 / rate,
    }  # fmt: skip
    units = _units(table, config.within(lambda: trace_units(experiment, fixed), "set"), cycles)
    wanted = _model_from(config, experiment, fixed, axis)
    if wanted is not None:
        config.within(lambda: check_fit(wanted.model, wanted.parameters, cycles.responses), "model")
    config.finish()
    found = Identification(
        experiment, fixed, (), trials, seed, None, config.data, cycles=cycles, averaging=averaging,
        per_decade=per_decade, wanted=wanted, units_of_columns=units,
    )  # fmt: skip
    config.within(lambda: replace(experiment.build(found.trials()[0].changes), settle=None).prepare(), "set")
    return found


def _cycles_from(table: Config, signal: Signal, rate: float, axis: str) -> Cycles:
    """The cycles, after the stimulus has faded in."""
    count, skip = table.whole("cycles", least=1), table.whole("skip", 1)
    period, highest = table.get("period", float, 0.0) or 1.0 / min(signal.frequencies), table.get("highest", float, 3.0)
    frequencies = tuple(frequency for frequency in signal.frequencies if frequency <= highest)
    if not frequencies:
        raise table.error(
            f"highest = {highest:g} Hz: the floor moves from {min(signal.frequencies):g} Hz on", "highest"
        )
    table.within(lambda: bins_of(period, frequencies))
    if not rate > 2.0 * max(frequencies):
        raise table.error(f"rate = {rate:g} Hz: it must be more than twice {max(frequencies):g} Hz", "rate")
    stimulus, sway = COLUMNS[axis]
    responses = table.table("responses", {})
    named = {name: responses.word(name) for name in responses.data} or {"sway": sway}
    begin = signal.begins + signal.fade
    return Cycles(table.word("stimulus", stimulus), named, period, frequencies, begin, skip, count)


def _units(table: Config, known: Mapping[str, str], cycles: Cycles) -> dict[str, str]:
    """Of stimulus and responses; raises InputError where a run has no such column."""
    units = {}
    for name, column in {STIMULUS: cycles.stimulus, **cycles.responses}.items():
        plain = column.removeprefix("-")
        if plain not in known:
            where = "columns are those of a run, such as angle_left_ankle_pitch, and of biped.metrics.series"
            raise table.error(f"there is no column {plain!r}; {did_you_mean(plain, known)}{where}", "responses")
        units[name] = known[plain]
    return units


def _signal(experiment: Experiment, fixed: Mapping[str, Value]) -> Signal:
    """How the floor moves."""
    for disturbance in experiment.build(fixed).disturbances:
        if isinstance(disturbance, Platform):
            for axis in COLUMNS:
                signal = getattr(disturbance, axis)
                if isinstance(signal, Signal) and signal.frequencies:
                    return signal
    motions = "sine, sum-of-sines or ternary"
    raise InputError(f"the floor does not move periodically: set platform.motion to {motions}, and platform.axis")


def _model_from(config: Config, experiment: Experiment, fixed: Mapping[str, Value], axis: str) -> Wanted | None:
    """The table ``[model]``; what it does not set of the body is the simulated one's."""
    if "model" not in config:
        return None
    table = config.table("model")

    if axis not in MOVES:
        raise table.error(f"models sway forwards: platform.axis must be {' or '.join(MOVES)}, not {axis}")
    model, q = config.within(lambda: _stance(experiment, fixed), "set")
    body = double_pendulum_of if table.data.get("name") == "double-pendulum" else pendulum_of
    found = model_from(table, table.within(lambda: body(model, q)), MOVES[axis])
    return replace(found, model=replace(found.model, soles=heights_of(model, q)))


def _stance(experiment: Experiment, fixed: Mapping[str, Value]) -> tuple[Model, Floats]:
    """The model, and the configuration in which it stands."""
    scene = experiment.build(fixed)
    if scene.state is not None:
        return scene.model, scene.state.q
    law = scene.controller
    q = None if law is None else law.initial_configuration(scene.model, scene.floor)
    return scene.model, scene.model.neutral() if q is None else q


def model_from(table: Config, body: Mapping[str, float], stimulus: str) -> Wanted:
    """The model in a table.

    Args:
        table: with ``name``, ``error``, ``responses``, ``set`` and ``parameter``.
        body: what is known besides, where the table does not say it.
        stimulus: what moves.
    """
    name, error = table.word("name"), table.word("error", ERRORS[0], ERRORS)
    fixed = table.table("set", {})
    values = {key: fixed.get(key, float) for key in fixed.data}
    responses = table.table("responses", {})
    named = {key: responses.word(key) for key in responses.data} or {"sway": "sway"}
    parameters = tuple(one.make(Bounded, name=one.word("name")) for one in table.tables("parameter"))
    height = table.get("height", float, 0.0)
    given = {one.name for one in parameters} | values.keys()
    known_of_body = {key: value for key, value in body.items() if key not in given}
    model = table.within(lambda: ResponseModel(name, {**known_of_body, **values}, stimulus, named, height))
    return Wanted(model, parameters, error)
