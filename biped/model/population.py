"""Random subjects with the statures and masses of a measured population.

G. Heinz, L. J. Peterson, R. W. Johnson, C. J. Kerk, "Exploring relationships in body dimensions", Journal of Statistics
Education 11, 2003: 247 men and 260 women, physically active, most of them between 20 and 40. The numbers are computed
from their data in the R package ``openintro`` (``bdims``).
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from biped.model.anthropometry import TABLE
from biped.model.errors import ModelError, unknown
from biped.model.subject import MASSES, STATURES, Subject


class Measured(NamedTuple):
    """Means and standard deviations of stature [m] and mass [kg], and their correlation."""

    stature: float
    stature_sd: float
    mass: float
    mass_sd: float
    correlation: float


#: Measured populations by sex.
MEASURED = {"male": Measured(1.777, 0.0718, 78.1, 10.51, 0.53), "female": Measured(1.649, 0.0654, 60.6, 9.62, 0.43)}


def population(
    n: int,
    seed: int = 0,
    *,
    sex: str | None = None,
    age: float | None = None,
    segments: Collection[str] = (),
    measured: Mapping[str, Measured] = MEASURED,
) -> tuple[Subject, ...]:
    """Return ``n`` random subjects: stature and mass from a bivariate normal distribution, limited to adults' values.

    Args:
        n: number of subjects.
        seed: seed of the random numbers; with the same seed, a smaller ``n`` gives the same subjects, only fewer.
        sex: ``male`` or ``female``; None: both in turn.
        age: [years] age of all subjects; None: unknown. The default ``measured`` describes young adults.
        segments: names of the segments that have joints of their own; see `Subject`.
        measured: means, standard deviations and correlation of stature and mass in a population, by sex.

    Raises:
        ModelError: a number is invalid, or the sex is unknown or not in ``measured``.
    """
    given: tuple[tuple[str, Any, int], ...] = (("n", n, 1), ("seed", seed, 0))
    for name, value, least in given:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise ModelError(f"population: {name} = {value!r}: it must be a whole number, {least} or above")
    if sex is not None and sex not in TABLE:
        raise unknown("sex", sex, TABLE)
    sexes = tuple(TABLE) if sex is None else (sex,)
    for group in sexes:
        if group not in measured:
            raise ModelError(f"population: measured must contain {group!r}, but has {', '.join(measured) or 'nothing'}")
    random = np.random.default_rng(seed)
    return tuple(_drawn(random, sexes[k % len(sexes)], age, tuple(segments), measured) for k in range(n))


def _drawn(
    random: np.random.Generator,
    sex: str,
    age: float | None,
    segments: tuple[str, ...],
    measured: Mapping[str, Measured],
) -> Subject:
    people = measured[sex]
    for _ in range(1000):
        a, b = random.normal(size=2)
        stature = people.stature + people.stature_sd * a
        mass = people.mass + people.mass_sd * (people.correlation * a + np.sqrt(1.0 - people.correlation**2) * b)
        if STATURES[0] <= stature <= STATURES[1] and MASSES[0] <= mass <= MASSES[1]:
            return Subject(round(float(stature), 4), round(float(mass), 3), sex, age, segments)
    raise ModelError(f"population: {people} gives almost no {sex} subject of an adult's size; correct measured")
