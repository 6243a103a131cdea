"""What every integrator of trees says of itself, and what follows from it."""

from typing import Any, ClassVar, Protocol

from biped.errors import InputError
from biped.model import Model


class Integrator(Protocol):
    """An integrator with its settings: a frozen dataclass whose fields are the settings.

    The table ``biped integrators`` is made of these properties, and ``simulate`` goes by them.

    One that steps from Python has a method ``hold(world, steps)`` besides, which does what
    ``biped.kernels.loop.closed_loop.hold`` does and returns why it ended. Its ``method`` is then only what the kernels
    around the steps are compiled for.
    One that has to know more than the kernels do has a method ``take_on(model, floor, disturbances)``, called before
    the first step with the model as it moves, its loads included; it raises InputError for what it cannot simulate.
    """

    @property
    def name(self) -> str:
        """As on the command line."""

    @property
    def paper(self) -> str:
        """Author and year."""

    @property
    def coordinates(self) -> str:
        """What is solved for: generalized, maximal."""

    @property
    def order(self) -> int:
        """Of the error in the step, in smooth motion."""

    @property
    def symmetric(self) -> bool:
        """Whether a step back undoes a step: what compositions of higher order need."""

    @property
    def symplectic(self) -> bool:
        """Whether the map of a step preserves the symplectic form, without dissipation."""

    @property
    def conserves_momentum(self) -> bool:
        """Whether linear and angular momentum change by exactly the impulses from outside."""

    @property
    def conserves_energy(self) -> bool:
        """Whether the energy of a conservative system stays exactly what it was."""

    @property
    def takes_contact(self) -> bool:
        """Whether contact points may touch the floor."""

    @property
    def takes_moving_floor(self) -> bool:
        """Whether the floor may move."""

    @property
    def takes_loops(self) -> bool:
        """Whether chains of joints may close."""

    @property
    def cost(self) -> str:
        """Of a step, in the number n of bodies."""

    def method(self, model: Model) -> Any:
        """What the kernels step a tree of this model by: one of ``biped.kernels.state.method``."""


class NoGuarantees:
    """What a method can say of itself that keeps nothing exactly: it takes contact, and floors at rest."""

    symmetric: ClassVar[bool] = False
    symplectic: ClassVar[bool] = False
    conserves_momentum: ClassVar[bool] = False
    conserves_energy: ClassVar[bool] = False
    takes_contact: ClassVar[bool] = True
    takes_moving_floor: ClassVar[bool] = False
    takes_loops: ClassVar[bool] = False


def check_fits(integrator: Integrator, model: Model, others: dict[str, Integrator], moving_floor: bool = False) -> None:
    """Whether the integrator can simulate the model, on a floor that moves or is at rest.

    Raises:
        InputError: it cannot; the message says which others would.
    """
    if model.nc and not integrator.takes_contact:
        able = ", ".join(name for name, other in others.items() if other.takes_contact)
        raise InputError(
            f"integrator {integrator.name!r} takes no contact, and model {model.name!r} has contact points: "
            f"these do: {able}; or simulate the flight of model.without_contacts()"
        )
    if moving_floor and not integrator.takes_moving_floor:
        able = ", ".join(name for name, other in others.items() if other.takes_moving_floor)
        raise InputError(f"integrator {integrator.name!r} takes no floor that moves; these do: {able}")
