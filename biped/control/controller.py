"""The base class of controllers, joint impedance and set points."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from biped.control.asking import ask_compiled
from biped.control.observation import Observation
from biped.errors import InputError
from biped.inputs.checks import refuse_near_misses
from biped.model import Model
from contact import Floor
from contact.arrays import Floats


@dataclass(frozen=True)
class Impedance:
    """A spring and a damper in each joint, evaluated implicitly in the middle of each time step.

    They add only to the diagonal of the matrix that a time step factorizes, and are stable with any time step.

    Attributes:
        stiffness: stiffness [N·m/rad] by joint.
        damping: damping [N·m·s/rad] by joint.
        rest: rest angle [rad] of the spring by joint; zero for joints that are not listed.
        passive: joints whose spring and damper are tendons and short-range stiffness, not muscles: ``Actuators`` do not
            limit their torque, and the energy balance has their work in ``ledger_joints``.

    Raises:
        InputError: a stiffness or damping is negative, or a number is not finite.
    """

    stiffness: dict[str, float] = field(default_factory=dict)
    damping: dict[str, float] = field(default_factory=dict)
    rest: dict[str, float] = field(default_factory=dict)
    passive: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, least in (("stiffness", 0.0), ("damping", 0.0), ("rest", -math.inf)):
            for joint, value in getattr(self, name).items():
                if not (math.isfinite(value) and value >= least):
                    raise InputError(f"impedance.{name} of {joint} = {value!r}: it must be finite, and not negative")


@dataclass(frozen=True)
class SetPoint:
    """The target pose of the root.

    Attributes:
        position: [m] target of the root's centre of mass, in the inertial frame.
        orientation: target orientation, a unit quaternion (w, x, y, z), body to world.
        on_floor: True if the target moves horizontally with the point of a moving floor below it.
        with_feet: True if the target moves with each recovery step, by the mean displacement of the feet.
    """

    position: tuple[float, float, float]
    orientation: tuple[float, float, float, float]
    on_floor: bool = False
    with_feet: bool = False


class Controller:
    """The base class of controllers: derive from it and define ``torques``, ``law``, or both.

    All other members are optional. Once in each period, the controller computes the joints' torques and holds them. A
    member whose name is nearly that of an optional member is taken for a misspelling and raises an error.

    Attributes:
        period: [s] control period, between two calls; the integrator's time step must divide it.
        recorded: names of values that the controller adds to each recorded row, with units; without units, these follow
            from a name's beginning or end, as in the columns of a run. Compiled controllers write the values to an
            array, others call ``Observation.record``.
        analytic: True if the compiled torques depend on time, configuration and velocity alone and are made of sums,
            products, quotients and functions of ``contact.analytic``: then they have an exact derivative
            (``biped.derivatives.linearization``).
        takes_estimates: False for a model of sensory feedback, which by default receives the measurements of delayed or
            noisy sensors themselves; True for controllers that by default receive an estimate of the present state.
        acts: True if ``act`` updates the arrays of the compiled law, from Python, between its ticks.
        files: paths of files that belong to the controller, such as weights. A study is not continued if they change.
    """

    period: float = 2e-3
    recorded: ClassVar[tuple[str, ...] | Mapping[str, str]] = ()
    analytic: ClassVar[bool] = False
    takes_estimates: ClassVar[bool] = True
    acts: ClassVar[bool] = False
    files: ClassVar[tuple[str | Path, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        refuse_near_misses(cls, Controller)

    def torques(self, observation: Observation) -> NDArray[np.float64]:
        """Return (len(model.joint_names),) torques [N·m] or forces [N], which are held for a period.

        For a model with spherical joints they may be (dofs,): one for each degree of freedom of all joints, in the
        order of a velocity without a floating root's six, as in a compiled law. Otherwise spherical joints are free.

        The default calls the compiled ``law``, which is made once for an object of a frozen dataclass, and in each call
        for any other object, since the object may have changed.
        """
        return ask_compiled(self, observation)

    def law(self, model: Model) -> tuple[Any, ...] | None:
        """Return a named tuple whose compiled kernel ``control`` computes the torques; None without a compiled law.

        ``biped.kernels.loop.closed_loop.control`` documents how to register a kernel.
        """
        return None

    def act(self, observation: Observation, law: Any) -> None:
        """Update the arrays of the compiled ``law`` from Python, such as the targets of servos; only with ``acts``.

        It is called before a tick for which ``law.wait[0]`` is zero. It sets this number of ticks until the next call,
        which the compiled law counts down: a slow network costs less if it is not asked at each tick.
        """

    def warm_up(self, model: Model, announce: Callable[[str], None]) -> None:
        """Do expensive work once for a model, before workers need it; call ``announce`` with a sentence if slow."""

    def reset(self, observation: Observation) -> None:
        """Prepare for a new run; called with the observation of its start before the first ``torques`` or ``act``.

        A controller with memory clears it here. It is not called for a compiled law, which ``law`` makes anew, unless
        the controller ``acts``.
        """

    def memory(self) -> Any:
        """Return a copy of the memory between ticks, for a saved session; None if the controller has none."""
        return None

    def remember(self, memory: Any) -> None:
        """Restore what ``memory`` returned, unless it was None; called when a session returns to a snapshot."""

    def impedance(self, model: Model) -> Impedance | None:
        """Return springs and dampers that act within the time steps from the start of the run on, or None."""
        return None

    def set_point(self, model: Model) -> SetPoint | None:
        """Return the target pose of the root, to which settling times and errors refer, or None."""
        return None

    def set_point_from(self, model: Model, q: Floats) -> SetPoint | None:
        """Return the set point of a run that starts in configuration ``q`` (nq,), if it depends on the start."""
        return self.set_point(model)

    def most_steps(self) -> float:
        """Return the largest number of recovery steps, for capturability limits, if the set point follows the feet."""
        return math.inf

    def holding(self, model: Model, q: Floats) -> Self:
        """Return a controller with the reference posture ``q`` (nq,); this one if it has no reference posture."""
        return self

    def singular_angles(self, model: Model) -> Mapping[str, float]:
        """Return the angles [rad] by joint at which torques grow without bounds; runs that come near get a warning."""
        return {}

    def initial_configuration(self, model: Model, floor: Floor) -> Floats | None:
        """Return the configuration (nq,) at rest of a run without a given state; None for the home configuration."""
        return None

    def check_start(self, model: Model, q: Floats) -> None:
        """Check the start of a run; called before the first step from configuration ``q`` (nq,).

        Raises:
            InputError: the controller cannot start there; the message describes a start that is possible.
        """
