"""Interface of an external physics engine: its settings, and a simulation that takes steps (docs/add-an-engine.md)."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from biped.control.controller import Impedance
from biped.disturbances import Disturbances, Patch, Platform, Throw
from biped.errors import InputError
from biped.inputs.checks import refuse_near_misses
from biped.inputs.extras import command
from biped.model import Body, Box, Model
from contact import Floor
from contact.arrays import Floats, Integers
from experiments.engines.kernels.external import Arrival, FloorState


@dataclass(frozen=True)
class Case:
    """Scene that an engine simulates: model, floor, time step, springs and dampers of joints, and disturbances."""

    model: Model  # model, including its loads
    floor: Floor  # floor under its contact points; engines have one coefficient of friction, ``floor.mu_s``
    step: float  # [s] time step
    impedance: Impedance  # springs and dampers of joints
    throw: Throw | None  # thrown box, or None
    patches: tuple[Patch, ...] = ()  # parts of the floor with other parameters
    platform: Platform | None = None  # motion of the floor; None for a floor at rest at height zero

    @classmethod
    def of(cls, model: Model, floor: Floor, step: float, impedance: Impedance, disturbances: Disturbances) -> "Case":
        """Return a case with the disturbances that the engine itself simulates."""
        if disturbances.sway_referenced is not None:
            raise InputError("external engines do not support sway-referenced floors: use one of biped's integrators")
        patches = tuple(disturbances.patches)
        return cls(model, floor, step, impedance, disturbances.throw, patches, disturbances.platform)

    def spring_and_damper(self, floor: Floor) -> tuple[float, float]:
        """Return stiffness [N/m] and damping [N·s/m] of a floor at a contact point that bears its share of weight."""
        model = self.model
        return floor.slopes_at(floor.sink(model.total_mass * -model.gravity[2], max(model.nc, 1)))

    @property
    def has_special_floor(self) -> bool:
        """True if the floor moves, or has patches."""
        return self.platform is not None or bool(self.patches)

    @property
    def floors(self) -> tuple[Floor, ...]:
        """The floor, then the floors of the patches, by the index in ``FloorState.region``."""
        return (self.floor, *(patch.floor for patch in self.patches))


def frame_of(body: Body) -> Floats:
    """Return the origin (3,) [m] of a body's frame in an engine that has our coordinates, in our link frame."""
    return np.asarray(body.com) if body.joint.kind == "floating" else np.zeros(3)


def contact_points_of(model: Model, axes: Callable[[Body], Floats] = lambda _: np.eye(3)) -> tuple[Integers, Floats]:
    """Return the body (nc,) of each contact point, and its position (nc, 3) [m] from the body's centre of mass.

    Positions are in the engine's axes of the body; ``axes`` returns the rotation (3, 3) from these to ours.
    """
    points = [(point, model.bodies[model.body_index(point.body)]) for point in model.contact_points]
    places = [np.subtract(point.position, body.com) @ axes(body) for point, body in points]
    return np.array([model.body_index(body.name) for _, body in points], dtype=np.int64), np.reshape(places, (-1, 3))


def struck_box(model: Model, throw: Throw) -> Box:
    """Return the box of the model that a thrown box may hit; raises InputError if the target has no box."""
    for box in model.shapes:
        if box.body == throw.target:
            return box
    raise InputError(f"block.target = {throw.target!r}: this body has no box to hit; name a body that has one")


@dataclass(frozen=True)
class Applied:
    """A force on a body, constant during a time step."""

    body: int  # index in ``model.bodies``
    force: Floats  # (3,) [N] world axes
    place: Floats  # (3,) [m] point of action in the world at the start of the step


class Simulation(ABC):
    """Base class of simulations of a ``Case``; configuration q and velocity v are those of ``biped.model.Model``."""

    #: the engine's reason why the last step failed; empty if it did not fail, or if the reason is unknown
    failure: str = ""

    def __init__(self, case: Case) -> None:
        self.case = case

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        refuse_near_misses(cls, Simulation)

    @abstractmethod
    def place(self, q: Floats, v: Floats, projectile: Floats) -> None:
        """Restart from the configuration q (nq,) and the velocity v (nv,).

        ``projectile`` (13,) is the state of the thrown box, if there is one: position [m], unit quaternion (scalar
        first), velocity [m/s] and angular velocity [rad/s] in world axes.
        """

    def set_floor(self, floor: FloorState) -> None:
        """Set the floor's motion in the next time step, and the floor under each contact point.

        Called before each step if the floor moves or has patches. The arrays of ``floor`` are reused in each step.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method set_floor for moving floors or patches")

    @abstractmethod
    def step(self, torque: Floats, forces: Sequence[Applied]) -> None:
        """Take a step of ``case.step`` under joint torques (nv,) [N·m], which are zero for a floating root."""

    @abstractmethod
    def read(self, arrival: Arrival) -> None:
        """Write configuration and velocity of the model after the last step, and the forces in that step.

        Leave ``projectile`` and ``impact`` unchanged if nothing is thrown. ``impact_place`` is read only if ``impact``
        is not zero. A number that is not finite ends the run as failed.
        """

    def passive_rollout(self, steps: int) -> None:
        """Take steps without torques and forces.

        ``biped compare`` uses it to measure an engine's speed. Engines that can take many steps in one call do so here.
        """
        torque = np.zeros(self.case.model.nv)
        for _ in range(steps):
            self.step(torque, ())


class Engine(ABC):
    """Base class of adapters of external engines: frozen dataclasses whose fields are the engine's settings."""

    name: ClassVar[str]  #: name on the command line
    title: ClassVar[str]  #: name in texts
    package: ClassVar[str]  #: imported module
    distribution: ClassVar[str]  #: name on PyPI
    takes_armature: ClassVar[bool] = False  #: True if it simulates the inertia of the joints' rotors
    takes_passive_joints: ClassVar[bool] = False  #: True if it simulates the joints' limits, damping and dry friction
    takes_moving_floor: ClassVar[bool] = False  #: True if it simulates floors that move
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
        """Fraction of a time step by which velocities lag behind positions: 0.5 for velocities at mid-step."""
        return 0.0

    @property
    def vendor_defaults(self) -> "VendorDefaults | None":
        """The engine with its vendor's default settings, or None; the defaults here match biped's where possible."""
        return None

    @property
    def smooth(self) -> "tuple[Engine, ...]":
        """The engine with other settings for motion without contacts, if there are better ones."""
        return ()

    def differences(self, case: Case) -> tuple[str, ...]:
        """Return a sentence for each remaining difference from biped's integrators, with the numbers of this case."""
        return ()

    @property
    def settings(self) -> dict[str, Any]:
        """Settings of the engine by name."""
        return {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]

    @property
    def files(self) -> tuple[Path, ...]:
        """Files on which the engine's results depend, other than the model's."""
        return ()

    @property
    def version(self) -> str | None:
        """Installed version of the engine, or None."""
        try:
            return version(self.distribution) if find_spec(self.package) is not None else None
        except PackageNotFoundError:
            return None

    def check_installed(self) -> None:
        """Raise InputError if the engine is not installed, with the command that installs it."""
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
    """An engine with its vendor's default settings and time step."""

    engine: Engine  # engine with its vendor's default settings
    step: float  # [s] vendor's default time step
    text: str  # sentence about these settings

    def step_within(self, period: float) -> float:
        """Return the vendor's time step [s], or the longest shorter one that divides the control ``period`` [s]."""
        return period / math.ceil(period / self.step - 1e-9)
