"""A metric for every command: ``biped run balance --set push.impulse=8 --metric-file examples/lean.py``."""

from biped.metrics import Measurement, Metric


def lean(run: Measurement) -> float:
    """How far the centre of mass goes to the front, towards −x, of where it began."""
    return run["com_x"][0] - run["com_x"][run.first :].min()


LEAN = Metric("lean_forward", "m", "how far the centre of mass goes to the front at most", lean)
