"""Rigid bodies in maximal coordinates: joints, loops and rigid contact (Brüdigam et al. 2024)."""

from biped.assembly.assembly import Assembly
from biped.assembly.body import BodyContact, PointContact, RigidBody, floor_contacts
from biped.assembly.conversion import configuration_of, from_model, placement_of
from biped.assembly.custom import CustomInequality
from biped.assembly.errors import AssemblyError
from biped.assembly.joint import Freedom, Joint, joint
from biped.assembly.placement import Placement
from biped.assembly.shapes import Shape, block, capsule, convex_mesh, sphere
from biped.assembly.simulation import AssemblyStepError, Motion
from biped.assembly.solids import cast
from biped.assembly.spring import Spring
from biped.disturbances.push import Torque
from biped.model.joint_rows import KINDS

__all__ = [
    "KINDS",
    "Assembly",
    "AssemblyError",
    "AssemblyStepError",
    "BodyContact",
    "CustomInequality",
    "Freedom",
    "Joint",
    "Motion",
    "Placement",
    "PointContact",
    "RigidBody",
    "Shape",
    "Spring",
    "Torque",
    "block",
    "capsule",
    "cast",
    "configuration_of",
    "convex_mesh",
    "floor_contacts",
    "from_model",
    "joint",
    "placement_of",
    "sphere",
]
