"""The metrics by name: unit, meaning, formula and source of each."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from biped.errors import InputError

HOF = "Hof, Gazendam, Sinke 2005"
KOOLEN = "Koolen et al. 2012; Pratt et al. 2006"
PRIETO = "Prieto et al. 1996"
SARDAIN = "Sardain, Bessonnet 2004"
VUKOBRATOVIC = "Vukobratović, Borovac 2004"
PETERKA = "Peterka 2002"
ELLIPSE = "Schubert, Kirchner 2014"
OGATA = "Ogata 2010"
WINTER = "Winter 2009"
OURS = "this project"
_EACH: tuple[Literal["JOINT", "FOOT", "FREQUENCY"], ...] = ("JOINT", "FOOT", "FREQUENCY")


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes:
        name: as in a table of results; of those that are there for each joint, foot or frequency with ``_JOINT``,
            ``_FOOT`` or ``_FREQUENCY`` in place of its name.
        unit: as the columns of a run have them; empty for a word.
        meaning: in a few words.
        formula: how it is computed, in words.
        source: where the definition is from.
    """

    name: str
    unit: str
    meaning: str
    formula: str
    source: str = OURS

    @property
    def per(self) -> Literal["JOINT", "FOOT", "FREQUENCY", ""]:
        """What there is one of it for; empty for the whole run."""
        for what in _EACH:
            if self.name.endswith(f"_{what}"):
                return what
        return ""

    @property
    def stem(self) -> str:
        """The name without what it is for."""
        return self.name.removesuffix(f"_{self.per}") if self.per else self.name


