"""Spectra of windows of stimuli that do not repeat (Welch 1967), and responses to several simultaneous stimuli.

The response to one stimulus is H1 = S_yu / S_uu. The response to several is S_yu S_uu⁻¹, with the matrix of the
stimuli's spectra (Bendat and Piersol 2010, chapter 7): each stimulus and the response without their parts that are
linear in the other stimuli.
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

#: Largest overlap; with a larger one windows are hardly independent, and intervals would be too narrow.
MOST_OVERLAP = 0.5
#: First multiple of 1/window that counts; lower ones contain the rest of slower drifts.
FIRST = 2
#: Smallest share of a stimulus's power that the other stimuli must leave unexplained.
_OWN = 1e-3


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
    """Return the spectra of Hann windows of one trial or several; each window's mean is subtracted.

    Args:
        time: (n,) [s], evenly spaced, common to all trials.
        stimulus: (n,), or (trials, n).
        responses: (n,) or (trials, n) by name.
        window: [s] length of a window. Frequencies are multiples of 1/window, from the second one on.
        overlap: share of a window that overlaps with the next one, 0 … 0.5.
        highest: [Hz] highest frequency; below half the sampling rate if None.
        units: units of the responses and, as ``stimulus``, of the stimulus.

    Raises:
        InputError: shapes do not fit, a number is missing, times are uneven, or fewer than two windows fit into a
            trial.
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
    if len(times) < 2 * count - shared or not FIRST / window <= top <= rate / 2.0:
        raise InputError(
            f"window = {window:g} s: two must fit into a trial of {len(times) / rate:g} s, and the highest frequency "
            f"must be from {FIRST / window:g} to {rate / 2.0:g} Hz"
        )
    frequency, _, found = stft(
        table, rate, "hann", count, shared, detrend="constant", boundary=None, padded=False, scaling="psd"
    )
    kept = (np.arange(len(frequency)) >= FIRST) & (frequency <= top) & (frequency < rate / 2.0)
    # (trials, columns, frequencies, windows), scaled as for cycles: |c|² window / 2 is a one-sided density
    c = found[:, :, kept].transpose(0, 3, 2, 1) * np.sqrt(4.0 * rate / count)
    flat = c.reshape(-1, *c.shape[2:])
    named = {name: flat[:, :, 1 + k] for k, name in enumerate(responses)}
    trial, every = np.repeat(np.arange(len(c)), c.shape[1]), np.ones(int(kept.sum()), dtype=bool)
    return Spectra(count / rate, frequency[kept], every, flat[:, :, 0], named, trial, dict(units or {}), False)


def response_to_several(spectra: Spectra, name: str, others: Sequence[str], **how: Any) -> FrequencyResponse:
    """Return responses to several simultaneous stimuli, each named ``response / stimulus``.

    The coherence is the partial coherence, of the parts that the other stimuli do not explain. The relation between the
    stimuli must differ between windows, cycles or trials.

    Args:
        spectra: spectra with the other stimuli among the responses.
        name: name of the stimulus.
        others: names of the other stimuli.
        how: arguments of ``response_of``.

    Raises:
        InputError: a stimulus is nearly a linear function of the others, as with too few cycles; or as ``response_of``.
    """
    inputs = {name: spectra.stimulus} | {other: spectra.responses[other] for other in others}
    answers = {answer: values for answer, values in spectra.responses.items() if answer not in inputs}
    units = {**spectra.units, name: spectra.units.get("stimulus", "1")}
    parts = []
    for own, values in inputs.items():
        if (moved := replace(spectra, stimulus=values).unrepeated) > UNREPEATED:
            raise InputError(f"{own}: {moved:.0%} of its power differs between cycles: its period is another one")
        rest = np.stack([inputs[other] for other in inputs if other != own], axis=2)
        alone = _without(rest, values)
        power, whole = (np.abs(alone) ** 2).sum(axis=0), (np.abs(values) ** 2).sum(axis=0)
        if (alike := spectra.excited & (power < _OWN * whole)).any():
            raise InputError(
                f"{own}: at {spectra.frequencies[alike][0]:.3g} Hz it is a linear function of the other stimuli: "
                "measure trials in which they move differently, or leave one out"
            )
        named = {f"{answer} / {own}": _without(rest, y) for answer, y in answers.items()}
        ratios = {f"{answer} / {own}": f"{units.get(answer, '1')}/{units.get(own, '1')}" for answer in answers}
        parts.append(response_of(replace(spectra, stimulus=alone, responses=named, units=ratios), **how))
    return _joined(parts)


def _without(others: Complexes, values: Complexes) -> Complexes:
    """Return the parts (m, f) of values in all cycles that are not linear in others (m, f, j), at each frequency."""
    gram = np.einsum("mfi,mfj->fij", others.conj(), others)
    shared = np.einsum("mfi,mf->fi", others.conj(), values)
    weights = np.linalg.pinv(gram, 1e-12, hermitian=True) @ shared[:, :, None]
    return np.asarray(values - np.einsum("mfi,fi->mf", others, weights[:, :, 0]))


def _joined(parts: Sequence[FrequencyResponse]) -> FrequencyResponse:
    import pandas as pd

    merged: dict[str, Any] = {
        what: {name: value for one in parts for name, value in (getattr(one, what) or {}).items()} or None
        for what in ("values", "coherence", "units", "intervals")
    }
    remnant = None
    if parts[0].remnant is not None:
        remnant = pd.concat([one.remnant for one in parts], ignore_index=True)
        remnant.attrs = parts[0].remnant.attrs
    return replace(parts[0], **merged, covariance=None, remnant=remnant)
