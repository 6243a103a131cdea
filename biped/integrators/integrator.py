"""The base class of integrators of trees: what each says of itself, and what follows from it."""

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
    """An integrator with its settings: derive a frozen dataclass whose fields are the settings, and define ``method``.

    The table ``biped integrators`` is made of these properties, and ``simulate`` goes by them; the defaults are those
    of a method that keeps nothing exactly. A member that is spelt almost like one of these is refused where the class
    is defined.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        refuse_near_misses(cls, Integrator)

    @property
    def name(self) -> str:
        """As on the command line."""
        return ""

    @property
    def paper(self) -> str:
        """Author and year."""
        return ""

    @property
    def coordinates(self) -> str:
        """What is solved for: generalized, maximal."""
        return "generalized"

    @property
    def order(self) -> int:
        """Of the error in the step, in smooth motion."""
        return 1

    @property
    def cost(self) -> str:
        """Of a step, in the number n of bodies."""
        return "O(n)"

    @property
    def symmetric(self) -> bool:
        """Whether a step back undoes a step."""
        return False

    @property
    def symplectic(self) -> bool:
        """Whether the map of a step preserves the symplectic form, without dissipation."""
        return False

    @property
    def conserves_momentum(self) -> bool:
        """Whether linear and angular momentum change by exactly the impulses from outside."""
        return False

    @property
    def conserves_energy(self) -> bool:
        """Whether the energy of a conservative system stays exactly what it was."""
        return False

    @property
    def is_engine(self) -> bool:
        """Whether it is another engine, whose contacts may lose energy that nothing accounts for."""
        return False

    @property
    def takes_contact(self) -> bool:
        """Whether contact points may touch the floor."""
        return True

    @property
    def takes_moving_floor(self) -> bool:
        """Whether the floor may move."""
        return False

    @property
    def takes_passive_joints(self) -> bool:
        """Whether joints may have limits, damping and friction."""
        return False

    @property
    def takes_helical_joints(self) -> bool:
        """Whether joints may be screws."""
        return False

    @property
    def takes_loops(self) -> bool:
        """Whether chains of joints may close."""
        return False

    @property
    def takes_balls(self) -> bool:
        """Whether contact points may have a radius."""
        return False

    @property
    def steps_from_python(self) -> bool:
        """Whether ``take_steps`` takes the steps, and the compiled loop does not."""
        return False

    @property
    def can_go_back(self) -> bool:
        """Whether a session can be put back to a state: whether that holds all that it remembers."""
        return True

    def stable_step(self, model: Model, q: Floats, floor: Floor) -> float | None:
        """[s] up to which steps on this floor are expected to be stable, standing at ``q``; None where all are."""
        return None

    def moving(self, model: Model) -> Model:
        """The model as it is stepped: with more contact points behind its own, if any; no controller knows of them."""
        return model

    def method(self, model: Model) -> Any:
        """What the kernels step a tree of this model by: one of ``biped.kernels.state.method``.

        For one that steps from Python it is only what the kernels around the steps are compiled for.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method method(model)")

    def bind(self, model: Model, floor: Floor, disturbances: Disturbances) -> None:
        """Called before the first step, with the model as it moves, its loads included.

        Raises:
            InputError: for what it cannot simulate.
        """

    def begin(self, model: Model, state: SimulationState, floor: Floats | None) -> None:
        """Called with the state to go on from, after ``bind``; one that no step has been taken from may be moved.

        Args:
            model: whose state it is.
            state: the arrays of the kernels.
            floor: (16,) the frame of a floor that has moved, as ``contact.ground`` has it, or None.

        Raises:
            InputError: it cannot go on from there.
        """

    def engines_with(self, ability: str) -> Sequence[str]:
        """Names of the engines that have an ability, where this is one of another engine's."""
        return ()

    def take_steps(self, world: Any, steps: int) -> int:
        """What ``biped.kernels.loop.closed_loop.Loop.rollout`` does, and why it ended; for ``steps_from_python``."""
        raise NotImplementedError(
            f"{type(self).__name__} steps from Python: it needs a method take_steps(world, steps)"
        )

    def recorder(self, method: Any) -> Any:
        """What chooses ``record_more`` of ``biped.kernels.loop.log``: the numbers of ``columns`` in each row."""
        return Nothing()

    def columns(self, model: Model) -> dict[str, str]:
        """Names and units of the numbers that it adds to each row."""
        return {}


def check_fits(integrator: Integrator, model: Model, others: dict[str, Integrator], moving_floor: bool = False) -> None:
    """Whether the integrator can simulate the model, on a floor that moves or is at rest.

    Raises:
        InputError: it cannot; the message says which others would.
    """
    name = f"model {model.name!r}"
    balls = ", ".join(point.name for point in model.contact_points if point.radius)
    limits = (
        (bool(model.nc), "takes_contact", f"takes no contact, and {name} has contact points: these do",
         "; or simulate the flight of model.without_contacts()"),
        (bool(balls), "takes_balls",
         f"knows contact points without a radius only, and those of {name} have one: {balls}; these take balls", ""),
        (len(model.tree.passive) > 0, "takes_passive_joints",
         f"simulates no limits, damping or friction of joints, and {name} has some; these do",
         "; or load it with limits = false, damping = 0, friction = 0"),
        (len(model.tree.pitch) > 0, "takes_helical_joints", f"knows no helical joints, and {name} has some; these do",
         ""),
        (bool(model.closing_joints), "takes_loops",
         f"steps trees only, and {name} has joints that close loops; these take them",
         "; or simulate model.without_closing_joints()"),
        (moving_floor, "takes_moving_floor", "takes no floor that moves; these do", ""),
    )  # fmt: skip
    for matters, ability, why, hint in limits:
        if matters and not getattr(integrator, ability):
            able = ", ".join(
                (*integrator.engines_with(ability), *(n for n, one in others.items() if getattr(one, ability)))
            )
            raise InputError(f"integrator {integrator.name!r} {why}: {able}{hint}")
