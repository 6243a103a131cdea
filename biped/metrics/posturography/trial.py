"""All measures of one trial of quiet stance, and remarks about those that it lacks."""

from typing import NamedTuple

from numpy.typing import ArrayLike

from biped.errors import InputError
from biped.metrics.posturography.density import sway_density
from biped.metrics.posturography.diffusion import PARTING, diffusion_curve, diffusion_measures
from biped.metrics.posturography.sway import SHORTEST, mean_power_frequency, sway_measures

#: By what is added to a measure's name: the signal.
_COLUMNS = {"": "the plane", "_ap": "AP", "_ml": "ML"}


class Trial(NamedTuple):
    """Measures of a trial by name, in SI units and degrees, and sentences about measures that could not be computed."""

    measures: dict[str, float]
    notes: list[str]


def trial_measures(time: ArrayLike, ap: ArrayLike, ml: ArrayLike) -> Trial:
    """Return ``sway_measures``, ``mean_power_frequency``, ``sway_density`` and ``diffusion_measures`` of a trial.

    Args:
        time: (n,) [s], growing.
        ap: (n,) [m], NaN where there is none.
        ml: (n,) [m], likewise.

    Raises:
        InputError: the three differ in length, time does not grow, or fewer than three points are there.
    """
    found, notes = sway_measures(time, ap, ml), []
    if not found:
        raise InputError("it has fewer than three points: there is no sway to measure")
    if not any(name.startswith("power_frequency") for name in found):
        notes.append(f"no power frequencies: it is shorter than {SHORTEST:g} s, has gaps, or does not move")
    for what, measured in (
        ("mean power frequency", lambda: mean_power_frequency(time, ap, ml)),
        ("sway density", lambda: sway_density(time, ap, ml)),
        ("diffusion", lambda: diffusion_measures(diffusion_curve(time, ap, ml))),
    ):
        try:
            found |= measured()
        except InputError as error:
            notes.append(f"no {what}: {error}")
    without = [suffix for suffix in _COLUMNS if f"parting{suffix}" in found and f"critical_time{suffix}" not in found]
    if without:
        signals = " and ".join(_COLUMNS[suffix] for suffix in without)
        notes.append(f"no critical point between {PARTING[0]:g} and {PARTING[1]:g} s in {signals}")
    return Trial(found, notes)
