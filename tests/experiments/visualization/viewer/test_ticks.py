import pytest

from experiments.visualization.viewer.plot_panel import with_margins


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.0), (5.0, 5.0), (-2.0, -2.0), (1.0, 1.0 + 1e-15), (0.0, 1e-20)])
def test_what_is_constant_has_an_axis_too(low, high):
    least, most = with_margins(low, high)
    assert least < low <= high < most
