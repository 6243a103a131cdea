"""Mechanisms as trees of coordinate frames, with constraints, in generalized coordinates (Johnson & Murphey 2009)."""

from formulations.mechanism.as_model import to_model
from formulations.mechanism.component import (
    COMPONENTS,
    Component,
    Constraint,
    CoordinateName,
    Force,
    FrameName,
    Potential,
    Vector,
)
from formulations.mechanism.constraints import (
    Cam,
    Coincident,
    Distance,
    Gear,
    PointAlong,
    PointOnLine,
    PointOnPlane,
    Screw,
)
from formulations.mechanism.continuous import Acceleration, accelerations, integrate
from formulations.mechanism.conversion import from_model
from formulations.mechanism.custom import CustomConstraint, CustomForce, CustomPotential
from formulations.mechanism.errors import MechanismError, SingularStepError
from formulations.mechanism.expressions import ExpressionError, load_mechanism, mechanism_text, save_mechanism
from formulations.mechanism.forces import BodyWrench, Damper, HybridWrench, SpatialWrench, Torque
from formulations.mechanism.frames import (
    WORLD,
    Frame,
    Kinematic,
    Mass,
    Node,
    kinematic,
    rx,
    ry,
    rz,
    screw,
    tree_of,
    twist,
    tx,
    ty,
    tz,
)
from formulations.mechanism.linearization import DiscreteMechanism, Linearization
from formulations.mechanism.mechanism import Mechanism
from formulations.mechanism.potentials import CoordinateSpring, Gravity, LinearSpring, NewtonianGravity, NonlinearSpring
from formulations.mechanism.simulation import Motion
from formulations.mechanism.view import FrameView

__all__ = [
    "COMPONENTS", "WORLD", "Acceleration", "BodyWrench", "Cam", "Coincident", "Component", "Constraint",
    "CoordinateName", "CoordinateSpring", "CustomConstraint",
    "CustomForce", "CustomPotential", "Damper", "DiscreteMechanism", "Distance",
    "ExpressionError", "Force", "Frame", "FrameName", "FrameView", "Gear", "Gravity", "HybridWrench", "Kinematic",
    "LinearSpring", "Linearization", "Mass", "Mechanism", "MechanismError", "Motion", "NewtonianGravity", "Node",
    "NonlinearSpring", "PointAlong", "PointOnLine", "PointOnPlane", "Potential", "Screw", "SingularStepError",
    "SpatialWrench", "Torque", "Vector", "accelerations", "from_model", "integrate", "kinematic",
    "load_mechanism", "mechanism_text", "rx", "ry", "rz", "save_mechanism", "screw", "to_model", "tree_of", "twist",
    "tx", "ty", "tz",
]  # fmt: skip
