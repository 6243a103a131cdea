"""Frequency responses: gain, phase, coherence and remnant from cycles of a periodic stimulus, with intervals.

Definitions are those of Peterka 2002 (Journal of Neurophysiology 88:1097). Spectra are averaged over cycles, and in
bands over neighbouring frequencies, before they are divided. With a cycle's coefficients U of the stimulus and Y
of a response,

    H = ⟨U* Y⟩ / ⟨U* U⟩,    γ² = |⟨U* Y⟩|² / (⟨U* U⟩ ⟨Y* Y⟩).

The remnant is the part of the response that is not linear in the stimulus: the power of Y − H U or, at frequencies
without stimulus, of Y minus its mean over cycles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biped.errors import InputError
from biped.identification.intervals import Intervals, bootstrap
from biped.identification.spectra import Spectra, cycle_spectra
from biped.inputs.checks import above_zero
from biped.metrics.fourier import Complexes
from contact.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd

#: Ratio to the stimulus's greatest coefficient up to which a coefficient counts as zero.
_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """Frequency responses to a stimulus, at single frequencies or averaged in bands.

    Attributes:
        frequencies: (k,) [Hz] frequencies; for a band, their mean.
        values: complex frequency response H (k,), ratio of response to stimulus, by name of the response.
        covariance: (k, r, r) covariance E[(Ĥ − H)(Ĥ − H)*] of the estimates Ĥ of r responses at each frequency, from
            differences between cycles; None for a single cycle.
        coherence: coherence γ² (k,) by name of the response: 1 if the response is linear in the stimulus. For an
            unrelated response the estimate is about 1/cycles instead of 0.
        intervals: confidence intervals of gain, phase and coherence by response; None for a single cycle.
        remnant: part of the responses that is not linear in the stimulus: table with ``frequency`` [Hz] (multiples of
            1/period), ``excited``, and ``power`` (one-sided) [response's unit²/Hz]; None for a single cycle.
        cycles: number of averaged cycles.
        excited: (f,) [Hz] frequencies of the stimulus.
        weights: (k, f) weight of each excited frequency in a band; rows add up to one.
        units: units by name of the response, and of the stimulus under ``stimulus``; without an entry: no unit.
        unrepeated: share of the stimulus's power that differs between cycles; 0 for a stimulus that need not repeat.
    """

    frequencies: Floats
    values: Mapping[str, Complexes]
    covariance: Complexes | None
    coherence: Mapping[str, Floats]
    intervals: Mapping[str, Intervals] | None
    remnant: pd.DataFrame | None
    cycles: int
    excited: Floats
    weights: Floats
    units: Mapping[str, str] = field(default_factory=dict)
    unrepeated: float = 0.0

    def averaged(self, values: ArrayLike) -> Complexes:
        """Return means (k,) in this response's bands of values (f,) at the frequencies ``excited``."""
        return np.asarray(self.weights @ np.asarray(values))

    @property
    def frame(self) -> pd.DataFrame:
        """Table with a row for each response and frequency.

        Columns are ``response``, ``frequency`` [Hz], ``gain`` [response's unit/stimulus's unit], ``phase`` [rad],
        unwrapped and negative for a lag, and ``coherence``. With intervals, gain, phase and coherence have further
        columns ``…_low`` and ``…_high``. Units are in ``attrs["units"]``.
        """
        import pandas as pd

        parts = []
        for name, values in self.values.items():
            numbers = {"gain": np.abs(values), "phase": unwrapped(values), "coherence": self.coherence[name]}
            columns: dict[str, Any] = {"response": name, "frequency": self.frequencies}
            for what, number in numbers.items():
                columns[what] = number
                if self.intervals is not None:
                    low, high = getattr(self.intervals[name], what)
                    # Intervals of the phase are relative to the estimated phase.
                    shift = number if what == "phase" else 0.0
                    columns |= {f"{what}_low": shift + low, f"{what}_high": shift + high}
            parts.append(pd.DataFrame(columns))
        frame = pd.concat(parts, ignore_index=True)
        frame.attrs["units"] = {
            column: {"frequency": "Hz", "phase": "rad", "gain": self._unit_of_gain}.get(column.partition("_")[0], "1")
            for column in frame.columns[1:]
        }
        return frame

    @property
    def _unit_of_gain(self) -> str:
        """Unit of the gains, or a list of units if they differ."""
        below = self.units.get("stimulus", "1")
        units = dict.fromkeys(self.units.get(name, "1") for name in self.values)
        return ", ".join("1" if unit == below else unit if below == "1" else f"{unit}/{below}" for unit in units)


def unwrapped(values: Complexes) -> Floats:
    """Return the phases (k,) [rad] of complex values at ascending frequencies, without jumps by 2π."""
    return np.asarray(np.unwrap(np.angle(values)))


def frequency_response(
    time: ArrayLike,
    stimulus: ArrayLike,
    responses: Mapping[str, ArrayLike],
    period: float,
    frequencies: Sequence[float] | Floats,
    *,
    begin: float | None = None,
    skip: int = 1,
    units: Mapping[str, str] | None = None,
    **how: Any,
) -> FrequencyResponse:
    """Return the frequency response to a periodic stimulus, from the whole cycles of one or more trials.

    ``how`` has keyword arguments of ``response_of``; for all others and the errors, see ``cycle_spectra``.
    """
    spectra = cycle_spectra(time, stimulus, responses, period, frequencies, begin=begin, skip=skip, units=units)
    return response_of(spectra, **how)


def response_of(
    spectra: Spectra,
    *,
    per_decade: float | None = None,
    over: Literal["cycles", "trials"] = "cycles",
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> FrequencyResponse:
    """Return the frequency response to a stimulus from the spectra of cycles or windows.

    Args:
        spectra: spectra of stimulus and responses.
        per_decade: number of bands per decade in which spectra are averaged; None: single frequencies.
        over: what the bootstrap resamples: ``cycles``, or ``trials`` if trials differ more than cycles of one trial,
            for example trials of several people.
        confidence: confidence level of the intervals.
        resamples: number of bootstrap resamples; 0: no intervals.
        seed: seed of the bootstrap.

    Raises:
        InputError: the stimulus is zero at an excited frequency, or an argument is out of range.
    """
    excited = spectra.frequencies[spectra.excited]
    u, y = spectra.stimulus[:, spectra.excited], spectra.stacked()[:, spectra.excited]
    power = np.abs(u) ** 2
    still = power.mean(axis=0) <= _LEAST**2 * power.mean(axis=0).max()
    if still.any():
        raise InputError(f"the stimulus is zero at {excited[still][0]:g} Hz: leave out that frequency")
    first = _first_of_bands(excited, per_decade)
    cross, input_power, output_power = (
        np.add.reduceat(values, first, axis=1) for values in (u.conj()[:, :, None] * y, power, np.abs(y) ** 2)
    )
    ratio = cross.mean(axis=0) / input_power.mean(axis=0)[:, None]
    names, cycles = list(spectra.responses), len(u)
    intervals = covariance = remnant = None
    if cycles > 1:
        each = (u.conj()[:, :, None] * y).mean(axis=0) / power.mean(axis=0)[:, None]  # (f, r) H at each frequency
        left = y - u[:, :, None] * each
        errors = np.add.reduceat(u.conj()[:, :, None] * left, first, axis=1) / input_power.mean(axis=0)[:, None]
        covariance = np.einsum("mkr,mks->krs", errors, errors.conj()) / (cycles * (cycles - 1))
        remnant = _remnant(spectra, left)
        if resamples:
            drawn = bootstrap(cross, input_power, output_power, spectra.trial, over, confidence, resamples, seed)
            intervals = dict(zip(names, drawn, strict=True))
    sizes = np.diff([*first, len(excited)])
    members = np.repeat(np.arange(len(first)), sizes) == np.arange(len(first))[:, None]
    return FrequencyResponse(
        frequencies=np.add.reduceat(excited, first) / sizes, values=dict(zip(names, ratio.T, strict=True)),
        covariance=covariance,
        coherence=dict(zip(names, coherence_of(cross, input_power, output_power).T, strict=True)),
        intervals=intervals, remnant=remnant, cycles=cycles, excited=excited,
        weights=members * power.mean(axis=0) / input_power.mean(axis=0)[:, None], units=spectra.units,
        unrepeated=spectra.unrepeated,
    )  # fmt: skip


def coherence_of(cross: Complexes, input_power: Floats, output_power: Floats) -> Floats:
    """Return γ² (k, r) from cross spectra (m, k, r) and powers (m, k), (m, k, r); 0 if the response is zero."""
    power = input_power.mean(axis=0)[:, None] * output_power.mean(axis=0)
    shared = np.abs(cross.mean(axis=0)) ** 2
    # γ² is 1 if all cycles are equal; rounding must not make it larger.
    return np.minimum(np.divide(shared, power, out=np.zeros_like(power), where=power > 0.0), 1.0)


def _first_of_bands(frequencies: Floats, per_decade: float | None) -> NDArray[np.int64]:
    """Return the index (k,) of the first frequency of each band that is not empty."""
    if per_decade is None:
        return np.arange(len(frequencies))
    above_zero(per_decade, "per_decade")
    bands = np.floor(np.log10(frequencies / frequencies[0]) * per_decade + 1e-9)
    return np.flatnonzero(np.diff(bands, prepend=-1.0))


def _remnant(spectra: Spectra, left: Complexes) -> pd.DataFrame:
    import pandas as pd

    y, cycles = spectra.stacked(), len(spectra.trial)
    rest = y - y.mean(axis=0)
    rest[:, spectra.excited] = left
    # A coefficient c has the power |c|²/2, spread over 1/period.
    power = 0.5 * spectra.period * (np.abs(rest) ** 2).sum(axis=0) / (cycles - 1)
    parts = [
        pd.DataFrame(
            {"response": name, "frequency": spectra.frequencies, "excited": spectra.excited, "power": power[:, k]}
        )
        for k, name in enumerate(spectra.responses)
    ]
    frame = pd.concat(parts, ignore_index=True)
    units = dict.fromkeys(f"{spectra.units.get(name, '1')}**2/Hz" for name in spectra.responses)
    frame.attrs["units"] = {"frequency": "Hz", "power": ", ".join(units)}
    return frame
