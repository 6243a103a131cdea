"""Identification of frequency responses, from trials with a periodic floor motion or force, or from records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from biped.errors import InputError
from biped.identification import FrequencyResponse, Spectra, response_of, response_to_several
from biped.identification.intervals import check_intervals
from biped.identification.spectra import bins_of
from contact.errors import did_you_mean
from experiments.studies.config import Config
from experiments.studies.identification.cycles import STIMULUS, Cycles, spectra_from
from experiments.studies.identification.model_fit import ModelFit
from experiments.studies.identification.model_table import ModelToFit, model_to_fit_from
from experiments.studies.identification.recorded import Recorded, recorded_from
from experiments.studies.identification.stimulus import FORCE, Stimulus, stimulus_of
from experiments.studies.store.measured import trace_units
from experiments.studies.study_kind import Evaluate
from experiments.studies.sweep.sweep import Sweep
from experiments.studies.trial import Trial

#: Default experiment and posture that give a model of records the properties of the body.
BODY, STANDING = "balance", {"initial.stance": "upright"}

#: Share of the stimulus's power that may differ from cycle to cycle without a warning.
MOST_UNREPEATED = 0.01


@dataclass(frozen=True)
class Averaging:
    """Options of averaging: arguments of ``biped.identification.response_of``."""

    over: str = "cycles"  # unit that is resampled for intervals, ``"cycles"`` or ``"trials"``
    confidence: float = 0.95  # confidence of the intervals
    resamples: int = 1000  # number of resamples

    def __post_init__(self) -> None:
        check_intervals(self.over, self.confidence, self.resamples)

    def response(
        self, spectra: Spectra, per_decade: float | None, seed: int, stimuli: Sequence[str] = ()
    ) -> FrequencyResponse:
        """Return the frequency response to the only stimulus, or to several ``stimuli``, given by name."""
        how: dict[str, Any] = {**vars(self), "per_decade": per_decade, "seed": seed}
        if len(stimuli) < 2:
            return response_of(spectra, **how)
        return response_to_several(spectra, stimuli[0], stimuli[1:], **how)


@dataclass(frozen=True)
class Identified:
    """Findings of an identification."""

    response: FrequencyResponse
    fit: ModelFit | None  # fitted model; None without a table ``[model]``
    trials: int  # number of trials or records
    left_out: int = 0  # number of trials that were left out because they fell or failed

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt the response, in sentences."""
        part = self.response.unrepeated
        if part <= MOST_UNREPEATED:
            return ()
        return (f"{part:.0%} of the stimulus's power differs from cycle to cycle: check the period and the column",)


@dataclass(frozen=True)
class Identification(Sweep):
    """Plan of an identification: replicas with a periodic disturbance, or records of such trials."""

    cycles: Cycles | None = None  # Fourier coefficients that trials store; None for records
    averaging: Averaging = Averaging()
    per_decade: float | None = None  # number of frequency bands per decade; None to keep all frequencies
    model_to_fit: ModelToFit | None = None
    units_of_columns: Mapping[str, str] = None  # type: ignore[assignment]  # units by stimulus and response
    recorded: Recorded | None = None  # measured trials, instead of simulated ones
    kind = "identify"
    reads_more = True

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, Any]) -> Identification:
        return identification_from(Config(configuration))

    def failure(self, _findings: Any) -> str:
        """Return an empty text: trials that could not be computed are left out."""
        return ""

    @property
    def likely_trials(self) -> int:
        return 0 if self.recorded is not None else super().likely_trials

    def trials(self) -> list[Trial]:
        return [self.as_planned(trial) for trial in super().trials()]

    def as_planned(self, trial: Trial) -> Trial:
        assert self.cycles is not None
        return replace(trial, reads=self.cycles.of(self.experiment, trial.changes))

    def find(self, evaluate: Evaluate) -> Identified:  # type: ignore[override]
        if self.recorded is not None:
            return self._identified(self.recorded.spectra, len(self.recorded.spectra))
        assert self.cycles is not None
        results = evaluate(self.trials())
        spectra = [spectra_from(results[number], self.cycles, self.units_of_columns) for number in sorted(results)]
        complete = [spectrum for spectrum in spectra if spectrum is not None]
        if not complete:
            first = results[min(results)]
            raise InputError(
                f"in none of {len(spectra)} trials did the body stand in all cycles; first trial: {first['verdict']} "
                f"({first['message'] or first['reason']}); reduce the disturbance, or choose a stronger controller"
            )
        return self._identified(complete, len(spectra))

    def _identified(self, spectra: Sequence[Spectra], trials: int) -> Identified:
        stimuli = () if self.recorded is None else self.recorded.stimuli
        response = self.averaging.response(Spectra.joined(spectra), self.per_decade, self.seed, stimuli)
        fit = None if self.model_to_fit is None else self.model_to_fit.fitted(response, self.seed)
        return Identified(response, fit, trials, trials - len(spectra))

    def run(self, study: Any, evaluate: Evaluate, say: Any) -> Identified:  # type: ignore[override]
        return self.find(evaluate)


