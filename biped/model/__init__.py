"""Multibody models: validated, immutable trees of rigid bodies, from Python, URDF or MJCF.

Importing this package imports neither Pinocchio nor pandas; functions that need them import them when called.
"""

from biped.model.actuator import Actuator
from biped.model.body import Body
from biped.model.box import rigid_box
from biped.model.closing_joint import CLOSING_KINDS, ClosingJoint
from biped.model.compound import cylindrical, jointed, planar, universal
from biped.model.contact_point import ContactPoint
from biped.model.errors import ModelError, ModelWarning
from biped.model.geometry import rotation_about
from biped.model.human import human
from biped.model.importing.conversion import from_pinocchio
from biped.model.inertia import box_inertia, box_size_of, principal_inertia
from biped.model.joint import Joint, fixed, floating, helical, prismatic, revolute, spherical
from biped.model.line import Line
from biped.model.mjcf import load_mjcf
from biped.model.model import Model
from biped.model.pinocchio_model import (
    configuration_from_pinocchio,
    configuration_to_pinocchio,
    to_pinocchio,
    velocity_from_pinocchio,
    velocity_map,
    velocity_to_pinocchio,
)
from biped.model.population import population
from biped.model.ragdoll import ragdoll
from biped.model.robot import load_robot
from biped.model.samples import chain, random_tree
from biped.model.shape import Box, Capsule
from biped.model.subject import Subject, subject
from biped.model.urdf import load_urdf, save_urdf, urdf_text
from biped.model.visual import Visual

__all__ = [
    "CLOSING_KINDS", "Actuator", "Body", "Box", "Capsule", "ClosingJoint", "ContactPoint", "Joint", "Line", "Model",
    "ModelError", "ModelWarning", "Subject", "Visual", "box_inertia", "box_size_of", "chain",
    "configuration_from_pinocchio", "configuration_to_pinocchio", "cylindrical", "fixed", "floating", "from_pinocchio",
    "helical", "human", "jointed", "load_mjcf", "load_robot", "load_urdf", "planar", "population", "principal_inertia",
    "prismatic", "ragdoll", "random_tree", "revolute", "rigid_box", "rotation_about", "save_urdf",
    "spherical", "subject", "to_pinocchio", "universal", "urdf_text", "velocity_from_pinocchio", "velocity_map",
    "velocity_to_pinocchio",
]  # fmt: skip
