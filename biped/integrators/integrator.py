"""The base class of integrators of trees: their properties, and the check against a model."""

from collections.abc import Sequence
from typing import Any

from biped.disturbances import Disturbances
from biped.errors import InputError
from biped.inputs.checks import refuse_near_misses
from biped.kernels.state.simulation_state import SimulationState
from biped.model import Model
from contact import Floor
from contact.arrays import Floats
from kernelcache import Nothing


class Integrator:
    """Base class of integrators: a subclass is a frozen dataclass whose fields are its settings; it defines ``method``.

    ``biped integrators`` lists the properties of this class, and ``simulate`` checks scenes against them. Their
    defaults describe an integrator that conserves nothing exactly. A member with nearly the name of a property, such as
    ``take_loops`` instead of ``takes_loops``, counts as a misspelling: the definition of the class raises an error.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        refuse_near_misses(cls, Integrator)

    @property
    def name(self) -> str:
        """Name on the command line."""
        return ""

    @property
    def paper(self) -> str:
        """Author and year of the source."""
        return ""

    @property
    def coordinates(self) -> str:
        """Coordinates of the unknowns: generalized or maximal."""
        return "generalized"

    @property
    def order(self) -> int:
        """Order of accuracy in the length of the time step, for smooth motion."""
        return 1

    @property
    def cost(self) -> str:
        """Cost of a time step as a function of the number n of bodies, such as O(n)."""
        return "O(n)"

    @property
    def symmetric(self) -> bool:
        """True if a time step of length −h undoes a step of length h."""
        return False

    @property
    def symplectic(self) -> bool:
        """True if a time step without dissipation preserves the symplectic form."""
        return False

    @property
    def conserves_momentum(self) -> bool:
        """True if linear and angular momentum change by exactly the external impulses."""
        return False

    @property
    def conserves_energy(self) -> bool:
        """True if the energy of a conservative system stays exactly constant."""
        return False

    @property
    def is_engine(self) -> bool:
        """True if another physics engine takes the steps; its energy balance may lack the losses in contacts."""
        return False

    @property
    def takes_contact(self) -> bool:
        """True if contact points may touch the floor."""
        return True

    @property
    def takes_moving_floor(self) -> bool:
        """True if the floor may move."""
        return False

    @property
    def takes_passive_joints(self) -> bool:
        """True if joints may have limits, damping and friction."""
        return False

    @property
    def takes_helical_joints(self) -> bool:
        """True if joints may be helical (screw joints)."""
        return False

    @property
    def takes_loops(self) -> bool:
        """True if joints may close loops."""
        return False

    @property
    def takes_balls(self) -> bool:
        """True if contact points may have a radius, as rolling balls."""
        return False

    @property
    def steps_from_python(self) -> bool:
        """True if the Python method ``take_steps`` takes the time steps, not the compiled loop."""
        return False

    @property
    def can_go_back(self) -> bool:
        """True if a session can return to an earlier state, since the state holds all of the integrator's memory."""
        return True

    def stable_step(self, model: Model, q: Floats, floor: Floor) -> float | None:
        """Return the longest time step [s] expected to be stable for standing at ``q`` (nq,); None without a limit."""
        return None

    def moving(self, model: Model) -> Model:
        """Return the model to simulate: ``model``, possibly with further contact points, which controllers ignore."""
        return model

    def method(self, model: Model) -> Any:
        """Return the method (``biped.kernels.state.method``) by which the kernels step the tree of a model.

        If the integrator steps from Python, the kernels around the steps are compiled for it.
        """
        raise NotImplementedError(f"integrator class {type(self).__name__} must define the method method(model)")

    def bind(self, model: Model, floor: Floor, disturbances: Disturbances) -> None:
        """Check the inputs of a simulation, or prepare for it; called before the first time step.

        Raises:
            InputError: the integrator cannot simulate this model, floor or disturbance.
        """

    def begin(self, model: Model, state: SimulationState, floor: Floats | None) -> None:
        """Check or adapt the initial state, after ``bind``; it may be changed only if it has taken no time step.

        Args:
            model: the simulated model.
            state: the arrays of the kernels.
            floor: (16,) frame of a floor that has moved (``contact.ground``); None if it has not.

        Raises:
            InputError: the integrator cannot continue from this state.
        """

    def engines_with(self, ability: str) -> Sequence[str]:
        """Return the names of other engines that have an ability, if this integrator stands for an engine."""
        return ()

    def take_steps(self, world: Any, steps: int) -> int:
        """Take time steps and return a reason to stop, as ``Loop.rollout`` does; needed if ``steps_from_python``."""
        raise NotImplementedError(
            f"integrator class {type(self).__name__} has steps_from_python: it must define take_steps(world, steps)"
        )

    def recorder(self, method: Any) -> Any:
        """Return the argument ``more`` of ``biped.kernels.loop.log.record_more``, which writes the ``columns``."""
        return Nothing()

    def columns(self, model: Model) -> dict[str, str]:
        """Return names and units of the columns that the integrator adds to the rows of a run."""
        return {}


def check_fits(integrator: Integrator, model: Model, listed: dict[str, Integrator], moving_floor: bool = False) -> None:
    """Check that the integrator can simulate the model, with ``moving_floor`` on a floor that moves.

    Raises:
        InputError: the integrator cannot simulate the model; the message names those in ``listed`` that can.
    """
    name = f"model {model.name!r}"
    balls = ", ".join(point.name for point in model.contact_points if point.radius)
    limits = (
        (bool(model.nc), "takes_contact", f"does not support contact, and {name} has contact points",
         "; or simulate the flight of model.without_contacts()"),
        (bool(balls), "takes_balls",
         f"does not support contact points with a radius, and {name} has some ({balls})", ""),
        (len(model.tree.passive) > 0, "takes_passive_joints",
         f"does not support limits, damping or friction of joints, and {name} has some",
         "; or load it with limits = false, damping = 0, friction = 0"),
        (len(model.tree.pitch) > 0, "takes_helical_joints",
         f"does not support helical joints, and {name} has some", ""),
        (bool(model.closing_joints), "takes_loops",
         f"does not support loops, and {name} has joints that close loops",
         "; or simulate model.without_closing_joints()"),
        (moving_floor, "takes_moving_floor", "does not support a moving floor", ""),
    )  # fmt: skip
    for matters, ability, why, hint in limits:
        if matters and not getattr(integrator, ability):
            names = [*integrator.engines_with(ability), *(n for n, item in listed.items() if getattr(item, ability))]
            supporting = ", ".join(names)
            raise InputError(f"integrator {integrator.name!r} {why}; supported by: {supporting}{hint}")
