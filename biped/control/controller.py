"""The protocol of controllers: any object with these members can drive a model.

A controller is asked once a period for the joints' torques, which are held until it is asked again,
whatever the integrator's step. Optional members, each used when present:

- ``impedance(model)``, an ``Impedance`` that acts within the steps from the start of the run;
- ``set_point(model)``, a ``SetPoint`` from which settling times and errors are taken;
- ``compiled(model)``, a ``CompiledLoop`` that does the same as ``torques`` without Python in between;
- ``recorded``, names of the numbers that a compiled loop adds to each row.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from biped.errors import InputError
from biped.model import Model
from contact.arrays import Floats


@dataclass(frozen=True)
class Observation:
    """What a controller sees of the plant.

    Attributes:
        model: the model that is simulated.
        time: [s].
        q: (nq,) configuration, as ``Model`` documents it.
        v: (nv,) velocity, as ``Model`` documents it.
    """

    model: Model
    time: float
    q: Floats
    v: Floats

    @property
    def position(self) -> Floats:
        """(3,) [m] centre of mass of a floating root."""
        return self.q[0:3]

    @property
    def orientation(self) -> Floats:
        """(4,) unit quaternion of a floating root, scalar first, body to world."""
        return self.q[3:7]

    @property
    def velocity(self) -> Floats:
        """(3,) [m/s] of a floating root's centre of mass, world axes."""
        return self.v[0:3]

    @property
    def angular_velocity(self) -> Floats:
        """(3,) [rad/s] of a floating root, world axes."""
        return self.v[3:6]

    @property
    def angles(self) -> Floats:
        """Coordinates of the joints of one degree of freedom, in the order of ``model.joint_names`` [rad or m]."""
        return self.q[[self.model.coordinate(joint) for joint in self.model.joint_names]]

    @property
    def rates(self) -> Floats:
        """Their rates, in the same order [rad/s or m/s]."""
        return self.v[[self.model.dof(joint) for joint in self.model.joint_names]]


@runtime_checkable
class Controller(Protocol):
    """What drives a model's joints."""

    @property
    def period(self) -> float:
        """[s] Between two calls; the integrator's step must divide it."""
        ...

    def torques(self, observation: Observation) -> NDArray[np.float64]:
        """(len(model.joint_names),) torques [N·m] or forces [N], to be held for a period."""
        ...


@dataclass(frozen=True)
class Impedance:
    """A spring and a damper in each joint, evaluated in the middle of each step, with the step's unknowns.

    It only adds to the diagonal of the step's factorization, and is stable at any step.

    Attributes:
        stiffness: by joint [N·m/rad].
        damping: by joint [N·m·s/rad].
        rest: by joint, where the spring is at rest [rad]; zero where not given.

    Raises:
        InputError: for a stiffness or damping that is negative, or a number that is not finite.
    """

    stiffness: dict[str, float] = field(default_factory=dict)
    damping: dict[str, float] = field(default_factory=dict)
    rest: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, least in (("stiffness", 0.0), ("damping", 0.0), ("rest", -math.inf)):
            for joint, value in getattr(self, name).items():
                if not (math.isfinite(value) and value >= least):
                    raise InputError(f"impedance.{name} of {joint} = {value!r}: it must be finite, and not negative")


@dataclass(frozen=True)
class SetPoint:
    """Where the root is to be.

    Attributes:
        position: [m] of its centre of mass.
        orientation: unit quaternion, scalar first.
        on_floor: whether it goes sideways with the point of the floor below it, where the floor moves.
    """

    position: tuple[float, float, float]
    orientation: tuple[float, float, float, float]
    on_floor: bool = False


class CompiledLoop(NamedTuple):
    """A closed loop compiled with the ``routine`` of ``contact.jit``.

    ``loop(world, law, ticks, period)`` takes ``ticks`` control ticks of ``period`` steps each and returns
    how many it did and why it ended; ``controllers.kernels.loops`` holds examples.
    """

    loop: Callable[..., tuple[int, int]]
    law: Any
