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
    Metric("cop_path_length", "m", "CoP path length", pressure,
           "TOTEX: sum of distances between successive rows that both have one", PRIETO),
    Metric("cop_mean_velocity", "m/s", "mean CoP velocity", pressure, "MVELO: path over its time",
           PRIETO),
    Metric("cop_mean_distance", "m", "mean distance of the CoP from its mean", pressure, "MDIST", PRIETO),
    Metric("cop_rms_distance", "m", "RMS distance of the CoP from its mean", pressure, "RDIST", PRIETO),
    Metric("cop_range_x", "m", "CoP excursion along x, sagittal for the human", pressure, "max less min", PRIETO),
    Metric("cop_range_y", "m", "CoP excursion along y, lateral for the human", pressure, "max less min", PRIETO),
    Metric("cop_area", "m**2", "CoP sway area: 95 % prediction ellipse", pressure,
           "π χ² √(det C), χ² = −2 ln 0.05, C the covariance of n − 1 degrees of freedom", ELLIPSE),
)  # fmt: skip
