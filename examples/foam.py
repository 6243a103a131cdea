"""A contact law for every command: ``biped run balance --set floor.law=examples/foam.py --set floor.k_3=3e9``."""

from dataclasses import dataclass
from typing import NamedTuple

from contact import Floor, law_number, pressure, pressure_energy, pressure_slopes


class FoamNumbers(NamedTuple):
    """Numbers of the contact law; their class selects its kernels."""

    k_n: float
    b_n: float
    k_3: float


@pressure.register(FoamNumbers)
def foam_pressure(law, height, climb):
    """Return F_n = k_n δ + k_3 δ³ + b_n δ̇ [N], with the depth δ = −height."""
    return -(law.k_n * height + law.k_3 * height**3 + law.b_n * climb)


@pressure_slopes.register(FoamNumbers)
def foam_slopes(law, height, climb):  # noqa: ARG001
    """Return ∂F_n/∂height [N/m] and ∂F_n/∂climb [N·s/m]."""
    return -(law.k_n + 3.0 * law.k_3 * height**2), -law.b_n


@pressure_energy.register(FoamNumbers)
def foam_energy(law, height):
    """Return the energy [J] of the spring."""
    return 0.5 * law.k_n * height**2 + 0.25 * law.k_3 * height**4


@dataclass(frozen=True, kw_only=True)
class Foam(Floor):
    """A floor that stiffens with depth; friction, ``k_n`` and ``b_n`` are inherited from ``Floor``."""

    k_3: float = law_number(3e9, "N/m³", "Hardening of a contact point", range=(0.0, 3e10))

    @property
    def normal(self) -> FoamNumbers:
        """The numbers of the contact law."""
        return FoamNumbers(self.k_n, self.b_n, self.k_3)
