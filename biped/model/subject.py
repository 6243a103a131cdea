"""Subjects: the human's tree with the body of a man or woman of any stature and mass, from published tables.

Bodies, joints and contact points have the names of ``human()``, which faces −X and has its left at −Y, so that every
controller and experiment accepts a subject. Above the hips it may have more bodies (`biped.model.upper_body`).
`biped.model.anthropometry` has the tables. The following is our choice, since no table has it: the location of the
ankle along the foot, and the height of the foot's centre of mass (half the ankle's); the small bodies between the axes
of hip and ankle, whose masses are taken from thigh and shank; the body's surface for contact after a fall, which is the
stretched surface of `human()`.
"""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest

import numpy as np

from biped.inputs.robot_names import SUBJECT
from biped.model import anthropometry
from biped.model.body import Body
from biped.model.contact_point import ContactPoint
from biped.model.errors import ModelError, unknown
from biped.model.geometry import STANDARD_GRAVITY, Vector3, matrix3, number, vector3
from biped.model.human import ANKLE_HEIGHT as HUMAN_ANKLE
from biped.model.human import FOOT_HEIGHT, HEEL, SIDES, TOE, human
from biped.model.inertia import box_size_of
from biped.model.joint import floating
from biped.model.model import Model
from biped.model.shape import Box
from biped.model.strength import NO_PRESET
from biped.model.stretching import Measures, measures_of
from biped.model.toes import TOES, Toes
from biped.model.toes import ranges as ranges_of_toes
from biped.model.upper_body import SEGMENTS as UPPER_SEGMENTS
from biped.model.upper_body import Part, bodies_of, part_of, parts_of, ranges_of

#: Segments that can have joints of their own.
SEGMENTS = (*UPPER_SEGMENTS, *TOES)
#: Ranges in which the tables of adults are scaled: [m], [kg], [years]. Our choice.
STATURES, MASSES, AGES = (1.3, 2.2), (30.0, 200.0), (18.0, 100.0)
#: [years] The strength of the young people measured (18 to 25) is used below the first age, that of the old people
#: measured (above 65) from the second age on; the validity up to 40 is our assumption.
YOUNG_BELOW, OLD_FROM = 40.0, 65.0
#: Mass over the body's mass, and radius of gyration over the stature, of the small bodies between hip and ankle axes.
_SMALL_MASS, _SMALL_RADIUS = 0.001, 0.016
#: Distance of the heel behind the ankle over the foot's length, of ``human()``.
_HEEL = HEEL / (HEEL + TOE)
#: [m] Stature of ``human()``.
_HUMAN_STATURE = 1.778


