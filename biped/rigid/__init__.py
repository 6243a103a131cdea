"""Rigid bodies in maximal coordinates: joints, loops and rigid contact (Brüdigam et al. 2024)."""

from biped.model.joint_rows import KINDS
from biped.rigid.assembly import Assembly
from biped.rigid.body import PointContact, RigidBody
from biped.rigid.conversion import configuration_of, from_model, placement_of
from biped.rigid.errors import AssemblyError
from biped.rigid.joint import Freedom, Joint, joint
from biped.rigid.placement import Placement
from biped.rigid.simulation import AssemblyStepError, Motion

__all__ = [
    "KINDS",
    "Assembly",
    "AssemblyError",
    "AssemblyStepError",
    "Freedom",
    "Joint",
    "Motion",
    "Placement",
    "PointContact",
    "RigidBody",
    "configuration_of",
    "from_model",
    "joint",
    "placement_of",
]
