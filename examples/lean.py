"""A metric for every command: ``biped run balance --set push.impulse=8 --metric-file examples/lean.py``."""

from biped.metrics import Measurement, Metric


def lean(run: Measurement) -> float:
    """Return the largest forward displacement [m] of the centre of mass; forward is −x."""
    return run["com_x"][0] - run["com_x"][run.first :].min()


LEAN = Metric("lean_forward", "m", "largest forward displacement of the CoM", lean)