@dataclass(frozen=True)
class Subject:
    """A person to simulate: height, mass, sex, age, and segments that move separately.

    Attributes:
        stature: [m] body height.
        mass: [kg] body mass.
        sex: ``female`` or ``male``.
        age: [years] determines only the muscle strength (see `strength`); None: unknown, no limits on joint torques.
        segments: those of ``lumbar``, ``head``, ``arms`` or ``limp-arms``, ``toes`` or ``limp-toes`` with own joints;
            the others are rigid parts of the trunk or the foot. Limp segments have damped joints without muscles.

    Raises:
        ModelError: stature, mass or age are out of range for an adult, or the sex or a segment is unknown.
    """

    stature: float
    mass: float
    sex: str
    age: float | None = None
    segments: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, limits, unit in (("stature", STATURES, "m"), ("mass", MASSES, "kg"), ("age", AGES, "years")):
            value = getattr(self, name)
            if value is not None or name != "age":
                object.__setattr__(self, name, _within(value, f"subject: {name}", limits, unit))
        if self.sex not in anthropometry.TABLE:
            raise unknown("sex", self.sex, anthropometry.TABLE)
        object.__setattr__(self, "segments", tuple(self.segments))
        for segment in self.segments:
            if segment not in SEGMENTS:
                raise unknown("segment", segment, SEGMENTS)
        if len({segment.removeprefix("limp-") for segment in self.segments}) < len(self.segments):
            raise ModelError(f"subject: segments {', '.join(self.segments)}: each may occur only once, limp or not")

    @staticmethod
    def named(text: str) -> "Subject":
        """Return the subject that ``text`` describes: ``subject:STATURE,MASS,SEX``, then optional age and segments.

        Raises:
            ModelError: the description is invalid.
        """
        words = [word.strip() for word in text.removeprefix(SUBJECT).split(",")]
        if len(words) < 3:
            form = f"{SUBJECT}STATURE,MASS,SEX[,AGE][,SEGMENTS], for example {SUBJECT}1.70,68,female,30,arms,lumbar"
            raise ModelError(f"{text!r}: write a subject as {form}")
        stature, mass, sex, *more = words
        age = None if not more or more[0] in SEGMENTS else _age(more.pop(0))
        return Subject(_read(stature, "stature"), _read(mass, "mass"), sex, age, tuple(more))

    @property
    def name(self) -> str:
        """Name for ``--robot`` and ``load_robot``, with all digits."""
        age = () if self.age is None else (_written(self.age),)
        return SUBJECT + ",".join((_written(self.stature), _written(self.mass), self.sex, *age, *self.segments))

    @property
    def strength(self) -> str:
        """Value for ``Actuators(strength=…)``, for example "young-men"; "none" (no limits) if the age is unknown.

        Raises:
            ModelError: there are no data for this age.
        """
        if self.age is None:
            return NO_PRESET
        if YOUNG_BELOW <= self.age < OLD_FROM:
            known = f"muscle strength is known only below {YOUNG_BELOW:g} and from {OLD_FROM:g} years on"
            raise ModelError(f"subject: age = {self.age:g}: {known}; leave the age out for unlimited torques")
        people = {"female": "women", "male": "men"}[self.sex]
        return f"{'young' if self.age < YOUNG_BELOW else 'old'}-{people}"

    @cached_property
    def model(self) -> Model:
        """Model of the subject's body."""
        return _Build(self).model()


def subject(stature: float, mass: float, sex: str, age: float | None = None, segments: Collection[str] = ()) -> Model:
    """Return the model of a man or woman, from tables of de Leva (1996), Winter (2009) and Hara et al. (2016).

    It has the joints of ``human()`` and those of ``segments``; without the latter, the head and the hanging arms are
    rigid parts of the trunk. Dimensions and masses scale with stature and mass, so that two subjects of one sex are
    dynamically similar. Limits of the joint torques are not part of the model; see `Subject.strength`.

    Args:
        stature: [m] body height.
        mass: [kg] body mass.
        sex: ``female`` or ``male``.
        age: [years]; without effect on the model.
        segments: segments to connect by joints; see `Subject`.

    Raises:
        ModelError: a value is out of range for an adult, or the sex or a segment is unknown.
    """
    return Subject(stature, mass, sex, age, tuple(segments)).model


def _within(value: float, what: str, limits: tuple[float, float], unit: str) -> float:
    low, high = limits
    quantity = number(value, what)
    if not low <= quantity <= high:
        raise ModelError(f"{what} = {quantity:g}: it must be from {low:g} to {high:g} {unit}")
    return quantity


def _written(value: float) -> str:
    """Return a number with the digits that reproduce it when read."""
    return repr(value).removesuffix(".0")


