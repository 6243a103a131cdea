"""Preparation of a recorded signal for a disturbance: gaps, filter, rate, baseline, scale and cuts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from biped.errors import InputError
from biped.inputs.checks import is_finite, zero_or_above
from biped.inputs.fields import quantity
from biped.records.record import ROUNDING, Record, are_even, gap_in_words, sampling_rate
from biped.signals import Signal
from biped.signals.filters import low_passed
from contact.arrays import Floats

#: [s] Time over which a small offset at the beginning of a displacement, due to noise, is faded in.
EASING = 0.1
#: Largest remaining value at the beginning or end of a record, as a share of its range.
LEFT = 0.1


@dataclass(frozen=True)
class Preparation:
    """Processing of a recorded column; the steps are applied in the order of the fields.

    Raises:
        InputError: a number is not finite or out of range, or ``begin`` is not before ``end``.
    """

    gaps: float = quantity("s", "Recorded data: longest gap that is filled by linear interpolation", 0.0)
    filter: float = quantity("Hz", "Recorded data: cutoff of a zero-phase fourth-order low-pass filter; 0: none", 0.0)
    resample: float = quantity("Hz", "Recorded data: new sampling rate, with a sample at begin; 0: as recorded", 0.0)
    baseline: float = quantity("s", "Recorded data: baseline from begin on; its mean is subtracted; 0: none", 0.0)
    scale: float = quantity("", "Recorded data: scale factor; -1 flips the sign", 1.0)
    offset: float = quantity("{unit}", "Recorded data: offset added after scaling", 0.0)
    begin: float = quantity("s", "Recorded data: first time of the record that is used", 0.0)
    end: float = quantity("s", "Recorded data: last time of the record that is used; inf: its end", math.inf)

    def __post_init__(self) -> None:
        for name in ("gaps", "filter", "resample", "baseline"):
            zero_or_above(getattr(self, name), name)
        for name in ("scale", "offset", "begin"):
            if not is_finite(getattr(self, name)):
                raise InputError(f"{name} = {getattr(self, name)!r}: it must be a finite number")
        if self.scale == 0.0:
            raise InputError("scale = 0: it must not be zero; −1 flips the sign")
        if not self.end > self.begin:
            raise InputError(f"end = {self.end!r}: it must be after begin, {self.begin:g} s")

    def __call__(self, record: Record, column: str, unit: str = "") -> tuple[Floats, Floats]:
        """Return times (n,) [s] after ``begin``, and the prepared values (n,) of a column, in ``unit`` if given.

        Raises:
            InputError: the column is missing, measures another quantity, has a gap longer than ``gaps``, or cannot be
                filtered or sampled with these settings; the message gives a remedy.
        """
        values = record.converted(column, unit) if unit else record[column]
        try:
            time, values = self._without_gaps(record.time, values)
            if self.filter:
                time, values = _evened(time, values, sampling_rate(time))
                values = low_passed(time, values, self.filter, "filter")
            if self.resample:
                time, values = self._resampled(time, values, record.rate)
            return self._cut(time, self._shifted(time, values))
        except InputError as error:
            raise InputError(f"{record.source}, column {column}: {error}") from None

    def displacement(self, record: Record, column: str, unit: str) -> Signal:
        """Return a column as a displacement that begins at zero; a small offset there is faded in over 0.1 s.

        A filtered column becomes a cubic spline with continuous velocity; without a filter, interpolation is linear.

        Raises:
            InputError: the column cannot be prepared (see ``__call__``), or the displacement begins far from zero.
        """
        time, values = self(record, column, unit)
        self._check_left(record, column, values, values[0], f"begins at {values[0]:.3g} {unit}", "the beginning")
        left = values[0] * (1.0 - Signal.step(1.0, rise=EASING)(time))
        return Signal.sampled(time, values - left, "cubic" if self.filter else "linear")

    def force(self, record: Record, column: str, unit: str) -> Signal:
        """Return a column as a force, interpolated linearly, and zero after its end.

        Raises:
            InputError: the column cannot be prepared (see ``__call__``), or the force ends far from zero.
        """
        time, values = self(record, column, unit)
        self._check_left(record, column, values, values[-1], f"ends at {values[-1]:.3g} {unit}", "the end")
        drawn = Signal.sampled(time, values)
        return Signal(drawn.knots, np.vstack([drawn.coefficients[:-1], np.zeros((1, drawn.coefficients.shape[1]))]))

    def _check_left(self, record: Record, column: str, values: Floats, left: float, what: str, where: str) -> None:
        if abs(left) > LEFT * np.ptp(values):
            remedy = f"subtract it with baseline (the mean of the first seconds) or offset, or move {where}"
            raise InputError(f"{record.source}, column {column}: it {what}, but must be near zero there; {remedy}")

    def _without_gaps(self, time: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Return the part of the record without long gaps that contains begin and end, with short gaps filled."""
        there = np.flatnonzero(np.isfinite(values))
        if len(there) < 2:
            raise InputError(gap_in_words(time, values))
        apart = time[there[1:]] - time[there[:-1]]
        is_long = (np.diff(there) > 1) & (apart > self.gaps * (1.0 + 1e-9))
        end = min(self.end, time[-1])
        for part in np.split(there, np.flatnonzero(is_long) + 1):
            first, last = part[0], part[-1] + 1
            if time[first] <= max(self.begin, time[0]) and end <= time[last - 1]:
                return time[first:last], np.interp(time[first:last], time[part], values[part])
        within = (time >= self.begin) & (time <= end)
        if within.sum() < 2:
            raise InputError(f"the record spans {time[0]:g} to {time[-1]:g} s: begin and end must be within")
        bridged = "set gaps to that length or more, or " if np.isfinite(values[within][[0, -1]]).all() else ""
        raise InputError(f"{gap_in_words(time[within], values[within])}: {bridged}cut it off with begin and end")

    def _resampled(self, time: Floats, values: Floats, rate: float) -> tuple[Floats, Floats]:
        is_slower = self.resample < rate and not are_even(time, self.resample)
        if is_slower and not 0.0 < self.filter <= self.resample / 2.0:
            raise InputError(
                f"resample = {self.resample:g} Hz is below the record's {rate:g} Hz: frequencies above "
                f"{self.resample / 2.0:g} Hz would alias: set filter to that frequency or lower"
            )
        return _evened(time, values, self.resample, self.begin)

    def _shifted(self, time: Floats, values: Floats) -> Floats:
        """Apply baseline, scale and offset."""
        if self.baseline:
            at_first = (time >= self.begin) & (time <= self.begin + self.baseline)
            if not at_first.any():
                raise InputError(f"baseline = {self.baseline:g} s: no sample is in this time after begin")
            values = values - values[at_first].mean()
        return self.scale * values + self.offset

    def _cut(self, time: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Return times from begin on and values, cut from begin to end, with interpolated values at both ends."""
        begin, end = max(self.begin, time[0]), min(self.end, time[-1])
        if not begin < end:
            raise InputError(f"the record spans {time[0]:g} to {time[-1]:g} s: begin and end must be within")
        within = (time > begin + ROUNDING) & (time < end - ROUNDING)
        kept = np.concatenate([[begin], time[within], [end]])
        return kept - self.begin, np.interp(kept, time, values)


def _evened(time: Floats, values: Floats, rate: float, begin: float = -math.inf) -> tuple[Floats, Floats]:
    """Return times and values at a rate [Hz] by linear interpolation; unchanged if they have this rate already.

    There is a sample at ``begin`` [s] if the record has begun by then, and otherwise at the record's first time.
    """
    anchor = max(begin, float(time[0]))
    if are_even(time, rate) and np.abs(time - anchor).min() < ROUNDING:
        return time, values
    before, after = (math.floor(span * rate + 1e-9) for span in (anchor - time[0], time[-1] - anchor))
    even = anchor + np.arange(-before, after + 1) / rate
    return even, np.interp(even, time, values)
