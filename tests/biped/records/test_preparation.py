"""Preparation of a record: each stage against its known effect on a signal."""

import numpy as np
import pytest

from biped.errors import InputError
from biped.records import Preparation, Record
from biped.signals.filters import low_passed
from tests.refusals import refuses

RATE = 100.0
TIME = np.arange(801) / RATE


def record_of(values, time=TIME, unit="m"):
    return Record(time, {"value": values}, {"value": unit}, "subject.csv")


def hump(time):
    """Return 0 until 2 s, then a rise by 0.05 m and back to 0 at 6 s, with continuous velocities."""
    part = np.clip((time - 2.0) / 4.0, 0.0, 1.0)
    return 0.025 * (1.0 - np.cos(2.0 * np.pi * part))


def test_without_anything_it_is_the_record():
    time, values = Preparation()(record_of(hump(TIME)), "value")
    np.testing.assert_array_equal(time, TIME)
    np.testing.assert_allclose(values, hump(TIME), rtol=1e-15)


def test_scale_and_offset_come_after_the_baseline():
    raw = 0.5 - hump(TIME) / 1000.0  # turned round, in other units, from another zero
    _, values = Preparation(baseline=1.0, scale=-1000.0, offset=0.003)(record_of(raw), "value")
    np.testing.assert_allclose(values, hump(TIME) + 0.003, atol=1000.0 * 0.5 * 100 * np.finfo(float).eps)


def test_degrees_become_radians():
    signal = Preparation().displacement(record_of(hump(TIME), unit="deg"), "value", "rad")
    np.testing.assert_allclose(signal(TIME), np.radians(hump(TIME)), atol=1e-17)


def test_time_is_counted_from_where_it_begins():
    time, values = Preparation(begin=2.005, end=5.995)(record_of(hump(TIME)), "value")
    assert time[0] == 0.0
    assert time[-1] == pytest.approx(3.99)
    np.testing.assert_allclose(values, np.interp(time + 2.005, TIME, hump(TIME)), atol=1e-16)


def test_a_gap_is_bridged_by_a_straight_line():
    """The error is at most that of linear interpolation, max|f''| h²/8, h the time between neighbouring values."""
    values = hump(TIME)
    values[300:320] = np.nan
    span = 21 / RATE
    with pytest.raises(InputError, match=r"subject.csv, column value: a gap of 0.21 s after 2.99 s: set gaps to"):
        Preparation(gaps=0.20)(record_of(values), "value")
    _, bridged = Preparation(gaps=span)(record_of(values), "value")
    bound = 0.025 * (np.pi / 2.0) ** 2 * span**2 / 8.0
    error = np.abs(bridged - hump(TIME)).max()
    assert 0.0 < error <= bound


def test_a_gap_outside_of_what_is_used_may_stay():
    values = hump(TIME)
    values[:50], values[700:760] = np.nan, np.nan
    time, kept = Preparation(begin=1.0, end=6.5)(record_of(values), "value")
    np.testing.assert_allclose(kept, hump(time + 1.0), atol=1e-16)
    with pytest.raises(InputError, match=r"a gap of 0.61 s after 6.99 s: set gaps .*cut it off with begin and end"):
        Preparation(begin=1.0)(record_of(values), "value")
    with pytest.raises(InputError, match="it spans 0.5 to 6.5 s only: cut it off with begin and end"):
        Preparation(end=6.5)(record_of(values), "value")


@pytest.mark.parametrize("frequency", [1.0, 5.0, 20.0])
def test_the_filter_lets_through_what_butterworths_does(frequency):
    """Applied twice, the second order passes a tone by 1/(1 + (tan(πf/r)/tan(πf₀/r))⁴), without delay."""
    time = np.arange(4001) / RATE
    tone = np.sin(2.0 * np.pi * frequency * time)
    passed = low_passed(time, tone, 5.0)
    ratio = np.tan(np.pi * frequency / RATE) / np.tan(np.pi * 5.0 / RATE)
    middle = slice(1000, 3000)  # the ends' transients fall by e^(−2π·5·0.7 t): e^(−220)
    np.testing.assert_allclose(passed[middle], tone[middle] / (1.0 + ratio**4), atol=1e-9)


def test_a_filtered_displacement_has_no_steps_of_velocity():
    rough = hump(TIME) + 0.001 * np.sin(2.0 * np.pi * 40.0 * TIME)
    signal = Preparation(filter=5.0).displacement(record_of(rough), "value", "m")
    spans = np.diff(signal.knots)
    powers = np.arange(1, signal.coefficients.shape[1])
    rates = signal.coefficients[:-1, 1:] * powers
    at_ends = (rates * spans[:, None] ** (powers - 1)).sum(axis=1)
    np.testing.assert_allclose(at_ends[:-1], rates[1:, 0], atol=1e-10)
    assert np.abs(signal(TIME) - hump(TIME)).max() < 5e-4  # what is left of a tone at 40 Hz is 1/(1 + 400) of it


def test_uneven_times_are_made_even_before_the_filter():
    """Samples are missing: the error of linear interpolation of a 1 Hz tone is at most (2π)² h²/8."""
    dropped = np.delete(TIME, np.arange(5, 790, 7))
    tone = np.sin(2.0 * np.pi * dropped)
    time, values = Preparation(filter=20.0)(record_of(tone, dropped), "value")
    even = Preparation(filter=20.0)(record_of(np.sin(2.0 * np.pi * TIME)), "value")[1]
    np.testing.assert_allclose(time, TIME, atol=1e-12)
    most = 1.0 + 2.0**0.5  # ‖h‖₁ of a filter there and back is no more than the square of one way's
    assert np.abs(values - even).max() <= most**2 * (2.0 * np.pi) ** 2 * (2.0 / RATE) ** 2 / 8.0


