"""Description of a robot from a reader of files, before it becomes a model."""

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
    """Description of a robot from a reader of files.

    Attributes:
        model: Pinocchio's model.
        floating: name of the floating root joint, or None for another root joint.
        home: [m] position of the root link in the home configuration.
        order: moving joints in the order of the bodies; parents come before their children.
        mimics: mimicking joints by name.
        geometry: function of a model with locked joints and some of its joints, which returns their collision geometry.
        gravity: [m/s²] gravitational acceleration, in the inertial frame.
        feet: names of the links that stand on the floor.
        points: function that returns the file's own contact points.
        closing: function that returns the joints that close loops.
        boxes: function that returns the boxes for collisions with blocks.
        visuals: function that returns the bodies' visuals.
        armature: armature [kg m² or kg] by joint.
        facing: forward direction, in the inertial frame.
        posture: standing position [rad or m] by joint.
        actuators: actuators of the joints.
        floor: coefficient of friction of the file's floor; None: the file has no floor.
        notes: sentences about parts of the file that are not simulated.
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
