"""A robot as a reader of files found it, before it becomes a model."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from biped.model.actuator import Actuator
from biped.model.closing_joint import ClosingJoint
from biped.model.contact_point import ContactPoint
from biped.model.geometry import STANDARD_GRAVITY, Vector3
from biped.model.importing import contacts
from biped.model.importing.locking import Mimic
from biped.model.shape import Box
from biped.model.visual import Visual


@dataclass(frozen=True)
class Robot:
    """A robot as a reader of files found it.

    Attributes:
        model: Pinocchio's.
        floating: the name that the floating root joint is to have, or None where the root is another joint.
        home: [m] where the root link is at home.
        order: of the joints that move; bodies follow it, but that parents stand before their children.
        mimics: joints that mimic others.
        geometry: makes Pinocchio's collision geometry of what is on some joints of the model, once others are locked.
        gravity: [m/s²].
        feet: links.
        points: makes the contact points that the file itself has.
        closing: makes the joints that close loops.
        boxes: makes the boxes to hit.
        visuals: makes what its bodies look like.
        armature: by joint.
        facing: where it looks.
        posture: by joint.
        actuators: of its joints.
        floor: the coefficient of friction of the floor in its file; None where it has none.
        notes: what its reader left out, a sentence each.
    """

    model: Any
    name: str
    order: Sequence[str]
    floating: str | None = None
    home: Vector3 = (0.0, 0.0, 0.0)
    mimics: Mapping[str, Mimic] = field(default_factory=dict)
    geometry: Callable[[Any, Collection[int]], Any] | None = None
    gravity: Vector3 = STANDARD_GRAVITY
    feet: tuple[str, ...] = ()
    points: Callable[[contacts.Links], list[ContactPoint]] | None = None
    closing: Callable[[contacts.Links], list[ClosingJoint]] | None = None
    boxes: Callable[[contacts.Links], list[Box]] | None = None
    visuals: Callable[[contacts.Links], list[Visual]] | None = None
    armature: Mapping[str, float] = field(default_factory=dict)
    facing: Vector3 = (1.0, 0.0, 0.0)
    posture: Mapping[str, float] = field(default_factory=dict)
    actuators: tuple[Actuator, ...] = ()
    floor: float | None = None
    notes: tuple[str, ...] = ()
