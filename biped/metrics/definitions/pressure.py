"""Metrics of posturography of the centre of pressure (CoP)."""

from biped.metrics.anatomical import in_anatomical_axes
from biped.metrics.definitions.sources import ELLIPSE, PRIETO, QUIJOUX
from biped.metrics.kernels.support import COP
from biped.metrics.measurement import Measurement
from biped.metrics.metric import Metric, register
from biped.metrics.posturography import measures_of


def pressure(run: Measurement) -> dict[str, float]:
    if not run.model.nc:
        return {}
    sway = in_anatomical_axes(run.model, run.series[run.first :, COP : COP + 2])
    return {f"cop_{name}": value for name, value in measures_of(run["time"][run.first :], sway).items()}


#: Spectral measures by axis: suffix of the name, end of the title, end of the formula.
_SPECTRA = (("", "", " of the spectrum of PF50"), ("_AXIS", " along an axis", " of AP or ML"))

register(
    Metric("cop_path_length", "m", "CoP path length", pressure,
           "TOTEX: sum of distances between the CoPs of successive rows; rows without a CoP are gaps", PRIETO),
    Metric("cop_path_length_AXIS", "m", "CoP path length along an axis", pressure,
           "TOTEX-AP, TOTEX-ML: sum of distances along AP or ML", PRIETO),
    Metric("cop_mean_velocity", "m/s", "mean CoP velocity", pressure, "MVELO: path over its time", PRIETO),
    Metric("cop_mean_velocity_AXIS", "m/s", "mean CoP velocity along an axis", pressure,
           "MVELO-AP, MVELO-ML: path along the axis over its time", PRIETO),
    Metric("cop_mean_distance", "m", "mean distance of the CoP from its mean", pressure, "MDIST", PRIETO),
    Metric("cop_mean_distance_AXIS", "m", "mean distance of the CoP from its mean along an axis", pressure,
           "MDIST-AP, MDIST-ML", PRIETO),
    Metric("cop_rms_distance", "m", "RMS distance of the CoP from its mean", pressure, "RDIST", PRIETO),
    Metric("cop_rms_distance_AXIS", "m", "RMS distance of the CoP from its mean along an axis", pressure,
           "RDIST-AP, RDIST-ML: the standard deviation, normalized by n", PRIETO),
    Metric("cop_range", "m", "CoP excursion", pressure, "RANGE: greatest distance between any two rows", PRIETO),
    Metric("cop_range_AXIS", "m", "CoP excursion along an axis", pressure,
           "RANGE-AP, RANGE-ML: max less min", PRIETO),
    Metric("cop_area", "m**2", "CoP sway area: 95 % prediction ellipse", pressure,
           "π χ² √(det C), χ² = −2 ln 0.05, C the covariance of n − 1 degrees of freedom", ELLIPSE),
    Metric("cop_sway_area_rate", "m**2/s", "CoP sway area per second", pressure,
           "AREA-SW: Σ ∣x_n y_n+1 − x_n+1 y_n∣ / 2 T, from the mean", PRIETO),
    Metric("cop_principal_direction", "deg", "principal direction of the CoP", pressure,
           "angle of the major axis of the covariance from the AP axis, 0 to 90", QUIJOUX),
    Metric("cop_zero_crossings_AXIS", "Hz", "zero crossings of the CoP velocity along an axis", pressure,
           "number of sign changes / duration; none if there are gaps", QUIJOUX),
    Metric("cop_mean_frequency", "Hz", "mean frequency of the CoP", pressure,
           "MFREQ: frequency of circles of radius MDIST at the speed MVELO", PRIETO),
    Metric("cop_mean_frequency_AXIS", "Hz", "mean frequency of the CoP along an axis", pressure,
           "MFREQ-AP, MFREQ-ML: MVELO / (4 √2 MDIST) of the axis; 1.11 times a sine's frequency", PRIETO),
    Metric("cop_power_frequency_50", "Hz", "50 % power frequency of the CoP", pressure,
           "PF50: half of the power of the distance from the mean is below it; 0.15 to 5 Hz, eight sine tapers, "
           "interpolated between spectral lines; none if shorter than 20 s", PRIETO),
    Metric("cop_power_frequency_50_AXIS", "Hz", "50 % power frequency of the CoP along an axis", pressure,
           "PF50-AP, PF50-ML: PF50 of AP or ML", PRIETO),
    Metric("cop_power_frequency_95", "Hz", "95 % power frequency of the CoP", pressure,
           "PF95: 95 % of the power are below it", PRIETO),
    Metric("cop_power_frequency_95_AXIS", "Hz", "95 % power frequency of the CoP along an axis", pressure,
           "PF95-AP, PF95-ML: PF95 of AP or ML", PRIETO),
    *(
        Metric(f"cop_{name}{axis}", unit, f"{what} of the CoP{along}", pressure, f"{formula}{of}", PRIETO)
        for name, unit, what, formula in (
            ("centroid_frequency", "Hz", "centroid frequency", "CFREQ: √(μ₂ / μ₀), μ_k = Σ f^k P(f) Δf"),
            ("frequency_dispersion", "1", "frequency dispersion", "FREQD: √(1 − μ₁² / (μ₀ μ₂)), 0 for one frequency,"),
        )
        for axis, along, of in _SPECTRA
    ),
    *(
        Metric(f"cop_power_{part}{axis}", "m**2", f"CoP power at {part} frequencies{along}", pressure,
               f"Σ P(f) Δf{of}, {band} Hz", QUIJOUX)
        for part, band in (("low", "0.15 to 0.5"), ("medium", "above 0.5 to 2"), ("high", "above 2 to 5"))
        for axis, along, of in _SPECTRA
    ),
)  # fmt: skip