def identification_from(config: Config) -> Identification:
    """Make the plan of an identification from its configuration; raises InputError if the configuration is wrong."""
    return _of_records(config) if "record" in config else _of_trials(config)


def _of_records(config: Config) -> Identification:
    """Return the plan for records; a model takes body properties from the experiment's body, upright by default."""
    config = config if "experiment" in config else config.but(experiment=BODY)
    experiment = config.experiment()
    seed = config.integer("seed", 0)
    fixed = STANDING | dict(config.table("set", {}).changes(experiment))
    table = config.table("identify")
    averaging, per_decade = table.make(Averaging), table.get("per_decade", float, 0.0) or None
    recorded = recorded_from(config.table("record"), table)
    responses = recorded.spectra[0].responses
    stimulus = config.within(recorded.moves, "record") if "model" in config else ""
    model = model_to_fit_from(config, experiment, fixed, stimulus, responses)
    config.finish()
    data = {**config.data, "record": {**config.data["record"], "files": list(recorded.files)}}
    return Identification(
        experiment, fixed, (), 1, seed, None, data, averaging=averaging, per_decade=per_decade, model_to_fit=model,
        units_of_columns=recorded.spectra[0].units, recorded=recorded,
    )  # fmt: skip


def _of_trials(config: Config) -> Identification:
    experiment = config.experiment()
    seed = config.integer("seed", 0)
    fixed = dict(config.table("set", {}).changes(experiment))
    table = config.table("identify")
    trials, per_decade = table.integer("trials", 1, least=1), table.get("per_decade", float, 0.0) or None
    rate, averaging = table.get("rate", float, 50.0), table.make(Averaging)
    acts = config.within(lambda: stimulus_of(experiment, fixed), "set")
    cycles = _cycles_from(table, acts, rate)
    lasts = (cycles.skip + cycles.count) * cycles.period
    fixed |= {
        f"{acts.group}.duration": lasts + 2.0 * acts.signal.fade, "run.duration": cycles.begin + lasts,
        "run.record_every": 1.0 / rate,
    }  # fmt: skip
    units = _units(table, config.within(lambda: trace_units(experiment, fixed), "set"), cycles, acts.column)
    if "model" in config and not acts.moves:
        raise config.error(f"models sway forward and back, but {acts.what} acts sideways: leave [model] out", "model")
    model = model_to_fit_from(config, experiment, fixed, acts.moves, cycles.responses, acts.place)
    config.finish()
    plan = Identification(
        experiment, fixed, (), trials, seed, None, config.data, cycles=cycles, averaging=averaging,
        per_decade=per_decade, model_to_fit=model, units_of_columns=units,
    )  # fmt: skip
    config.within(lambda: replace(experiment.build(plan.trials()[0].changes), settle=None).prepare(), "set")
    return plan


def _cycles_from(table: Config, acts: Stimulus, rate: float) -> Cycles:
    """Return the settings of the cycles, the first of which begins after the fade-in of the stimulus."""
    signal = acts.signal
    count, skip = table.integer("cycles", least=1), table.integer("skip", 1)
    period, highest = table.get("period", float, 0.0) or 1.0 / min(signal.frequencies), table.get("highest", float, 3.0)
    frequencies = tuple(frequency for frequency in signal.frequencies if frequency <= highest)
    if not frequencies:
        lowest = f"{min(signal.frequencies):g} Hz, the lowest frequency of {acts.what}"
        raise table.error(f"highest = {highest:g} Hz: it must be at least {lowest}", "highest")
    table.within(lambda: bins_of(period, frequencies))
    if not rate > 2.0 * max(frequencies):
        twice = f"{2.0 * max(frequencies):g} Hz, twice the highest frequency"
        raise table.error(f"rate = {rate:g} Hz: it must be above {twice}", "rate")
    responses = table.table("responses", {})
    named = {name: responses.word(name) for name in responses.data} or {"sway": acts.sway}
    begin = signal.begins + signal.fade
    return Cycles(table.word("stimulus", acts.column), named, period, frequencies, begin, skip, count)


def _units(table: Config, known: Mapping[str, str], cycles: Cycles, moves: str) -> dict[str, str]:
    """Return units of stimulus (default column: ``moves``) and responses; raises InputError for an unknown column."""
    units = {}
    for name, column in {STIMULUS: cycles.stimulus, **cycles.responses}.items():
        plain = column.removeprefix("-")
        if name == STIMULUS and plain == moves == FORCE:
            units[name] = "N"
            continue
        if plain not in known:
            where = "use a column of a run, such as angle_left_ankle_pitch, or of biped.metrics.series"
            raise table.error(f"no column {plain!r} exists; {did_you_mean(plain, known)}{where}", "responses")
        units[name] = known[plain]
    return units
