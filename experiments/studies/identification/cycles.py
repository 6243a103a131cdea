"""Fourier coefficients of a trial's columns in each stimulus cycle, as part of the trial's result."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from biped.errors import InputError
from biped.identification.spectra import Spectra, bins_of, coefficients_of_cycles
from biped.metrics import Measurement
from biped.metrics.fourier import Complexes
from biped.signals import Signal
from contact.arrays import Floats
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.studies.failures import Result
from experiments.studies.identification.stimulus import FORCE, force_of

STIMULUS = "stimulus"
#: Number of midpoints at which a force is sampled between two rows, since it may jump between them.
_PARTS = 64


@dataclass(frozen=True)
class Cycles:
    """Settings for the Fourier coefficients in a trial's result."""

    stimulus: str  #: column of the stimulus; ``FORCE`` for a force
    responses: Mapping[str, str]  #: columns by name of the response; a minus before a column reverses its sign
    period: float  #: [s] duration of a cycle
    frequencies: tuple[float, ...]  #: [Hz] frequencies of the stimulus
    begin: float  #: [s] start of the first cycle
    skip: int  #: number of first cycles that are dropped
    count: int  #: number of cycles that are kept
    force: Signal | None = None  #: [N] force of the trial, if the stimulus is one

    def of(self, experiment: Experiment, changes: Mapping[str, Value]) -> "Cycles":
        """Return these settings for a trial with these changes, with the force of this trial if the stimulus is one."""
        if self.stimulus.removeprefix("-") != FORCE:
            return self
        return replace(self, force=force_of(experiment, changes))

    def __call__(self, run: Measurement) -> Result:
        """Return the coefficients of a trial's run as JSON text, by column; empty if the run ended in a fall."""
        if run.fell:
            return {}
        time = np.ascontiguousarray(run["time"])
        names = [self.stimulus, *self.responses.values()]
        if self.force is not None:
            del names[0]
        values = self._coefficients(time, np.column_stack([_column(run, name) for name in names]))
        if self.force is not None:
            values = np.concatenate([self._of_force(time, self.force), values], axis=2)
        parts = np.stack([values.real, values.imag], axis=-1)
        return {column(name): json.dumps(parts[:, :, k].tolist()) for k, name in enumerate((STIMULUS, *self.responses))}

    def _coefficients(self, time: Floats, table: Floats) -> Complexes:
        every, _ = bins_of(self.period, self.frequencies)
        return coefficients_of_cycles(time, table, self.period, every, self.begin, self.skip)[: self.count]

    def _of_force(self, time: Floats, force: Signal) -> Complexes:
        """Return coefficients (cycles, frequencies, 1) of the force, sampled more finely than the run's rows."""
        width = float(time[-1] - time[0]) / (len(time) - 1) / _PARTS
        finer = time[0] + width * (0.5 + np.arange(_PARTS * len(time)))
        sign = -1.0 if self.stimulus.startswith("-") else 1.0
        return self._coefficients(finer, sign * force(finer)[:, None])


def column(name: str) -> str:
    """Return the key of a column's coefficients in a result."""
    return f"cycles of {name}"


def _column(run: Measurement, name: str) -> np.ndarray:
    values = run[name.removeprefix("-")]
    return -values if name.startswith("-") else values


def spectra_from(result: Result, cycles: Cycles, units: Mapping[str, str]) -> Spectra | None:
    """Return the spectra in a trial's result; None if it has none because the run ended in a fall.

    Raises:
        InputError: the text of the coefficients is damaged.
    """
    if column(STIMULUS) not in result:
        return None
    every, excited = bins_of(cycles.period, cycles.frequencies)
    responses = {name: _read(result, name) for name in (STIMULUS, *cycles.responses)}
    stimulus = responses.pop(STIMULUS)
    trial = np.zeros(len(stimulus), dtype=np.int64)
    return Spectra(cycles.period, every, excited, stimulus, responses, trial, units)


def _read(result: Result, name: str) -> np.ndarray:
    try:
        parts = np.array(json.loads(str(result[column(name)])), dtype=np.float64)
        return np.asarray(parts[:, :, 0] + 1j * parts[:, :, 1])
    except (KeyError, ValueError, IndexError) as error:
        raise InputError(f"a stored trial is damaged: {column(name)!r} must have Fourier coefficients") from error