def test_times_that_a_file_has_rounded_have_the_rate_that_they_had():
    """60 Hz in whole milliseconds gives steps of 16 and 17; some samples are missing."""
    time = np.delete(np.round(np.arange(480) / 60.0, 3), np.arange(100, 110))
    found, _ = Preparation(filter=5.0)(record_of(hump(time), time), "value")
    rounding = 1e-3 / (len(time) - 2)  # of the mean of steps, the ends' of the two parts
    assert np.diff(found)[1:-1] == pytest.approx(1.0 / 60.0, abs=2.0 * rounding)


@pytest.mark.parametrize("rate", [60.0, 90.0, 120.0])
def test_times_that_are_even_but_for_their_last_digit_are_taken_as_they_are(rate):
    time = np.round(np.arange(480) / rate, 3)
    record = record_of(hump(time), time)
    assert abs(1.0 / record.rate - 1.0 / rate) <= 1e-3 / (len(time) - 1)
    for prepared, values in (
        (Preparation(filter=5.0), low_passed(time, hump(time), 5.0)),
        (Preparation(resample=rate), hump(time)),
    ):
        found, own = prepared(record, "value")
        np.testing.assert_array_equal(found, time)
        np.testing.assert_allclose(own, values, rtol=1e-15)


def test_times_that_are_whole_digits_are_not_taken_for_other_ones():
    """Times in hundredths of a second at 100 Hz: after eight seconds at 100.1 Hz most of a digit is missing."""
    found, _ = Preparation(resample=100.1)(record_of(hump(TIME)), "value")
    np.testing.assert_allclose(np.diff(found)[:-1], 1.0 / 100.1)


def test_samples_are_taken_where_it_begins():
    time, values = Preparation(filter=5.0, resample=20.0, begin=0.123)(record_of(hump(TIME)), "value")
    np.testing.assert_allclose(time[:-1], np.arange(len(time) - 1) / 20.0, atol=1e-12)
    np.testing.assert_allclose(
        values, np.interp(0.123 + time, TIME, low_passed(TIME, hump(TIME), 5.0)), rtol=0, atol=1e-12
    )


def test_sampled_anew():
    time, values = Preparation(filter=5.0, resample=20.0)(record_of(hump(TIME)), "value")
    np.testing.assert_allclose(np.diff(time), 0.05)
    np.testing.assert_allclose(values, low_passed(TIME, hump(TIME), 5.0)[::5], atol=1e-12)
    with pytest.raises(InputError, match="resample = 20 Hz is below the record.s 100 Hz.*set filter to that"):
        Preparation(resample=20.0)(record_of(hump(TIME)), "value")


def test_a_displacement_begins_at_zero():
    """Remaining noise at the beginning is eased in within 0.1 s; later values are unchanged."""
    noisy = hump(TIME) + 0.001 * np.cos(2.0 * np.pi * 10.0 * TIME)
    signal = Preparation().displacement(record_of(noisy), "value", "m")
    assert float(signal(0.0)) == 0.0
    np.testing.assert_allclose(signal(TIME[11:]), noisy[11:], atol=1e-16)
    with pytest.raises(InputError, match=r"it begins at 0\.4 m, but must be near zero there; subtract it with"):
        Preparation().displacement(record_of(0.4 + hump(TIME)), "value", "m")


def test_a_force_ends():
    force = Preparation(end=6.5).force(record_of(100.0 * hump(TIME), unit="N"), "value", "N")
    assert float(force(7.0)) == 0.0
    # ∫ of what is straight from sample to sample is that of the trapezoids
    expected = 100.0 * np.trapezoid(hump(TIME), TIME)
    assert force.integral().coefficients[-1, 0] == pytest.approx(expected, rel=1e-12)
    with pytest.raises(InputError, match="it ends at 5 N, but must be near zero there"):
        Preparation(end=4.0).force(record_of(100.0 * hump(TIME), unit="N"), "value", "N")


@refuses(
    ({"gaps": -1.0}, "gaps = -1.0: it must be"),
    ({"filter": float("nan")}, "filter = nan"),
    ({"scale": 0.0}, "scale = 0: it must not be zero"),
    ({"begin": 2.0, "end": 1.0}, "end = 1.0: it must be after begin, 2 s"),
)
def test_what_cannot_be_done_is_refused(wrong):
    Preparation(**wrong)


@pytest.mark.parametrize(("wrong", "said"), [
    ({"filter": 80.0}, "filter = 80.0 Hz must be between 0 and 50 Hz"),
    ({"begin": 9.0}, "the record spans 0 to 8 s: begin and end must be within"),
    ({"begin": 0.003, "baseline": 0.001}, "baseline = 0.001 s: no sample is in this time"),
])  # fmt: skip
def test_what_a_record_does_not_allow_is_refused(wrong, said):
    with pytest.raises(InputError, match=rf"subject.csv, column value: {said}"):
        Preparation(**wrong)(record_of(hump(TIME)), "value")


def test_another_unit_is_refused():
    with pytest.raises(InputError, match="its unit is m: it must be N"):
        Preparation()(record_of(hump(TIME)), "value", "N")
