"""Rigid bodies in maximal coordinates: joints, loops and rigid contact (Brüdigam et al. 2024)."""

from biped.disturbances.push import Torque
from biped.model.joint_rows import KINDS
from formulations.assembly.assembly import Assembly
from formulations.assembly.body import BodyContact, PointContact, RigidBody, cast, floor_contacts
from formulations.assembly.conversion import from_model, placement_of
from formulations.assembly.custom import CustomInequality
from formulations.assembly.errors import AssemblyError
from formulations.assembly.joint import Freedom, Joint, joint
from formulations.assembly.placement import Placement
from formulations.assembly.shapes import Shape, block, capsule, sphere
from formulations.assembly.simulation import AssemblyStepError, Motion
from formulations.assembly.spring import Spring

__all__ = [
    "KINDS", "Assembly", "AssemblyError", "AssemblyStepError", "BodyContact", "CustomInequality", "Freedom", "Joint",
    "Motion", "Placement", "PointContact", "RigidBody", "Shape", "Spring", "Torque", "block", "capsule", "cast",
    "floor_contacts", "from_model", "joint", "placement_of", "sphere",
]  # fmt: skip
