"""Rigid bodies in maximal coordinates: joints, loops and rigid contact (Brüdigam et al. 2024)."""

from biped.model.joint_rows import KINDS
from biped.rigid.assembly import Assembly
from biped.rigid.body import BodyContact, PointContact, RigidBody, floor_contacts
from biped.rigid.conversion import configuration_of, from_model, placement_of
from biped.rigid.errors import AssemblyError
from biped.rigid.joint import Freedom, Joint, joint
from biped.rigid.placement import Placement
from biped.rigid.shapes import Shape, block, capsule, convex_mesh, sphere
from biped.rigid.simulation import AssemblyStepError, Motion
from biped.rigid.solids import cast

__all__ = [
    "KINDS",
    "Assembly",
    "AssemblyError",
    "AssemblyStepError",
    "BodyContact",
    "Freedom",
    "Joint",
    "Motion",
    "Placement",
    "PointContact",
    "RigidBody",
    "Shape",
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
