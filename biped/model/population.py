"""Subjects drawn at random, as tall and heavy as people who were measured.

G. Heinz, L. J. Peterson, R. W. Johnson, C. J. Kerk, "Exploring relationships in body dimensions", Journal of Statistics
Education 11, 2003: 247 men and 260 women, physically active, most of them between 20 and 40. The numbers are computed
from their data, as the R package ``openintro`` has it (``bdims``).
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from biped.model.anthropometry import TABLE
from biped.model.errors import ModelError, unknown
from biped.model.subject import MASSES, STATURES, Subject


class Measured(NamedTuple):
    """Means and standard deviations of stature [m] and mass [kg], and how they go together."""

    stature: float
    stature_sd: float
    mass: float
    mass_sd: float
    correlation: float


#: By sex.
MEASURED = {
    "male": Measured(1.777, 0.0718, 78.1, 10.51, 0.53),
    "female": Measured(1.649, 0.0654, 60.6, 9.62, 0.43),
}


def population(
    n: int,
    seed: int = 0,
    *,
    sex: str | None = None,
    age: float | None = None,
    segments: Collection[str] = (),
    measured: Mapping[str, Measured] = MEASURED,
) -> tuple[Subject, ...]:
    """``n`` subjects, stature and mass from a normal distribution of two variables, redrawn where they are no adult's.

    Args:
        n: how many.
        seed: of the draws; the first k of n subjects are the k of that seed.
        sex: of all of them; None: male and female in turn.
        age: [years] of all of them. The people measured were young: give the numbers of older ones as ``measured``.
        segments: what has joints of its own in each of them, as of a `Subject`.
        measured: by sex.

    Raises:
        ModelError: a number is none of that, or nobody was measured of the sex.
    """
    given: tuple[tuple[str, Any, int], ...] = (("n", n, 1), ("seed", seed, 0))
    for name, value, least in given:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise ModelError(f"population: {name} = {value!r}: it must be a whole number, {least} or above")
    if sex is not None and sex not in TABLE:
        raise unknown("sex", sex, TABLE)
    sexes = tuple(TABLE) if sex is None else (sex,)
    for one in sexes:
        if one not in measured:
            raise ModelError(
                f"population: measured has nobody of the sex {one}, of {', '.join(measured) or 'none'} only"
            )
    random = np.random.default_rng(seed)
    return tuple(_drawn(random, sexes[k % len(sexes)], age, tuple(segments), measured) for k in range(n))


def _drawn(
    random: np.random.Generator,
    sex: str,
    age: float | None,
    segments: tuple[str, ...],
    measured: Mapping[str, Measured],
) -> Subject:
    own = measured[sex]
    for _ in range(1000):
        a, b = random.normal(size=2)
        stature = own.stature + own.stature_sd * a
        mass = own.mass + own.mass_sd * (own.correlation * a + np.sqrt(1.0 - own.correlation**2) * b)
        if STATURES[0] <= stature <= STATURES[1] and MASSES[0] <= mass <= MASSES[1]:
            return Subject(round(float(stature), 4), round(float(mass), 3), sex, age, segments)
    raise ModelError(f"population: {own} of {sex} subjects has hardly anyone of an adult's stature and mass")