def _age(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        known = ", ".join(SEGMENTS)
        raise ModelError(f"subject: {text!r} is neither an age nor a segment; segments are {known}") from None


def _read(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ModelError(f"subject: {what} = {text!r}: it must be a number") from None


class _Build:
    """The body of one subject, built from the human's."""

    def __init__(self, who: Subject) -> None:
        self.who = who
        self.people: anthropometry.People = anthropometry.TABLE[who.sex]
        self.human = human()
        self.mass = who.mass / _sum_of(self.people)
        self.size = who.stature / _HUMAN_STATURE
        self.ankle = anthropometry.ANKLE_HEIGHT * who.stature
        self.knee = self.ankle + self._length(self.people.shank.length)
        self.hip = self.knee + self._length(self.people.thigh.length)
        self.foot_length = self._length(self.people.foot.length)
        self.aside = self._length(_hip_aside(self.people))
        self.parts = parts_of(self.people, who.stature, self.mass, self.hip, who.segments)
        toe, heel = (_HEEL - 1.0) * self.foot_length, _HEEL * self.foot_length
        self.sole = Toes(toe, heel, anthropometry.FOOT_BREADTH * who.stature, self.ankle)
        self.has_toes = bool({*TOES} & {*who.segments})

    def _length(self, measured: float) -> float:
        """Return a length [m] of the people measured, scaled to the stature."""
        return measured / self.people.stature * self.who.stature

    def _hanging(self, segment: str, *top: float) -> anthropometry.Lump:
        return anthropometry.hanging(
            getattr(self.people, segment), self.people, self.who.stature, self.mass, np.array(top)
        )

    def _small(self, z: float) -> anthropometry.Lump:
        mass = _SMALL_MASS * self.who.mass
        return anthropometry.Lump(
            mass, np.array([0.0, 0.0, z]), mass * (_SMALL_RADIUS * self.who.stature) ** 2 * np.eye(3)
        )

    def _foot(self) -> anthropometry.Lump:
        """Return the foot; its axis is horizontal, so that the sagittal axis of a hanging segment is vertical."""
        segment, length = self.people.foot, self.foot_length
        mass = segment.mass * self.mass
        radii = length * np.array([segment.longitudinal, segment.transverse, segment.sagittal])
        com = np.array([(_HEEL - segment.com) * length, 0.0, self.ankle / 2.0])
        return anthropometry.Lump(mass, com, np.diag(mass * radii**2))

    def _foot_without_toes(self) -> anthropometry.Lump:
        foot = self._foot()
        toes = self.sole.lump(foot.mass)
        return foot.without(toes._replace(com=toes.com + np.array([0.0, 0.0, self.ankle]))) if self.has_toes else foot

    def lumps(self) -> dict[str, tuple[anthropometry.Lump, float]]:
        """Return, by the names of a leg's bodies, the rigid mass in its plane and the height [m] of its joint.

        The small bodies stay in place as the leg turns. Together with the thigh or the shank they equal the table's
        segment in every posture.
        """
        hip, ankle = self._small(self.hip), self._small(self.ankle)
        thigh = self._hanging("thigh", 0.0, 0.0, self.hip).without(hip).without(hip)
        shank = self._hanging("shank", 0.0, 0.0, self.knee).without(ankle)
        return {
            "hip_1": (hip, self.hip), "hip_2": (hip, self.hip), "thigh": (thigh, self.hip),
            "shank": (shank, self.knee), "ankle": (ankle, self.ankle), "foot": (self._foot_without_toes(), self.ankle),
        }  # fmt: skip

    @property
    def measures(self) -> Measures:
        heights = (0.0, self.ankle, self.knee, self.hip, self.who.stature)
        return Measures(heights, part_of(self.parts, "chest").at[2], self.aside, self.foot_length)

    def _legs(self) -> list[Body]:
        ours, lumps, root, bodies = self.measures, self.lumps(), self.parts[0], []
        for body in self.human.bodies[1:]:
            lump, z = lumps[body.name.partition("_")[2]]
            com = vector3(lump.com - [0.0, 0.0, z], "com")
            hangs = body.parent == self.human.root.name  # attached to the root
            from_ = root.at if hangs else ours.origin(str(body.parent))
            joint = replace(body.joint, position=vector3(ours.origin(body.name) - from_, "position"))
            inertia = matrix3(lump.inertia, "inertia")
            bodies.append(Body(body.name, lump.mass, inertia, com, joint, root.name if hangs else body.parent))
        return bodies

    def _toes(self) -> list[Body]:
        if not self.has_toes:
            return []
        moment = -self.who.mass * STANDARD_GRAVITY[2] * self.who.stature
        limp_in = moment if "limp-toes" in self.who.segments else None
        return [self.sole.body(side, self._foot().mass, limp_in=limp_in) for side, _ in SIDES]

    def _points(self) -> Iterator[ContactPoint]:
        sole = self.sole
        for side, _ in SIDES:
            corners = [
                replace(point, position=(sole.tip if point.position[0] < 0.0 else sole.heel,
                                         math.copysign(sole.breadth / 2.0, point.position[1]), -self.ankle))
                for point in self.human.contact_points if point.body == f"{side}_foot"
            ]  # fmt: skip
            yield from sole.points(side, corners) if self.has_toes else corners

    def _foot_boxes(self) -> Iterator[Box]:
        sole, high = self.sole, FOOT_HEIGHT / HUMAN_ANKLE * self.ankle
        front = sole.ball if self.has_toes else sole.tip
        for side, _ in SIDES:
            middle = ((front + sole.heel) / 2.0, 0.0, high / 2.0 - self.ankle)
            yield Box(f"{side}_foot", (sole.heel - front, sole.breadth, high), middle)
            if self.has_toes:
                yield sole.box(side)

    def model(self) -> Model:
        ours, human_measures, parts = self.measures, measures_of(self.human), self.parts
        root, weight = parts[0], -self.who.mass * STANDARD_GRAVITY[2]
        inertia = matrix3(root.lump.inertia, "inertia")
        first = Body(root.name, root.lump.mass, inertia, (0.0, 0.0, 0.0), floating("body", root.at))
        above = tuple(bodies_of(parts, self.who.segments, weight, self.who.stature))
        upper = [part_of(parts, "head"), *(part_of(parts, f"{side}_{bone}") for side, _ in SIDES
                                           for bone in ("upper", "forearm"))]  # fmt: skip

        def stretch(body: str, place: Vector3, on: Part | None = None) -> Vector3:
            there = human_measures.stretched(ours, body, place)
            return vector3(there, "place") if on is None else on.here(there + ours.origin(body))

        def on_trunk(point: ContactPoint) -> Part | None:
            return part_of(parts, point.name) if point.body == "trunk" else None

        return replace(
            self.human,
            name=" ".join((f"subject {self.who.stature:g} m {self.who.mass:g} kg {self.who.sex}", *self.who.segments)),
            bodies=(first, *self._legs(), *above, *self._toes()),
            contact_points=tuple(self._points()),
            shapes=(
                *(Box(body.name, box_size_of(body.mass, np.diag(np.asarray(body.inertia))), body.com)
                  for body in (first, *above) if body.mass),
                *self._foot_boxes(),
            ),
            body_points=tuple(
                replace(point, body=point.body if on is None else on.name, radius=self.size * point.radius,
                        position=stretch(point.body, point.position, on))
                for point in self.human.body_points for on in (on_trunk(point),)
            ),
            capsules=tuple(
                replace(capsule, body=capsule.body if on is None else on.name, radius=self.size * capsule.radius,
                        begin=stretch(capsule.body, capsule.begin, on), end=stretch(capsule.body, capsule.end, on))
                for capsule, on in zip_longest(self.human.capsules, upper)
            ),
            ranges=(*self.human.ranges, *ranges_of(parts), *(ranges_of_toes() if self.has_toes else ())),
        )  # fmt: skip


def _sum_of(people: anthropometry.People) -> float:
    """Return the sum of the segments' shares of the mass, which are rounded in the table."""
    aside = (people.upper_arm, people.forearm, people.hand, people.thigh, people.shank, people.foot)
    return people.head.mass + people.trunk.mass + 2.0 * sum(segment.mass for segment in aside)


def _hip_aside(people: anthropometry.People) -> float:
    """Return the distance [m] from the middle to a hip joint of the people measured; ASIS is above the joint."""
    constant, share = anthropometry.HIP_BELOW
    leg = (people.thigh.length + people.shank.length + constant) / (1.0 - share)
    return anthropometry.HIP_ASIDE[0] + anthropometry.HIP_ASIDE[1] * leg
