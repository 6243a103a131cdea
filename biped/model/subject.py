"""Subjects: the human's tree of bodies with the body of a man or woman of any stature and mass, by published tables.

Bodies, joints and contact points are called as those of ``human()``, which looks towards −X and has its left at −Y, so
that every law and experiment takes a subject. `biped.model.anthropometry` has the tables. What is ours, since no table
has it: where the ankle is along the foot, and the height of the foot's centre of mass (half the ankle's); the small
bodies between the axes of hip and ankle, whose masses are taken from thigh and shank; the surface with which who has
fallen lies on the floor, `human()`'s, stretched.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from biped.model.anthropometry import (
    ANKLE_HEIGHT,
    FOOT_BREADTH,
    HIP_ASIDE,
    HIP_BELOW,
    SHOULDERS_BREADTH,
    TABLE,
    Lump,
    People,
    hanging,
    together,
)
from biped.model.body import Body
from biped.model.errors import ModelError, unknown
from biped.model.geometry import Vector3, matrix3, number, vector3
from biped.model.human import ANKLE_HEIGHT as HUMAN_ANKLE
from biped.model.human import FOOT_HEIGHT, HEEL, TOE, human
from biped.model.inertia import box_size_of
from biped.model.model import Model
from biped.model.shape import Box
from biped.model.strength import NOBODY
from biped.model.stretching import Measures, measures_of
from biped.robot_names import SUBJECT

#: Within which the tables of adults are stretched: [m], [kg], [years]. Ours.
STATURES, MASSES, AGES = (1.3, 2.2), (30.0, 200.0), (18.0, 100.0)
#: [years] Below, and from then on, strength is taken as that of the young and the old people measured, who were from 18
#: to 25 and above 65: that the former holds up to 40 is ours.
YOUNG_BELOW, OLD_FROM = 40.0, 65.0
#: Of the body's mass, and of the stature, as a radius of gyration: the small bodies between the axes of hip and ankle.
_SMALL_MASS, _SMALL_RADIUS = 0.001, 0.016
#: Of the foot's length, of ``human()``: its heel is so far behind the ankle.
_HEEL = HEEL / (HEEL + TOE)
#: [m]
_HUMAN_STATURE = 1.778


@dataclass(frozen=True)
class Subject:
    """A person to simulate.

    Attributes:
        stature: [m].
        mass: [kg].
        sex: female or male.
        age: [years]; of the body's tables it changes nothing, but it says whose strength is theirs. None: not known.

    Raises:
        ModelError: stature, mass or age are not an adult's, or the sex is neither.
    """

    stature: float
    mass: float
    sex: str
    age: float | None = None

    def __post_init__(self) -> None:
        for name, limits, unit in (("stature", STATURES, "m"), ("mass", MASSES, "kg"), ("age", AGES, "years")):
            value = getattr(self, name)
            if value is not None or name != "age":
                object.__setattr__(self, name, _within(value, f"subject: {name}", limits, unit))
        if self.sex not in TABLE:
            raise unknown("sex", self.sex, TABLE)

    @staticmethod
    def named(text: str) -> "Subject":
        """The subject of a name, ``subject:STATURE,MASS,SEX`` or ``subject:STATURE,MASS,SEX,AGE``.

        Raises:
            ModelError: the name says no subject.
        """
        words = [word.strip() for word in text.removeprefix(SUBJECT).split(",")]
        if len(words) not in (3, 4):
            wanted = f"{SUBJECT}STATURE,MASS,SEX or {SUBJECT}STATURE,MASS,SEX,AGE, as {SUBJECT}1.70,68,female,30"
            raise ModelError(f"{text!r}: a subject is {wanted}")
        stature, mass, sex, *age = words
        return Subject(_read(stature, "stature"), _read(mass, "mass"), sex, *(_read(word, "age") for word in age))

    @property
    def name(self) -> str:
        """What ``--robot`` and ``load_robot`` take, to all digits."""
        age = () if self.age is None else (_written(self.age),)
        return SUBJECT + ",".join((_written(self.stature), _written(self.mass), self.sex, *age))

    @property
    def strength(self) -> str:
        """Whose strength is theirs, as ``Actuators(strength=…)`` takes it; "none" where the age is not known.

        Raises:
            ModelError: of that age nobody was measured.
        """
        if self.age is None:
            return NOBODY
        if YOUNG_BELOW <= self.age < OLD_FROM:
            known = f"below {YOUNG_BELOW:g} and from {OLD_FROM:g} years on"
            raise ModelError(f"subject: age = {self.age:g}: strengths are known {known}; without age there is no limit")
        people = {"female": "women", "male": "men"}[self.sex]
        return f"{'young' if self.age < YOUNG_BELOW else 'old'}-{people}"

    @cached_property
    def model(self) -> Model:
        """Their body."""
        return _Build(self).model()


def subject(stature: float, mass: float, sex: str, age: float | None = None) -> Model:
    """The body of a man or woman by de Leva (1996), Winter (2009) and Hara et al. (2016), with ``human()``'s joints.

    Head and arms, hanging, are parts of the trunk. Everything is in proportion to stature and mass, so that two
    subjects of one sex are dynamically similar. What limits their torques is not in the model: `Subject.strength`.

    Args:
        stature: [m].
        mass: [kg].
        sex: female or male.
        age: [years]; nothing of the body depends on it.

    Raises:
        ModelError: stature, mass or age are not an adult's, or the sex is neither.
    """
    return Subject(stature, mass, sex, age).model


def _within(value: float, what: str, limits: tuple[float, float], unit: str) -> float:
    low, high = limits
    found = number(value, what)
    if not low <= found <= high:
        raise ModelError(f"{what} = {found:g}: it must be from {low:g} to {high:g} {unit}")
    return found


def _written(value: float) -> str:
    """With as many digits as make the same number when read."""
    return repr(value).removesuffix(".0")


def _read(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ModelError(f"subject: {what} = {text!r}: it must be a number") from None


class _Build:
    """The body of one subject, made of the human's."""

    def __init__(self, who: Subject) -> None:
        self.who = who
        self.people: People = TABLE[who.sex]
        self.human = human()
        self.mass = who.mass / _sum_of(self.people)
        self.size = who.stature / _HUMAN_STATURE
        self.ankle = ANKLE_HEIGHT * who.stature
        self.knee = self.ankle + self._length(self.people.shank.length)
        self.hip = self.knee + self._length(self.people.thigh.length)
        self.foot_length = self._length(self.people.foot.length)
        self.aside = self._length(_hip_aside(self.people))
        self.trunk = self._trunk()

    def _length(self, measured: float) -> float:
        """[m] A length of the people measured, in proportion to the stature."""
        return measured / self.people.stature * self.who.stature

    def _hanging(self, segment: str, *top: float) -> Lump:
        return hanging(getattr(self.people, segment), self.people, self.who.stature, self.mass, np.array(top))

    def _trunk(self) -> Lump:
        """Trunk, head and hanging arms, in home places."""
        people = self.people
        top = self.hip + self._length(people.trunk.length)
        parts = [self._hanging("head", 0.0, 0.0, self.who.stature), self._hanging("trunk", 0.0, 0.0, top)]
        for y in (-SHOULDERS_BREADTH / 2.0 * self.who.stature, SHOULDERS_BREADTH / 2.0 * self.who.stature):
            z = self.hip + self._length(people.shoulders)
            for name in ("upper_arm", "forearm", "hand"):
                parts.append(self._hanging(name, 0.0, y, z))
                z -= self._length(getattr(people, name).length)
        return together(*parts)

    def _small(self, z: float) -> Lump:
        mass = _SMALL_MASS * self.who.mass
        return Lump(mass, np.array([0.0, 0.0, z]), mass * (_SMALL_RADIUS * self.who.stature) ** 2 * np.eye(3))

    def _foot(self) -> Lump:
        """Its axis lies: what is the sagittal axis of a segment that hangs is upright."""
        segment, length = self.people.foot, self.foot_length
        mass = segment.mass * self.mass
        radii = length * np.array([segment.longitudinal, segment.transverse, segment.sagittal])
        com = np.array([(_HEEL - segment.com) * length, 0.0, self.ankle / 2.0])
        return Lump(mass, com, np.diag(mass * radii**2))

    def lumps(self) -> dict[str, tuple[Lump, float]]:
        """By the names of a leg's bodies, in its plane: what moves as one, and the height [m] of its joint.

        The small bodies stay in place as the leg turns, so that what they and the thigh, or the shank, are together is
        the table's segment in every posture.
        """
        hip, ankle = self._small(self.hip), self._small(self.ankle)
        thigh = self._hanging("thigh", 0.0, 0.0, self.hip).without(hip).without(hip)
        shank = self._hanging("shank", 0.0, 0.0, self.knee).without(ankle)
        return {
            "hip_1": (hip, self.hip), "hip_2": (hip, self.hip), "thigh": (thigh, self.hip),
            "shank": (shank, self.knee), "ankle": (ankle, self.ankle), "foot": (self._foot(), self.ankle),
        }  # fmt: skip

    @property
    def measures(self) -> Measures:
        heights = (0.0, self.ankle, self.knee, self.hip, self.who.stature)
        return Measures(heights, float(self.trunk.com[2]), self.aside, self.foot_length)

    def model(self) -> Model:
        ours, human_measures, lumps = self.measures, measures_of(self.human), self.lumps()
        bodies = []
        for body in self.human.bodies:
            lump, z = (self.trunk, 0.0) if body.parent is None else lumps[body.name.partition("_")[2]]
            com = (0.0, 0.0, 0.0) if body.parent is None else vector3(lump.com - [0.0, 0.0, z], "com")
            at = ours.origin(body.name) - (ours.origin(body.parent) if body.parent is not None else 0.0)
            joint = replace(body.joint, position=vector3(at, "position"))
            bodies.append(Body(body.name, lump.mass, matrix3(lump.inertia, "inertia"), com, joint, body.parent))
        toe, heel = -(1.0 - _HEEL) * self.foot_length, _HEEL * self.foot_length

        def stretch(body: str, place: Vector3) -> Vector3:
            return vector3(human_measures.stretched(ours, body, place), "place")

        breadth = FOOT_BREADTH * self.who.stature
        high = FOOT_HEIGHT / HUMAN_ANKLE * self.ankle
        middle = ((toe + heel) / 2.0, 0.0, high / 2.0 - self.ankle)
        return replace(
            self.human,
            name=f"subject {self.who.stature:g} m {self.who.mass:g} kg {self.who.sex}",
            bodies=tuple(bodies),
            contact_points=tuple(
                replace(point, position=(toe if point.position[0] < 0.0 else heel,
                                         math.copysign(breadth / 2.0, point.position[1]), -self.ankle))
                for point in self.human.contact_points
            ),
            shapes=(
                Box("trunk", box_size_of(self.trunk.mass, np.diag(self.trunk.inertia))),
                *(Box(name, (heel - toe, breadth, high), middle) for name in self.human.feet),
            ),
            body_points=tuple(
                replace(point, position=stretch(point.body, point.position), radius=self.size * point.radius)
                for point in self.human.body_points
            ),
            capsules=tuple(
                replace(one, begin=stretch(one.body, one.begin), end=stretch(one.body, one.end),
                        radius=self.size * one.radius)
                for one in self.human.capsules
            ),
        )  # fmt: skip


def _sum_of(people: People) -> float:
    """The sum of the segments' shares, which the table has rounded."""
    aside = (people.upper_arm, people.forearm, people.hand, people.thigh, people.shank, people.foot)
    return people.head.mass + people.trunk.mass + 2.0 * sum(segment.mass for segment in aside)


def _hip_aside(people: People) -> float:
    """[m] From the middle to a hip joint of the people measured, whose pelvis's front is above the joint."""
    own, share = HIP_BELOW
    leg = (people.thigh.length + people.shank.length + own) / (1.0 - share)
    return HIP_ASIDE[0] + HIP_ASIDE[1] * leg
