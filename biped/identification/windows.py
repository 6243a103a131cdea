"""Records of stimuli that do not repeat, cut into windows (Welch 1967), and responses to several stimuli at once.

The response to one stimulus is H1 = S_yu / S_uu. To several it is S_yu S_uu⁻¹, with the matrix of the stimuli's spectra
(Bendat and Piersol 2010, chapter 7): of each stimulus the part that is not linear in the others, and so of the response.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biped.checks import above_zero
from biped.errors import InputError
from biped.identification.response import FrequencyResponse, response_of
from biped.identification.spectra import Spectra, tables_of
from biped.metrics.fourier import Complexes

#: Windows that overlap by more are hardly independent, and intervals would be too narrow.
MOST_OVERLAP = 0.5
#: Multiples of one over the window below this one hold what is left of slower drifts.
FIRST = 2
#: The least part of a stimulus's power that the others must not explain.
_OWN = 1e-3
#: Of the sampling interval: how uneven times may be.
_EVEN = 0.01


def windowed_spectra(
    time: ArrayLike,
    stimulus: ArrayLike,
    responses: Mapping[str, ArrayLike],
    window: float,
    *,
    overlap: float = 0.5,
    highest: float | None = None,
    units: Mapping[str, str] | None = None,
) -> Spectra:
    """Return the spectra of windows of one trial or several: Hann windows, each about its own mean.

    Args:
        time: (n,) [s], evenly spaced, that all trials share.
        stimulus: (n,), or (trials, n).
        responses: (n,) or (trials, n) by name.
        window: [s] length of a window. Frequencies are its multiples of 1/window, from the second one on.
        overlap: part of a window that it shares with the next one, 0 … 0.5.
        highest: [Hz] the last frequency; up to half the sampling rate if None.
        units: of the responses and, as ``stimulus``, of the stimulus.

    Raises:
        InputError: shapes do not fit, a number is missing, time is not even, or not two windows fit into a trial.
    """
    from scipy.signal import stft

    above_zero(window, "window")
    if not 0.0 <= overlap <= MOST_OVERLAP:
        raise InputError(f"overlap = {overlap!r}: it must be from 0 to {MOST_OVERLAP:g}")
    times, together = tables_of(time, stimulus, responses)
    if len(times) < 2 or np.ptp(np.diff(times)) > 2.0 * _EVEN * (usual := float(np.median(np.diff(times)))):
        raise InputError("times are not evenly spaced: resample the record")
    if not np.isfinite(together).all():
        raise InputError("a number is missing: fill the gap, or cut the record")
    count = round(window / usual)
    rate = (len(times) - 1) / (times[-1] - times[0])
    step = count - int(overlap * count)
    if count < 2 * FIRST or len(times) < count + step:
        raise InputError(
            f"window = {window:g} s: two windows must fit into the {len(times) / rate:g} s of a trial, and "
            f"{2 * FIRST} samples into a window"
        )
    frequency, _, found = stft(
        together, rate, "hann", count, count - step, detrend="constant", boundary=None, padded=False, scaling="psd"
    )
    kept = (np.arange(len(frequency)) >= FIRST) & (frequency <= (rate if highest is None else highest * (1 + 1e-9)))
    kept[-1] = False  # at half the rate there is no phase
    if not kept.any():
        raise InputError(f"highest = {highest} Hz: the first frequency of windows of {window:g} s is {FIRST / window:g}")
    # of one-sided densities |c|² window / 2, as of cycles: (trials, columns, frequencies, windows)
    c = found[:, :, kept] * np.sqrt(4.0 * rate / count)
    shaped = c.transpose(0, 3, 2, 1).reshape(-1, int(kept.sum()), together.shape[1])
    named = {name: shaped[:, :, 1 + k] for k, name in enumerate(responses)}
    trial = np.repeat(np.arange(len(c)), c.shape[3])
    every = np.ones(int(kept.sum()), dtype=bool)
    return Spectra(count / rate, frequency[kept], every, shaped[:, :, 0], named, trial, dict(units or {}), False)


def response_to_several(stimuli: Mapping[str, Spectra], **how: Any) -> FrequencyResponse:
    """Return responses to several stimuli that act at once, called ``response / stimulus``.

    The coherence is the partial one: of what neither the other stimuli nor chance explain. The stimuli must not move
    alike in all cycles; their parts have to be told apart by windows, or by trials with other phases.

    Args:
        stimuli: by name, spectra of each, with the same responses in the same cycles.
        how: arguments of ``response_of``.

    Raises:
        InputError: there are too few cycles, a stimulus is all but a linear function of the others, or as ``response_of``.
    """
    every = np.stack([one.stimulus for one in stimuli.values()], axis=2)
    parts = []
    for k, (name, own) in enumerate(stimuli.items()):
        others = np.delete(every, k, axis=2)
        if len(every) <= every.shape[2]:
            raise InputError(f"{len(every)} cycles or windows are too few for {every.shape[2]} stimuli")
        alone = _without(others, own.stimulus[:, :, None])[:, :, 0]
        whole = (np.abs(own.stimulus) ** 2).sum(axis=0)
        alike = (np.abs(alone) ** 2).sum(axis=0) < _OWN * whole
        if (alike & own.excited).any():
            at = own.frequencies[alike & own.excited][0]
            raise InputError(
                f"{name}: at {at:.3g} Hz it moves as the other stimuli do, in all cycles: responses to each cannot be told "
                "apart; measure trials in which they move differently, or leave one out"
            )
        answers = _without(others, own.stacked())
        named = {f"{response} / {name}": answers[:, :, r] for r, response in enumerate(own.responses)}
        below = own.units.get("stimulus", "1")
        units = {
            f"{response} / {name}": "1" if (unit := own.units.get(response, "1")) == below else f"{unit}/{below}"
            for response in own.responses
        }
        parts.append(response_of(replace(own, stimulus=alone, responses=named, units=units), **how))
    return _joined(parts)


def _without(others: Complexes, values: Complexes) -> Complexes:
    """What is left (m, f, r) of values in all cycles at each frequency, less what is linear in others (m, f, j)."""
    gram = np.einsum("mfi,mfj->fij", others.conj(), others)
    shared = np.einsum("mfi,mfr->fir", others.conj(), values)
    weights = np.linalg.pinv(gram, 1e-12, hermitian=True) @ shared
    return np.asarray(values - np.einsum("mfi,fir->mfr", others, weights))


def _joined(parts: list[FrequencyResponse]) -> FrequencyResponse:
    import pandas as pd

    remnants = [one.remnant for one in parts if one.remnant is not None]
    remnant = pd.concat(remnants, ignore_index=True) if remnants else None
    if remnant is not None:
        remnant.attrs = remnants[0].attrs
    merged: dict[str, Any] = {
        what: {name: value for one in parts for name, value in getattr(one, what).items()}
        for what in ("values", "coherence", "units")
    }
    intervals = None
    if parts[0].intervals is not None:
        intervals = {name: value for one in parts for name, value in (one.intervals or {}).items()}
    return replace(parts[0], **merged, intervals=intervals, covariance=None, remnant=remnant)
