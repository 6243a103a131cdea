import itertools

import pytest

from experiments.visualization.viewer.plot_panel import axis, ticks_of, with_room

RANGES = [(0.0, 3.0), (0.8701, 0.8709), (-1234.5, 2000.0), (-1e-9, 2e-9), (1e7, 1.00001e7), (-3.0, -2.9), (5.0, 905.0)]


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_ticks_are_within_even_and_told_apart(low, high):
    values, names = ticks_of(low, high)
    assert 3 <= len(values) <= 6
    assert low - 1e-6 * (high - low) <= values[0]
    assert values[-1] <= high + 1e-6 * (high - low)
    gaps = [b - a for a, b in itertools.pairwise(values)]
    assert gaps == pytest.approx([gaps[0]] * len(gaps), rel=1e-6)
    assert len(set(names)) == len(names)
    assert [float(name) for name in names] == pytest.approx(values, abs=1e-6 * gaps[0])


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.0), (5.0, 5.0), (-2.0, -2.0), (1.0, 1.0 + 1e-15), (0.0, 1e-20)])
def test_what_is_constant_has_an_axis_too(low, high):
    least, most = with_room(low, high)
    assert least < low <= high < most
    names = ticks_of(least, most)[1]
    assert len(set(names)) == len(names) >= 3


def test_an_upright_axis_is_as_wide_as_its_names():
    narrow, wide = axis(0.0, 3.0, upright=True), axis(-30000.0, 20000.0, upright=True)
    assert wide["size"] - narrow["size"] >= 7.0 * (len("-30000") - len("3.0"))
