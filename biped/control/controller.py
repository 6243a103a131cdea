"""The base class of controllers, and what they may have the integrator do."""

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
    """A spring and a damper in each joint, evaluated in the middle of each step, with the step's unknowns.

    It only adds to the diagonal of the step's factorization, and is stable at any step.

    Attributes:
        stiffness: by joint [N·m/rad].
        damping: by joint [N·m·s/rad].
        rest: by joint, where the spring is at rest [rad]; zero where not given.
        passive: joints whose spring and damper are tendons and short-range stiffness: no ``Actuators`` bound them, and
            beside these the ledger has their energy apart (``ledger_joints``). All others are torques of muscles.

    Raises:
        InputError: for a stiffness or damping that is negative, or a number that is not finite.
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
    """Where the root is to be.

    Attributes:
        position: [m] of its centre of mass.
        orientation: unit quaternion, scalar first.
        on_floor: whether it goes sideways with the point of the floor below it, where the floor moves.
        with_feet: whether each step takes it along, by the mean of what the feet have gone.
    """

    position: tuple[float, float, float]
    orientation: tuple[float, float, float, float]
    on_floor: bool = False
    with_feet: bool = False


class Controller:
    """A control law for a model's joints: derive from it, and define ``torques``, ``law``, or both.

    All other members are optional. A controller is asked once a period for the joints' torques, which are held until it
    is asked again, whatever the integrator's step. A member that is spelt almost like one of these is refused where the
    class is defined.

    Attributes:
        period: [s] between two calls; the integrator's step must divide it.
        recorded: names of the numbers that it adds to each row, with their units (by what a name begins or ends with,
            as in the columns of a run, where only names are given). A compiled law gets room for them, one in Python
            says them by ``Observation.record``.
        analytic: whether its compiled law is a function of time, configuration and velocity alone, made of sums,
            products, quotients and the functions of ``contact.analytic``: such a law has an exact derivative
            (``biped.derivatives.linearization``).
        files: paths of files that belong to it, such as its weights. Studies do not go on if they change.
    """

    period: float = 2e-3
    recorded: ClassVar[tuple[str, ...] | Mapping[str, str]] = ()
    analytic: ClassVar[bool] = False
    files: ClassVar[tuple[str | Path, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        refuse_near_misses(cls, Controller)

    def torques(self, observation: Observation) -> NDArray[np.float64]:
        """(len(model.joint_names),) torques [N·m] or forces [N], to be held for a period.

        Of a model with spherical joints they may be (dofs,): one for each degree of freedom of all joints, in the order
        of a velocity without a floating root's six. A compiled law's are. Without them such joints get no torques.

        If not defined: those of the compiled ``law``, at its speed. It is made once for an object of a frozen
        dataclass, and at each call of any other, since that may have changed.
        """
        return ask_compiled(self, observation)

    def law(self, model: Model) -> tuple[Any, ...] | None:
        """A named tuple whose kernel ``control`` does the same as ``torques`` without Python in between, or None.

        ``biped.kernels.loop.closed_loop.control`` says how to register one.
        """
        return None

    def warm_up(self, model: Model, announce: Callable[[str], None]) -> None:
        """Do what takes long once for a model, so that others need not wait: ``announce`` is called if it does."""

    def reset(self, observation: Observation) -> None:
        """Called at the start of a run with what is to be seen there, before ``torques`` is first asked for.

        A law that remembers something forgets it here. Not called for a compiled law: ``law`` makes that anew.
        """

    def memory(self) -> Any:
        """The memory that the law carries from tick to tick, copied, for a saved session; None if it has none."""
        return None

    def remember(self, memory: Any) -> None:
        """Take up what ``memory`` returned: the session is put back there. Called where that was not None."""

    def impedance(self, model: Model) -> Impedance | None:
        """Springs and dampers that act within the steps, from the start of the run; None if there are none."""
        return None

    def set_point(self, model: Model) -> SetPoint | None:
        """Where the root is to be, from which settling times and errors are taken, or None."""
        return None

    def set_point_from(self, model: Model, q: Floats) -> SetPoint | None:
        """The set point of a run that starts in configuration ``q`` (nq,): another one, if the law goes by its feet."""
        return self.set_point(model)

    def most_steps(self) -> float:
        """How many steps it takes at most, if its set point goes with the feet: limits of a push are told with them."""
        return math.inf

    def holding(self, model: Model, q: Floats) -> Self:
        """The same law about another posture, ``q`` (nq,), in place of its own; itself, if it has none."""
        return self

    def singular_angles(self, model: Model) -> Mapping[str, float]:
        """[rad] by joint, where its torques grow without bounds: a run that comes near is warned of."""
        return {}

    def initial_configuration(self, model: Model, floor: Floor) -> Floats | None:
        """(nq,) where a run begins that is given no state, at rest; None for the home configuration."""
        return None

    def check_start(self, model: Model, q: Floats) -> None:
        """Called before the first step from configuration ``q`` (nq,).

        Raises:
            InputError: the controller cannot work from there; the message says what would.
        """
