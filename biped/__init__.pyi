from .control.controller import Controller, Impedance, SetPoint
from .control.observation import Observation
from .disturbances import Actuators, Force, Load, Patch, Platform, Push, Sensors, SwayReferenced, Throw, random_forces
from .disturbances.disturbance import Disturbance
from .disturbances.kick import Kick
from .dynamics.closing import assembled, closed_velocity, loop_gaps
from .dynamics.recursive import body_gaps, centre_of_mass, forward_dynamics, forward_kinematics, mass_matrix, momentum
from .dynamics.whole_body import WholeBody
from .errors import BipedError, InputError, IntegrationError, RunInterrupted, UnsettledError
from .integrators import (
    INTEGRATORS,
    Adaptive,
    ContinuousTime,
    Explicit,
    ExplicitEuler,
    Integrator,
    Lee,
    LeeBroyden,
    LeeNewton,
    LeeRiqn,
    Maximal,
    Midpoint,
    Recursive,
    Rigid,
    RungeKutta4,
    ScalableVariational,
    SemiImplicitEuler,
    buffers_for,
    integrator_named,
)
from .model import (
    Body,
    Box,
    Capsule,
    ClosingJoint,
    ContactPoint,
    Joint,
    Line,
    Model,
    ModelError,
    ModelWarning,
    Subject,
    Visual,
    box_inertia,
    chain,
    configuration_from_pinocchio,
    configuration_to_pinocchio,
    cylindrical,
    fixed,
    floating,
    from_pinocchio,
    helical,
    human,
    jointed,
    load_mjcf,
    load_robot,
    load_urdf,
    planar,
    population,
    prismatic,
    ragdoll,
    revolute,
    rigid_box,
    save_urdf,
    spherical,
    subject,
    to_pinocchio,
    universal,
    velocity_from_pinocchio,
    velocity_map,
    velocity_to_pinocchio,
)
from .model.strength import human_strength, human_torques
from .runs.postures import crouching, standing
from .runs.run import Run
from .runs.stance import Stance
from .runs.state import State
from .signals import Signal
from .simulation.batch import SessionBatch
from .simulation.collapse import collapse
from .simulation.scene import Scene
from .simulation.session import Session
from .simulation.settling import Settle
from .simulation.simulate import simulate
from .simulation.world import Fall

__all__ = [
    "INTEGRATORS", "Actuators", "Adaptive", "BipedError", "Body", "Box", "Capsule", "ClosingJoint",
    "ContactPoint", "ContinuousTime", "Controller", "Disturbance", "Explicit", "ExplicitEuler", "Fall", "Force",
    "Impedance", "InputError", "IntegrationError", "Integrator", "Joint", "Kick", "Lee", "LeeBroyden", "LeeNewton",
    "LeeRiqn", "Line", "Load", "Maximal", "Midpoint", "Model", "ModelError", "ModelWarning", "Observation", "Patch",
    "Platform", "Push", "Recursive", "Rigid", "Run", "RunInterrupted", "RungeKutta4", "ScalableVariational", "Scene",
    "SemiImplicitEuler", "Sensors", "Session", "SessionBatch", "SetPoint", "Settle", "Signal", "Stance", "State",
    "Subject", "SwayReferenced", "Throw", "UnsettledError", "Visual", "WholeBody", "assembled", "body_gaps",
    "box_inertia", "buffers_for", "centre_of_mass", "chain", "closed_velocity", "collapse",
    "configuration_from_pinocchio",
    "configuration_to_pinocchio", "crouching", "cylindrical", "fixed", "floating", "forward_dynamics",
    "forward_kinematics", "from_pinocchio", "helical", "human", "human_strength", "human_torques", "integrator_named",
    "jointed", "load_mjcf", "load_robot", "load_urdf", "loop_gaps", "mass_matrix", "momentum", "planar", "population",
    "prismatic", "ragdoll", "random_forces", "revolute", "rigid_box", "save_urdf", "simulate", "spherical",
    "standing", "subject", "to_pinocchio", "universal", "velocity_from_pinocchio", "velocity_map",
    "velocity_to_pinocchio",
]  # fmt: skip
