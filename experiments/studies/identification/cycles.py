"""The Fourier coefficients of a trial's columns in each cycle of its stimulus, as a part of its result."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from biped.errors import InputError
from biped.identification.spectra import Spectra, bins_of, coefficients_of_cycles
from biped.metrics import Measurement
from experiments.studies.failures import Result

STIMULUS = "stimulus"


@dataclass(frozen=True)
class Cycles:
    """Which coefficients a trial is to have.

    Attributes:
        stimulus: the column that moves.
        responses: the columns that answer, by what they are called; a minus before one turns its sign.
        period: [s].
        frequencies: [Hz] at which the stimulus moves.
        begin: [s] when the first cycle begins.
        skip: how many cycles are dropped.
        count: how many are not.
    """

    stimulus: str
    responses: Mapping[str, str]
    period: float
    frequencies: tuple[float, ...]
    begin: float
    skip: int
    count: int

    def __call__(self, run: Measurement) -> Result:
        """The coefficients of a trial's run, as texts of numbers; none of one that fell."""
        if run.fell:
            return {}
        names = (self.stimulus, *self.responses.values())
        table = np.column_stack([_column(run, name) for name in names])
        every, _ = bins_of(self.period, self.frequencies)
        time = np.ascontiguousarray(run["time"])
        found = coefficients_of_cycles(time, table, self.period, every, self.begin, self.skip)[: self.count]
        parts = np.stack([found.real, found.imag], axis=-1)
        return {column(name): json.dumps(parts[:, :, k].tolist()) for k, name in enumerate((STIMULUS, *self.responses))}


def column(name: str) -> str:
    """The name of a column's coefficients in a result."""
    return f"cycles of {name}"


def _column(run: Measurement, name: str) -> np.ndarray:
    values = run[name.removeprefix("-")]
    return -values if name.startswith("-") else values


def spectra_from(result: Result, wanted: Cycles, units: Mapping[str, str]) -> Spectra | None:
    """The spectra of a trial's result; None of one that has none, as it fell.

    Raises:
        InputError: the text is damaged.
    """
    if column(STIMULUS) not in result:
        return None
    every, excited = bins_of(wanted.period, wanted.frequencies)
    found = {name: _read(result, name) for name in (STIMULUS, *wanted.responses)}
    stimulus = found.pop(STIMULUS)
    trial = np.zeros(len(stimulus), dtype=np.int64)
    return Spectra(wanted.period, every, excited, stimulus, found, trial, units)


def _read(result: Result, name: str) -> np.ndarray:
    try:
        parts = np.array(json.loads(str(result[column(name)])), dtype=np.float64)
        return np.asarray(parts[:, :, 0] + 1j * parts[:, :, 1])
    except (KeyError, ValueError, IndexError) as error:
        raise InputError(f"a trial is damaged: its {column(name)} are no coefficients") from error
