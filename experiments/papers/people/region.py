"""Region of Pai and Patton (1997): CoM positions and velocities from which a body can stop over its feet.

The inverted pendulum at constant height (``biped.capturability``) can stop with its centre of pressure between heel and
toe if and only if the extrapolated centre of mass x + ẋ/ω is between them. The boundaries are therefore straight: ẋ = ω
(toe − x) above, ω (heel − x) below. The published boundaries are computed, too: optima of a pendulum with a foot and
people's dimensions and strength, not measurements of people.
"""

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.capturability import stance_of
from biped.model import Subject
from biped.runs.stance import Stance
from experiments.papers.criteria import stated, within
from experiments.papers.item import Finding, Outcome, Progress
from experiments.visualization.look import style
from experiments.visualization.look.writing import styled

#: Boundary, position [foot lengths] in front of the heel (negative behind it), velocity [statures/s].
PUBLISHED = (("upper", -2.4, 1.1), ("upper", 0.0, 0.45), ("lower", -2.7, 0.9))
#: Mean people of the body tables (de Leva 1996), as on the subjects' page.
PEOPLE = (Subject(1.649, 60.6, "female"), Subject(1.777, 78.1, "male"))
#: Allowed relative difference: no spread is known, and the values are printed to one or two digits.
PART = 0.1
_WHY = (
    "the pendulum's height is constant; that far behind the heel a leg leans by 30° or more, and gravity decelerates a "
    "body that turns about its feet by less than ω² x; such a body (last column of the table) needs less velocity, on "
    "the upper boundary less than published; controller parameters have no influence"
)


class Region:
    """Region of the pendulum with a person's dimensions."""

    def __init__(self, who: Subject) -> None:
        self.sex = who.sex
        stance = stance_of(who.model, Stance().configuration(who.model))
        self.stature = who.stature
        self.foot = float(np.ptp(stance.corners[:, 0]))
        self.pendulum = stance.pendulum

    def velocity(self, boundary: str, place: float) -> float:
        """Return the velocity [statures/s] on a boundary at a position [foot lengths] in front of the heel."""
        return self.pendulum.rate * self._distance(boundary, place) / self.stature

    def turning(self, boundary: str, place: float) -> float:
        """Return the horizontal speed [statures/s] of a point mass on a rigid leg that gravity stops over the foot."""
        length = self.pendulum.height
        cosine = math.sqrt(1.0 - (self._distance(boundary, place) / length) ** 2)
        return math.sqrt(2.0 * self.pendulum.gravity * length * (1.0 - cosine)) * cosine / self.stature

    def _distance(self, boundary: str, place: float) -> float:
        """Return the distance [m] to the end of the foot over which the pendulum stops."""
        return ({"upper": 1.0, "lower": 0.0}[boundary] - place) * self.foot


def findings(region: Region) -> tuple[Finding, ...]:
    """Return the statements, except the zeros of the boundaries at toe and heel, which hold by definition."""
    return tuple(
        stated(
            f"{boundary} boundary {abs(place):g} foot lengths behind the heel, {region.sex} [statures/s]",
            published,
            round(region.velocity(boundary, place), 3),
            within(published, PART),
            why=_WHY,
        )
        for boundary, place, published in PUBLISHED
    )


def produce(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - it takes no time
    regions = [Region(who) for who in PEOPLE]
    rows = [
        {
            "sex": region.sex,
            "boundary": boundary,
            "place [foot lengths before the heel]": place,
            "published [statures/s]": published,
            "ours [statures/s]": region.velocity(boundary, place),
            "ours over published": region.velocity(boundary, place) / published,
            "turning [statures/s]": region.turning(boundary, place),
        }
        for region in regions
        for boundary, place, published in PUBLISHED
    ]
    assumptions = (
        *(
            f"{who.name}, upright: feet of {region.foot:.3f} m, ω = {region.pendulum.rate:.2f}/s"
            for who, region in zip(PEOPLE, regions, strict=True)
        ),
        f"nothing was fitted to these numbers; within {100 * PART:g} % counts as agreement: their spread is unknown; "
        "the zeros of the boundaries at toe and heel hold by definition, and are not counted",
        "the published boundaries are computed for a pendulum with a foot and people's strength, not measured",
        "turning: horizontal speed of a point mass on a rigid leg that gravity stops over that end of the foot",
    )
    progress(1.0)
    statements = tuple(finding for region in regions for finding in findings(region))
    return Outcome(statements, assumptions, {"Boundaries": pd.DataFrame(rows)}, {"region": _draw(regions)})


def _draw(regions: list[Region]) -> Figure:
    places = np.array([-3.0, 1.0])
    with styled():
        figure = Figure(figsize=style.SIZE)
        axes = figure.subplots()
        for boundary, color in (("upper", style.RED), ("lower", style.BLUE)):
            for region, line in zip(regions, ("-", "--"), strict=True):
                ours = [region.velocity(boundary, x) for x in places]
                axes.plot(places, ours, line, color=color, label=f"{boundary}, ours, {region.sex}")
            points = [(x, v) for name, x, v in PUBLISHED if name == boundary]
            axes.plot(*zip(*points, strict=True), "o", color=color, label=f"{boundary}, Pai and Patton")
        axes.set_xlabel("centre of mass before the heel [foot lengths]")
        axes.set_ylabel("velocity [statures/s]")
        axes.set_ylim(0.0, None)
        axes.legend()
    return figure
