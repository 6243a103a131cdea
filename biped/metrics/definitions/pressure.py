"""Where the centre of pressure wanders."""

from biped.metrics.definitions.sources import ELLIPSE, PRIETO
from biped.metrics.kernels import metrics as kernels
from biped.metrics.measurement import Measurement
from biped.metrics.metric import Metric, register


def pressure(run: Measurement) -> dict[str, float]:
    if not run.model.nc:
        return {}
    return kernels.measure_pressure(run.rows, run.places, run.series, run.first)._asdict()


register(
    Metric("cop_path_length", "m", "path of the centre of pressure", pressure,
           "TOTEX: sum of distances between successive rows that both have one", PRIETO),
    Metric("cop_mean_velocity", "m/s", "mean velocity of the centre of pressure", pressure, "MVELO: path over its time",
           PRIETO),
    Metric("cop_mean_distance", "m", "mean distance from its mean", pressure, "MDIST", PRIETO),
    Metric("cop_rms_distance", "m", "RMS distance from its mean", pressure, "RDIST", PRIETO),
    Metric("cop_range_x", "m", "range along x, sagittal for the human", pressure, "greatest less least", PRIETO),
    Metric("cop_range_y", "m", "range along y, lateral for the human", pressure, "greatest less least", PRIETO),
    Metric("cop_area", "m**2", "area of the 95 % prediction ellipse", pressure,
           "π χ² √(det C), χ² = −2 ln 0.05, C the covariance of n − 1 degrees of freedom", ELLIPSE),
)  # fmt: skip
