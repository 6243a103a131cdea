"""What another physics engine has to offer to run our experiments: settings, and a simulation that takes steps.

docs/add-an-engine.md shows how one is added.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any, Protocol

from biped.control.controller import Impedance
from biped.disturbances import Throw
from biped.errors import InputError
from biped.model import Model
from contact import Floor
from contact.arrays import Floats
from experiments.engines.kernels.external import Arrival


@dataclass(frozen=True)
class Case:
    """What an engine is to simulate.

    Attributes:
        model: the tree, its loads included.
        floor: what its contact points stand on. Engines have one coefficient of friction: ``floor.mu_s``.
        step: [s].
        impedance: springs and dampers of joints.
        throw: a box that is thrown, or None.
    """

    model: Model
    floor: Floor
    step: float
    impedance: Impedance
    throw: Throw | None


@dataclass(frozen=True)
class Applied:
    """A force on a body, constant through a step.

    Attributes:
        body: its index in ``model.bodies``.
        force: (3,) [N] world axes.
        place: (3,) [m] where it acts at the start of the step, in the world.
    """

    body: int
    force: Floats
    place: Floats


class Simulation(Protocol):
    """One rollout in an engine. Configurations and velocities are ours, as ``biped.model.Model`` documents them.

    Optional members, each used when present:

    - ``failure``, why the last step failed, in the engine's words;
    - ``coast(steps)``, which takes steps without torques and forces in one call of the engine: ``biped compare``
      measures its speed so, without Python in between.
    """

    def place(self, q: Floats, v: Floats, thrown: Floats) -> None:
        """Start anew.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            thrown: (13,) of the thrown box, if there is one: position [m], unit quaternion (scalar first), velocity
                [m/s], angular velocity [rad/s], world axes.
        """

    def step(self, torque: Floats, forces: Sequence[Applied]) -> None:
        """Take one step of ``case.step`` under joint torques (nv,) [N·m], those of a floating root being zero."""

    def read(self, arrival: Arrival) -> None:
        """Write where the model is after the last step, how it moves, and the forces in that step.

        ``thrown`` and ``blow`` are left alone where nothing is thrown. ``blow_at`` is read where there is a blow. A
        number that is not finite ends the run as failed.
        """


class Engine(Protocol):
    """An engine with its settings: a frozen dataclass whose fields are the settings.

    It may have an attribute ``smooth``, the engine in other settings, which suit motion without contacts better.
    """

    @property
    def name(self) -> str:
        """As on the command line."""

    @property
    def title(self) -> str:
        """As people write it."""

    @property
    def package(self) -> str:
        """The module that is imported."""

    @property
    def distribution(self) -> str:
        """What holds it on PyPI."""

    @property
    def install(self) -> str:
        """The command that installs it."""

    @property
    def lag(self) -> float:
        """By how much of a step its velocities lag behind its positions: 0.5 where they are of the step's middle."""

    @property
    def natural(self) -> "Natural":
        """The engine in its own natural settings; its other defaults here are made to equal ours where that can be."""

    def differences(self, case: Case) -> tuple[str, ...]:
        """What cannot be made equal to ours, a sentence each, with the figures of these settings."""

    def start(self, case: Case) -> Simulation:
        """A simulation of the case.

        Raises:
            InputError: the engine cannot simulate it; the message says why.
        """


@dataclass(frozen=True)
class Natural:
    """An engine as its own users know it.

    Attributes:
        engine: with its own defaults.
        step: [s] its default.
        period: [s] between two control ticks: the controller's own, or another where the step does not divide that.
        words: one sentence about these settings.
    """

    engine: Engine
    step: float
    period: float
    words: str


def settings_of(engine: Engine) -> dict[str, Any]:
    """The settings by name."""
    return {item.name: getattr(engine, item.name) for item in fields(engine)}  # type: ignore[arg-type]


def version_of(engine: Engine) -> str | None:
    """Its installed version, or None."""
    try:
        return version(engine.distribution) if find_spec(engine.package) is not None else None
    except PackageNotFoundError:
        return None


def check_installed(engine: Engine) -> None:
    """Whether it can be used here.

    Raises:
        InputError: it is not installed; the message says how to.
    """
    if version_of(engine) is None:
        raise InputError(f"{engine.title} is not installed here; to install it: {engine.install}")


def described(engine: Engine) -> Mapping[str, Any]:
    """Name, version and settings, as a run's summary keeps them."""
    return {"name": engine.name, "version": version_of(engine), "settings": settings_of(engine)}
