"""Welch's spectra for stimuli that do not repeat (Welch 1967), and responses to several simultaneous stimuli.

The response to one stimulus is H1 = S_yu / S_uu. Responses to several stimuli are S_yu S_uu⁻¹, with the matrix S_uu of
the stimuli's spectra (Bendat and Piersol 2010, chapter 7). This equals H1 of a stimulus and the response after removal
of their parts that are linear in the other stimuli.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biped.errors import InputError
from biped.identification.response import FrequencyResponse, response_of
from biped.identification.spectra import UNREPEATED, Spectra, tables_of
from biped.inputs.checks import above_zero
from biped.metrics.fourier import Complexes

#: Largest overlap of windows; with more, windows would hardly be independent, and intervals too narrow.
MOST_OVERLAP = 0.5
#: Lowest multiple of 1/window that is used; a lower one contains slow drifts.
FIRST = 2
#: Smallest share of a stimulus's power that must not be explained by the other stimuli.
_INDEPENDENT = 1e-3


def windowed_spectra(
    time: ArrayLike,
    stimulus: ArrayLike,
    responses: Mapping[str, ArrayLike],
    window: float,
    *,
    overlap: float = MOST_OVERLAP,
    highest: float | None = None,
    units: Mapping[str, str] | None = None,
) -> Spectra:
    """Return the spectra of Hann windows of one or more trials; the mean of each window is subtracted.

    Args:
        time: (n,) [s] evenly spaced times of the samples, common to all trials.
        stimulus: samples (n,), or (trials, n) if the stimulus differs between trials.
        responses: samples (n,) or (trials, n) by name of the response.
        window: [s] length of a window. Frequencies are 2/window, 3/window, …
        overlap: share of a window that overlaps with the next window, 0 to 0.5.
        highest: [Hz] highest frequency; None: half of the sampling rate.
        units: units by name of the response, and of the stimulus under ``stimulus``.

    Raises:
        InputError: shapes do not match, a number is missing, times are not evenly spaced, or fewer than two windows
            fit into a trial.
    """
    from scipy.signal import stft

    above_zero(window, "window")
    if not 0.0 <= overlap <= MOST_OVERLAP:
        raise InputError(f"overlap = {overlap!r}: it must be from 0 to {MOST_OVERLAP:g}")
    times, table = tables_of(time, stimulus, responses)
    if len(times) < 2 or np.ptp(np.diff(times)) > 0.02 * np.diff(times).max():
        raise InputError("times are not evenly spaced: resample the record")
    if not np.isfinite(table).all():
        raise InputError("a number is missing: fill the gap, or cut the record")
    rate = (len(times) - 1) / (times[-1] - times[0])
    count = round(window * rate)
    shared = int(overlap * count)
    top = rate / 2.0 if highest is None else highest * (1.0 + 1e-9)
    if len(times) < 2 * count - shared:
        raise InputError(f"window = {window:g} s: two windows must fit into a trial of {len(times) / rate:g} s")
    if not FIRST / window <= top <= rate / 2.0:
        span = f"from {FIRST / window:g} to {rate / 2.0:g} Hz"
        raise InputError(f"highest = {top:g} Hz: the highest frequency must be {span}")
    frequency, _, transforms = stft(
        table, rate, "hann", count, shared, detrend="constant", boundary=None, padded=False, scaling="psd"
    )
    kept = (np.arange(len(frequency)) >= FIRST) & (frequency <= top) & (frequency < rate / 2.0)
    # (trials, columns, frequencies, windows), scaled as for cycles: |c|² window / 2 is a one-sided density
    c = transforms[:, :, kept].transpose(0, 3, 2, 1) * np.sqrt(4.0 * rate / count)
    flat = c.reshape(-1, *c.shape[2:])
    named = {name: flat[:, :, 1 + k] for k, name in enumerate(responses)}
    trial, every = np.repeat(np.arange(len(c)), c.shape[1]), np.ones(int(kept.sum()), dtype=bool)
    return Spectra(count / rate, frequency[kept], every, flat[:, :, 0], named, trial, dict(units or {}), False)


def response_to_several(spectra: Spectra, name: str, other_stimuli: Sequence[str], **how: Any) -> FrequencyResponse:
    """Return the frequency responses to several simultaneous stimuli, named ``response / stimulus``.

    The coherence is partial: it is computed from the parts of response and stimulus that the other stimuli do not
    explain. The relation between the stimuli must differ between windows, cycles or trials.

    Args:
        spectra: spectra of the first stimulus and the responses; the other stimuli are stored among the responses.
        name: name of the first stimulus, which is the stimulus of ``spectra``.
        other_stimuli: names of the other stimuli.
        how: further arguments of ``response_of``.

    Raises:
        InputError: the errors of ``response_of``, or a stimulus is nearly a linear function of the other stimuli.
    """
    inputs = {name: spectra.stimulus} | {other: spectra.responses[other] for other in other_stimuli}
    answers = {answer: values for answer, values in spectra.responses.items() if answer not in inputs}
    units = {**spectra.units, name: spectra.units.get("stimulus", "1")}
    parts = []
    for stimulus, values in inputs.items():
        if (moved := replace(spectra, stimulus=values).unrepeated) > UNREPEATED:
            raise InputError(f"{stimulus}: {moved:.0%} of its power differs between cycles: it has another period")
        rest = np.stack([inputs[other] for other in inputs if other != stimulus], axis=2)
        alone = _without(rest, values)
        power, total = (np.abs(alone) ** 2).sum(axis=0), (np.abs(values) ** 2).sum(axis=0)
        if (alike := spectra.excited & (power < _INDEPENDENT * total)).any():
            raise InputError(
                f"{stimulus}: at {spectra.frequencies[alike][0]:.3g} Hz it is a linear function of the other stimuli: "
                "measure trials in which they move differently, or leave one out"
            )
        named = {f"{answer} / {stimulus}": _without(rest, y) for answer, y in answers.items()}
        ratios = {f"{each} / {stimulus}": f"{units.get(each, '1')}/{units.get(stimulus, '1')}" for each in answers}
        parts.append(response_of(replace(spectra, stimulus=alone, responses=named, units=ratios), **how))
    return _joined(parts)


def _without(stimuli: Complexes, values: Complexes) -> Complexes:
    """Return the parts (m, f) of values that are not linear in ``stimuli`` (m, f, j) over all cycles, per frequency."""
    gram = np.einsum("mfi,mfj->fij", stimuli.conj(), stimuli)
    shared = np.einsum("mfi,mf->fi", stimuli.conj(), values)
    weights = np.linalg.pinv(gram, 1e-12, hermitian=True) @ shared[:, :, None]
    return np.asarray(values - np.einsum("mfi,fi->mf", stimuli, weights[:, :, 0]))


def _joined(parts: Sequence[FrequencyResponse]) -> FrequencyResponse:
    import pandas as pd

    merged: dict[str, Any] = {
        what: {name: value for part in parts for name, value in (getattr(part, what) or {}).items()} or None
        for what in ("values", "coherence", "units", "intervals")
    }
    remnant = None
    if parts[0].remnant is not None:
        remnant = pd.concat([part.remnant for part in parts], ignore_index=True)
        remnant.attrs = parts[0].remnant.attrs
    return replace(parts[0], **merged, covariance=None, remnant=remnant)
