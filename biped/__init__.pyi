from .controller import CompiledLoop, Controller, Impedance, Observation, SetPoint
from .disturbance import Push, Throw
from .errors import InputError, IntegrationError, ModelError, RunInterrupted
from .integrators import Adaptive, ExplicitEuler, Maximal, Recursive, RungeKutta4, SemiImplicitEuler, integrator_named
from .model import (
    Body,
    Box,
    ContactPoint,
    Joint,
    Model,
    chain,
    fixed,
    floating,
    human,
    load_urdf,
    prismatic,
    revolute,
    rigid_box,
    save_urdf,
    spherical,
)
from .run import Run
from .simulation import simulate
from .state import State
from .world import Fall

__all__ = [
    "Adaptive",
    "Body",
    "Box",
    "CompiledLoop",
    "ContactPoint",
    "Controller",
    "ExplicitEuler",
    "Fall",
    "Impedance",
    "InputError",
    "IntegrationError",
    "Joint",
    "Maximal",
    "Model",
    "ModelError",
    "Observation",
    "Push",
    "Recursive",
    "Run",
    "RunInterrupted",
    "RungeKutta4",
    "SemiImplicitEuler",
    "SetPoint",
    "State",
    "Throw",
    "chain",
    "fixed",
    "floating",
    "human",
    "integrator_named",
    "load_urdf",
    "prismatic",
    "revolute",
    "rigid_box",
    "save_urdf",
    "simulate",
    "spherical",
]
