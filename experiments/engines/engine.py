"""Interface of an external physics engine: its settings, and a simulation that takes steps.

docs/add-an-engine.md shows how one is added.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from biped.control.controller import Impedance
from biped.disturbances import Disturbances, Patch, Platform, Throw
from biped.errors import InputError
from biped.inputs.checks import refuse_near_misses
from biped.inputs.extras import command
from biped.model import Body, Box, Model
from contact import Floor
from contact.arrays import Floats
from experiments.engines.kernels.external import Arrival, FloorState


@dataclass(frozen=True)
class Case:
    """Task for an engine: model, floor, step size, passive joints and disturbances."""

    model: Model  # model with its loads
    floor: Floor  # floor under its contact points; engines have one coefficient of friction, ``floor.mu_s``
    step: float  # [s]
    impedance: Impedance  # springs and dampers of joints
    throw: Throw | None  # thrown box, or None
    patches: tuple[Patch, ...] = ()  # parts of the floor with other parameters
    platform: Platform | None = None  # motion of the floor; None for a floor at rest at height zero

    @classmethod
    def of(cls, model: Model, floor: Floor, step: float, impedance: Impedance, acting: Disturbances) -> "Case":
        """Return a case with those disturbances that an engine has to know."""
        if acting.sway_referenced is not None:
            raise InputError("a floor that turns with the body needs an integrator of ours, not an engine")
        return cls(model, floor, step, impedance, acting.throw, tuple(acting.patches), acting.platform)

    def spring_and_damper(self, floor: Floor) -> tuple[float, float]:
        """Return a contact point's stiffness [N/m] and damping [N·s/m] on a floor, under its share of the weight."""
        model = self.model
        return floor.slopes_at(floor.sink(model.total_mass * -model.gravity[2], max(model.nc, 1)))

    @property
    def has_special_floor(self) -> bool:
        """True if the floor moves, or has patches."""
        return self.platform is not None or bool(self.patches)

    @property
    def floors(self) -> tuple[Floor, ...]:
        """The floor and those of the patches, numbered as in ``FloorState.region``."""
        return (self.floor, *(patch.floor for patch in self.patches))


def frame_of(body: Body) -> Floats:
    """Return the origin (3,) [m], in our link frame, of a body's frame in engines with our coordinates."""
    return np.asarray(body.com) if body.joint.kind == "floating" else np.zeros(3)


def struck_box(model: Model, throw: Throw) -> Box:
    """Return the box of the model that a thrown box may hit; raises InputError if its target has none."""
    for box in model.shapes:
        if box.body == throw.target:
            return box
    raise InputError(f"throw.target = {throw.target!r}: this body has no box to hit; name one with a box")


@dataclass(frozen=True)
class Applied:
    """A force on a body, constant through a step."""

    body: int  # index in ``model.bodies``
    force: Floats  # (3,) [N] world axes
    place: Floats  # (3,) [m] point of action in the world at the start of the step


class Simulation(ABC):
    """A rollout in an engine, in our configurations and velocities, as ``biped.model.Model`` documents them."""

    #: reason why the last step failed, in the engine's words; empty if it did not, or if unknown
    failure: str = ""

    def __init__(self, case: Case) -> None:
        self.case = case

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        refuse_near_misses(cls, Simulation)

    @abstractmethod
    def place(self, q: Floats, v: Floats, projectile: Floats) -> None:
        """Restart from q (nq,) and v (nv,).

        ``projectile`` (13,) is the thrown box, if there is one: position [m], unit quaternion (scalar first), velocity
        [m/s] and angular velocity [rad/s] in world axes.
        """

    def set_floor(self, floor: FloorState) -> None:
        """Set the floor's motion in the next step, and the floor under each contact point.

        Called before each step if the floor moves or has patches; its arrays change from step to step.
        """
        raise NotImplementedError(f"{type(self).__name__} takes moving floors or patches: it needs a method set_floor")

    @abstractmethod
    def step(self, torque: Floats, forces: Sequence[Applied]) -> None:
        """Take a step of ``case.step`` under joint torques (nv,) [N·m]; those of a floating root are zero."""

    @abstractmethod
    def read(self, arrival: Arrival) -> None:
        """Write position and velocity of the model after the last step, and the forces in that step.

        Leave ``projectile`` and ``impact`` unchanged if nothing is thrown. ``impact_place`` is read if there is an
        impact. A number that is not finite ends the run as failed.
        """

    def passive_rollout(self, steps: int) -> None:
        """Take steps without torques and forces.

        ``biped compare`` uses it to measure an engine's speed. Engines that can take many steps in one call do so here.
        """
        torque = np.zeros(self.case.model.nv)
        for _ in range(steps):
            self.step(torque, ())


class Engine(ABC):
    """An engine with its settings: a frozen dataclass whose fields are the settings."""

    name: ClassVar[str]  #: name on the command line
    title: ClassVar[str]  #: name in texts
    package: ClassVar[str]  #: imported module
    distribution: ClassVar[str]  #: name on PyPI
    takes_armature: ClassVar[bool] = False  #: True if it simulates rotors of joints
    takes_passive_joints: ClassVar[bool] = False  #: True if it simulates the joints' limits, damping and dry friction
    takes_moving_floor: ClassVar[bool] = False
    takes_patches: ClassVar[bool] = False  #: True if it simulates floor patches with other parameters

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        refuse_near_misses(cls, Engine)

    @abstractmethod
    def start(self, case: Case) -> Simulation:
        """Return a simulation of the case; raises InputError with the reason if the engine cannot simulate it."""

    @property
    def install(self) -> str:
        """Command that installs the engine."""
        return command(self.package)

    @property
    def velocity_offset(self) -> float:
        """Part of a step by which velocities lag behind positions: 0.5 for velocities at the middle of a step."""
        return 0.0

    @property
    def vendor_defaults(self) -> "VendorDefaults | None":
        """The engine with its vendor's default settings; its defaults here match ours where possible."""
        return None

    @property
    def smooth(self) -> "tuple[Engine, ...]":
        """The engine with settings for motion without contacts."""
        return ()

    def differences(self, case: Case) -> tuple[str, ...]:
        """Return a sentence for each remaining difference from ours, with the figures of these settings."""
        return ()

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the engine by name."""
        return {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]

    @property
    def version(self) -> str | None:
        """Installed version of the engine, or None."""
        try:
            return version(self.distribution) if find_spec(self.package) is not None else None
        except PackageNotFoundError:
            return None

    def check_installed(self) -> None:
        """Raise InputError if it is not installed, with the command that installs it."""
        if self.version is None:
            raise InputError(f"{self.title} is not installed here; to install it: {self.install}")

    def check_choices(self, **choices: tuple[str, ...]) -> None:
        """Raise InputError for a setting that is not among its choices."""
        for name, allowed in choices.items():
            if (value := getattr(self, name)) not in allowed:
                raise InputError(f"{self.title}'s {name} = {value!r}: it must be {' or '.join(allowed)}")

    def check_soles(self, case: Case, soles: str) -> None:
        """Raise InputError for floor patches under box soles, each of which has one contact law."""
        if case.patches and soles != "points":
            raise InputError(f"{self.title}'s soles = {soles!r}: on a floor with patches it must be points")


@dataclass(frozen=True)
class VendorDefaults:
    """An engine with its vendor's settings."""

    engine: Engine  # engine with its vendor's settings
    step: float  # [s] vendor's default
    text: str  # one sentence about these settings

    def step_within(self, period: float) -> float:
        """Return the vendor's step [s], or the longest shorter one that divides the controller's ``period`` [s]."""
        return period / math.ceil(period / self.step - 1e-9)
