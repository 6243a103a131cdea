"""Rigid bodies in maximal coordinates: joints, loops and rigid contact (Brüdigam et al. 2024)."""

from biped.rigid.assembly import Assembly, Placement
from biped.rigid.body import PointContact, RigidBody
from biped.rigid.errors import AssemblyError
from biped.rigid.joint import KINDS, Freedom, Joint, joint
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
    "joint",
]
