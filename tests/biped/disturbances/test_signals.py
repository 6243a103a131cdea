"""Functions of time: their values, integrals and refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biped import InputError, Signal
from biped.signals import compile_signals
from contact.piecewise import signal_at

KINDS = {
    "rectangle": Signal.rectangle(3.0, 0.2, 0.7),
    "half-sine": Signal.half_sine(3.0, 0.2, 0.7),
    "step": Signal.step(0.05, 0.3, 0.4),
    "sine": Signal.sine(0.02, 1.3, 0.25, 3.1),
    "faded": Signal.sine(0.02, 1.3, 0.25, 3.1, fade=0.6),
    "sines": Signal.sum_of_sines([1.0, 0.5, 0.2], [0.3, 1.1, 2.7], [0.1, 2.0, 4.0], start=0.5, duration=4.0),
    "ternary": Signal.ternary(0.03, 0.1, 3, start=0.4),
    "noise": Signal.noise(20.0, 0.05, 0.1, 1.02, seed=3),
    "linear": Signal.sampled([0.1, 0.4, 1.0], [0.0, 2.0, 0.0]),
    "cubic": Signal.sampled([0.1, 0.4, 0.7, 1.0], [0.0, 2.0, -1.0, 0.0], "cubic"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_kernels_see_the_same_function(kind):
    times = np.linspace(-0.5, 6.0, 1301)
    compiled = compile_signals([KINDS["step"], KINDS[kind], KINDS["linear"]])
    assert np.array_equal(KINDS[kind](times), [signal_at(compiled, 1, t) for t in times])


@pytest.mark.parametrize("fade", [0.0, 0.7])
def test_sines_are_exact_to_round_off(fade):
    sizes, frequencies, phases = [1.0, 0.5, 0.2], [0.3, 1.1, 2.7], [0.1, 2.0, 4.0]
    signal = Signal.sum_of_sines(sizes, frequencies, phases, start=0.5, duration=4.0, fade=fade)
    t = np.linspace(0.0, 4.0, 20_001)[:-1]
    exact = sum(a * np.sin(2 * np.pi * f * t + p) for a, f, p in zip(sizes, frequencies, phases, strict=True))
    if fade:
        s = np.minimum(np.clip(t / fade, 0, 1), np.clip((4.0 - t) / fade, 0, 1))
        exact = exact * s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3)
    assert np.abs(signal(0.5 + t) - exact).max() < 1e-13


def test_a_step_has_the_least_jerk():
    """Flash and Hogan 1985: 10 s³ − 15 s⁴ + 6 s⁵: at rest at both ends, without acceleration."""
    signal, h = Signal.step(2.0, 1.0, 0.5), 1e-4
    for edge in (1.0, 1.5):
        rate = np.gradient(signal(edge + h * np.arange(-3, 4)), h)
        change = np.gradient(rate, h)
        assert abs(rate[3]) < 1e-4
        assert abs(change[3]) < 0.2 * 2.0 / 0.5**2 * 0.1
    assert signal(1.25) == pytest.approx(1.0)
    assert signal([0.0, 1.0, 1.5, 9.0]).tolist() == [0.0, 0.0, 2.0, 2.0]


@pytest.mark.parametrize("kind", ["rectangle", "half-sine", "noise", "linear", "cubic", "faded"])
def test_integrals_against_quadrature(kind):
    signal = KINDS[kind]
    integral = signal.integral()
    fine = np.unique(np.concatenate([np.linspace(0.0, 4.0, 40_001), signal.knots]))
    middle = 0.5 * (fine[1:] + fine[:-1])
    sums = np.concatenate([[0.0], np.cumsum(signal(middle) * np.diff(fine))])
    assert np.abs(integral(fine) - sums).max() < 2e-8 * max(1.0, np.abs(sums).max())
    assert integral(-1.0) == signal(-1.0) == 0.0
    assert integral(5.0) == integral(100.0)


@pytest.mark.parametrize("stages", [3, 4, 5, 6, 7])
def test_the_ternary_sequence_is_of_maximal_length(stages):
    """Every nonzero word of n letters occurs once in a cycle, and the second half is minus the first."""
    signal = Signal.ternary(1.0, 0.5, stages)
    rate = np.sign(np.round(np.diff(signal(signal.knots)), 9)).astype(int)
    length = 3**stages - 1
    assert len(rate) == length
    around = np.concatenate([rate, rate])
    assert len({tuple(around[i : i + stages]) for i in range(length)}) == length
    assert np.array_equal(rate[: length // 2], -rate[length // 2 :])
    assert np.ptp(signal(signal.knots)) == pytest.approx(1.0)
    assert signal.largest_jump() < 1e-12


@pytest.mark.parametrize("stages", [3, 5])
def test_ternary_steps_are_the_slopes_of_the_ternary_signal(stages):
    steps = Signal.ternary_steps(7.0, 0.5, stages, start=0.3, cycles=2, seed=11)
    integral, ramps = steps.integral(), Signal.ternary(1.0, 0.5, stages, start=0.3, cycles=2, seed=11)
    times = np.linspace(0.0, 1.0 + steps.ends, 999)
    assert integral(times) == pytest.approx(np.ptp(integral(steps.knots)) * ramps(times), abs=1e-9)
    assert set(np.unique(steps(times))) == {-7.0, 0.0, 7.0}
    assert steps.frequencies == ramps.frequencies
    assert steps(steps.ends) == 0.0


@given(st.integers(0, 2**31), st.floats(1e-3, 0.3), st.floats(0.01, 2.0))
def test_noise_lasts_exactly_as_long_as_it_should(seed, interval, duration):
    signal = Signal.noise(5.0, interval, 1.0, duration, seed)
    assert signal.begins == 1.0
    assert signal.ends == pytest.approx(1.0 + duration, rel=1e-12)
    assert signal(signal.ends) == 0.0


@given(st.floats(1e-3, 3.0), st.floats(-2.0, 5.0))
def test_a_half_sine_ends_at_zero_and_has_its_area(duration, start):
    area = Signal.half_sine(3.0, start, duration).integral()
    assert area(start + duration + 1.0) == pytest.approx(2.0 * 3.0 * duration / np.pi, rel=1e-12)


def test_a_recorded_signal(tmp_path):
    file = tmp_path / "platform.csv"
    file.write_text("time;angle\n0;0\n0.5;0.1\n2;0\n")
    signal = Signal.from_csv(file, "angle")
    assert signal([0.25, 1.25]).tolist() == pytest.approx([0.05, 0.05])
    for text, words in (
        ("time,x\n0,1\n1,2\n", "no column 'angle'; columns are x"),
        ("time,angle\n0,0\n1,a\n2,0\n", "line 3, column angle: 'a' is not a number"),
        ("time,angle\n0,0\n0,1\n", "ascend"),
        ("time,angle\n0,0\n", "two rows"),
    ):
        file.write_text(text)
        with pytest.raises(InputError, match=words):
            Signal.from_csv(file, "angle")


def test_a_recorded_signal_from_a_spreadsheet(tmp_path):
    """The file has a byte order mark, carriage returns, and empty lines at the end."""
    file = tmp_path / "platform.csv"
    file.write_bytes(b"\xef\xbb\xbftime,value\r\n0,0\r\n1,0.5\r\n\r\n")
    assert Signal.from_csv(file)(0.5) == pytest.approx(0.25)
    file.write_text("time,h\xf6he\n0,0\n1,1\n", encoding="latin-1")
    with pytest.raises(InputError, match="UTF-8"):
        Signal.from_csv(file, "höhe")


def test_refusals():
    for make, words in (
        (lambda: Signal.sine(1.0, -1.0), "frequency"),
        (lambda: Signal.sine(1.0, 1.0, duration=1e9), "pieces"),
        (lambda: Signal.noise(1.0, 1e-9), "pieces"),
        (lambda: Signal.noise(-1.0), "deviation"),
        (lambda: Signal.noise(1.0, seed=-1), "seed"),
        (lambda: Signal.sine(1.0, 1.0, duration=1.0, fade=0.6), "fade"),
        (lambda: Signal.sum_of_sines([1.0], [1.0, 2.0]), "amplitudes"),
        (lambda: Signal.ternary(1.0, stages=9), "stages"),
        (lambda: Signal.ternary_steps(1.0, cycles=0), "cycles"),
        (lambda: Signal.rectangle(1.0, 0.0, 0.0), "duration"),
        (lambda: Signal.sampled([0.0, 1.0], [0.0, np.nan]), "finite"),
        (lambda: Signal.step(1.0).integral(), "last value"),
    ):
        with pytest.raises(InputError, match=words):
            make()
