"""Ticks as plain numbers."""

from matplotlib.axis import Axis
from matplotlib.ticker import LogFormatter


class _PlainLogFormatter(LogFormatter):
    def _num_to_string(self, x: float, vmin: float, vmax: float) -> str:
        return f"{x:g}"


def plain_log_ticks(axis: Axis) -> None:
    """Numbers such as 0.5 and 20 at the ticks of a logarithmic axis; between decades where it spans few."""
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(_PlainLogFormatter(labelOnlyBase=False, minor_thresholds=(2.0, 0.5)))