_ALL = (
    # Verdict
    Metric("verdict", "", "recovered, stepped, fell or failed",
           "fell: the run's limits of a fall were hit, or `falling_at_end`; stepped: it stands, and "
           "`foot_displacement` is above 5 cm; failed: the step had no solution; recovered otherwise"),
    Metric("fell_at", "s", "when the limits of a fall were hit", "as in the run's summary"),
    Metric("falling_at_end", "1", "whether it is falling at the end",
           "1 if nothing touches the floor, or if the extrapolated centre of mass is outside of the base of support, "
           "also when set off by the moment of a steady push: zero moment point less centre of pressure, mean of the "
           "last 0.1 s", HOF),
    # Recovery of the root
    Metric("settling_time", "s", "from then on the root is at its set point",
           "from `since` to the last time beyond 2 cm or 2°; none if it fell or did not settle", OGATA),
    Metric("peak_position_error", "m", "farthest of the root from its set point", "maximum of |x − x_d|"),
    Metric("peak_orientation_error", "rad", "greatest turn of the root from its set point",
           "maximum of the angle of q q̄_d"),
    Metric("position_overshoot", "m", "swing to the other side of the set point",
           "after the greatest error: maximum of the error against its direction; 0 if none; none of a fall", OGATA),
    Metric("orientation_overshoot", "rad", "the same of the turn", "the same of the rotation vector", OGATA),
    Metric("position_error", "m", "steady-state error", "mean of |x − x_d| over the last tenth of the rows", OGATA),
    Metric("orientation_error", "rad", "steady-state error of the turn", "mean over the last tenth of the rows", OGATA),
    # Margins
    Metric("margin_of_stability_min", "m", "least margin of stability",
           "signed distance from the extrapolated centre of mass to the boundary of the base of support, above zero "
           "inside; least of all rows with contact", HOF),
    Metric("margin_of_stability_end", "m", "margin of stability at the end", "the same in the last row", HOF),
    Metric("capture_margin_min", "m", "least margin of the capture point",
           "the same of the instantaneous capture point", KOOLEN),
    Metric("capture_margin_end", "m", "margin of the capture point at the end", "the same in the last row", KOOLEN),
    Metric("cop_margin_min", "m", "least margin of the centre of pressure",
           "its signed distance to the boundary of the support polygon", SARDAIN),
    Metric("zmp_margin_min", "m", "least margin of the zero moment point",
           "the same of the point from the whole body's momenta; below zero where something else pushes", VUKOBRATOVIC),
    Metric("support_area_end", "m**2", "area of the support polygon at the end",
           "of the convex hull of the points that are down", HOF),
    Metric("flight_time", "s", "time without any contact", "sum over rows in which no point is down"),
    # Feet
    Metric("foot_displacement", "m", "how far a foot is from where it stood",
           "most of all contact points, at the end, in space and in the floor's frame, from where each was first down"),
    Metric("footsteps", "1", "steps taken",
           "landings of a foot whose middle is more than 5 cm from where it last left the floor"),
    Metric("lifts", "1", "contact points that left the floor", "count of the events"),
    Metric("foot_slip", "m", "longest slide of a contact point", "as in the run's summary"),
    Metric("foot_creep", "m", "farthest creep of a point that sticks",
           "along the floor, in the last quarter of the rows, of the points that stick throughout it"),
    # Centre of pressure
    Metric("cop_path_length", "m", "path of the centre of pressure",
           "TOTEX: sum of distances between successive rows that both have one", PRIETO),
    Metric("cop_mean_velocity", "m/s", "mean velocity of the centre of pressure", "MVELO: path over its time", PRIETO),
    Metric("cop_mean_distance", "m", "mean distance from its mean", "MDIST", PRIETO),
    Metric("cop_rms_distance", "m", "RMS distance from its mean", "RDIST", PRIETO),
    Metric("cop_range_x", "m", "range along x, sagittal for the human", "greatest less least", PRIETO),
    Metric("cop_range_y", "m", "range along y, lateral for the human", "greatest less least", PRIETO),
    Metric("cop_area", "m**2", "area of the 95 % prediction ellipse",
           "π χ² √(det C), χ² = −2 ln 0.05, C the covariance of n − 1 degrees of freedom", ELLIPSE),
    # Ground reaction
    Metric("peak_grf", "N", "greatest force of the floor", "maximum of the total force across the floor", WINTER),
    Metric("peak_grf_FOOT", "N", "the same of a foot", "maximum of the foot's normal force", WINTER),
    Metric("mean_grf_FOOT", "N", "mean normal force of a foot", "impulse over time", WINTER),
    Metric("impact_peak_FOOT", "N", "greatest normal force of a landing",
           "within 50 ms after the foot came down; none if it did not"),
    Metric("impact_impulse", "N*s", "impulse of thrown bodies on the model", "length of the sum of all impacts"),
    # Actuation
    Metric("peak_torque", "N*m", "greatest torque of any joint", "maximum of all joints and rows"),
    Metric("peak_torque_JOINT", "N*m", "greatest torque of a joint", "maximum of |τ|; N of a prismatic joint"),
    Metric("rms_torque", "N*m", "RMS of the vector of torques", "√(∫ Σ τ² dt / T)"),
    Metric("rms_torque_JOINT", "N*m", "RMS torque of a joint", "√(∫ τ² dt / T)"),
    Metric("peak_power", "W", "greatest power of all joints together", "maximum of |Σ τ ω|", WINTER),
    Metric("peak_power_JOINT", "W", "greatest power of a joint", "maximum of |τ ω|", WINTER),
    Metric("positive_work", "J", "work that the joints did", "sum over joints", WINTER),
    Metric("positive_work_JOINT", "J", "work that a joint did",
           "sum of τ Δθ above zero, torque held between rows", WINTER),
    Metric("negative_work", "J", "work that the joints took up, not above zero", "sum over joints", WINTER),
    Metric("negative_work_JOINT", "J", "work that a joint took up", "sum of τ Δθ below zero", WINTER),
    Metric("saturation_time", "s", "longest time of a joint at its limit", "maximum over joints"),
    Metric("saturation_time_JOINT", "s", "time of a joint at its limit", "as in the run's summary"),
    # Sway under a periodic floor
    Metric("sway_gain_FREQUENCY", "1", "sway over the floor's motion at a frequency",
           "modulus of the ratio of Fourier coefficients over whole cycles; rad/m where the floor shifts", PETERKA),
    Metric("sway_phase_FREQUENCY", "rad", "how far the sway is ahead of the floor's motion",
           "argument of that ratio, −π … π; below zero for a lag", PETERKA),
    # Books and solver
    Metric("ledger_residual", "J", "greatest energy that no work accounts for", "maximum of |ledger_residual|"),
    Metric("momentum_defect", "N*s", "greatest momentum that no impulse accounts for", "maximum of its length"),
    Metric("angular_momentum_defect", "N*m*s", "the same of angular momentum", "maximum of its length"),
    Metric("steps", "1", "steps of the integrator", "count"),
    Metric("newton_mean", "1", "iterations a step", "mean, all parts of a step counted"),
    Metric("newton_max", "1", "most iterations of a solve", "maximum"),
    Metric("retried_steps", "1", "steps taken in parts", "count"),
)  # fmt: skip

#: All metrics, in the order in which tables of results have them.
METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}


def metric_named(name: str) -> Metric:
    """The metric of a column of results: ``peak_torque_left_knee_pitch`` is ``peak_torque_JOINT``.

    Raises:
        InputError: there is none.
    """
    if name in METRICS:
        return METRICS[name]
    parts = [metric for metric in METRICS.values() if metric.per and name.startswith(metric.stem + "_")]
    if not parts:
        raise InputError(f"unknown metric {name!r}; biped.metrics.METRICS has them all")
    return max(parts, key=lambda metric: len(metric.stem))


def units_of(names: Iterable[str]) -> dict[str, str]:
    """The unit of each of these metrics.

    Raises:
        InputError: a metric does not exist.
    """
    return {name: metric_named(name).unit for name in names}
