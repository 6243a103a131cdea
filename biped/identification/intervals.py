"""Bootstrap confidence intervals of frequency responses, from cycles or trials drawn with replacement."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biped.errors import InputError
from biped.inputs.checks import integer
from biped.metrics.fourier import Complexes
from contact.arrays import Floats

#: Number of resamples whose spectra are in memory at a time.
_AT_A_TIME = 250


class Intervals(NamedTuple):
    """Percentile intervals of one response: lower and upper ends (k,) of gain, phase and coherence.

    The ends of ``phase`` [rad] are relative to the estimate's phase, so that phase wrapping does not matter.
    """

    gain: tuple[Floats, Floats]
    phase: tuple[Floats, Floats]
    coherence: tuple[Floats, Floats]


def check_intervals(over: str, confidence: float, resamples: int) -> None:
    """Raise InputError if an argument of ``bootstrap`` is out of range."""
    integer(resamples, "resamples")
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence = {confidence!r}: it must be between 0 and 1, for example 0.95")
    if over not in ("cycles", "trials"):
        raise InputError(f"over = {over!r}: it must be cycles or trials")


def bootstrap(
    cross: Complexes,
    input_power: Floats,
    output_power: Floats,
    trial: NDArray[np.int64],
    over: Literal["cycles", "trials"],
    confidence: float,
    resamples: int,
    seed: int,
) -> list[Intervals]:
    """Return the confidence intervals of each response.

    Args:
        cross: (m, k, r) cross spectra U* Y of m cycles, k frequencies and r responses.
        input_power: (m, k) power U* U of the stimulus.
        output_power: (m, k, r) powers Y* Y of the responses.
        trial: (m,) index of the trial of each cycle.
        over: units that are drawn: cycles, or trials with all of their cycles.
        confidence: confidence level of the intervals, between 0 and 1.
        resamples: number of bootstrap resamples.
        seed: seed of the random draws.

    Raises:
        InputError: an argument is out of range, or there is only one trial to draw from.
    """
    check_intervals(over, confidence, resamples)
    groups = np.arange(len(trial)) if over == "cycles" else np.unique(trial, return_inverse=True)[1]
    if groups.max() == 0:
        raise InputError("over = 'trials': there is only one trial: set over = 'cycles', or resamples = 0")
    estimate = cross.mean(axis=0) / input_power.mean(axis=0)[:, None]
    random = np.random.default_rng(integer(seed, "seed"))
    gains, phases, coherences = [], [], []
    for begin in range(0, resamples, _AT_A_TIME):
        count = groups.max() + 1
        times = random.multinomial(count, np.full(count, 1.0 / count), min(_AT_A_TIME, resamples - begin))
        weights = times[:, groups].astype(float)  # (draws, m)
        crossed, power, answered = (np.tensordot(weights, values, 1) for values in (cross, input_power, output_power))
        drawn = crossed / power[:, :, None]
        gains.append(np.abs(drawn))
        phases.append(np.angle(drawn * estimate.conj()))
        both = power[:, :, None] * answered
        coherences.append(np.divide(np.abs(crossed) ** 2, both, out=np.zeros_like(both), where=both > 0.0))
    ends = [0.5 * (1.0 - confidence), 0.5 * (1.0 + confidence)]
    gain, phase, coherence = (np.quantile(np.concatenate(all_), ends, axis=0) for all_ in (gains, phases, coherences))
    coherence = np.minimum(coherence, 1.0)
    return [
        Intervals(*((values[0, :, r], values[1, :, r]) for values in (gain, phase, coherence)))
        for r in range(cross.shape[2])
    ]
