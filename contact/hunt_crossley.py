"""Contact law of Hunt and Crossley: a stiffening spring with damping in proportion to its force.

    F_n = k_n δ^n (1 + c δ̇)      with depth δ = −p_n [m]

The force is continuous when a point lands, since the damper has no force at depth zero. A free point that lands at a
small speed v leaves with v (1 − 2/3 c v) for any mass, k_n and n; Hunt and Crossley write α for 2/3 c.

K. H. Hunt and F. R. E. Crossley, "Coefficient of restitution interpreted as damping in vibroimpact", Journal of
Applied Mechanics 42(2), 1975, pp. 440–445. D. W. Marhefka and D. E. Orin, "A compliant contact model with nonlinear
damping for simulation of robotic systems", IEEE Transactions on Systems, Man, and Cybernetics A 29(6), 1999,
pp. 566–572, take n = 3/2 for a sphere on a plane.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from contact.floor import Floor, FloorError, law_number
from contact.point_law import pressure, pressure_energy, pressure_slopes


class HuntCrossleyNumbers(NamedTuple):
    """Parameters of the Hunt–Crossley law."""

    k_n: float
    exponent: float
    dissipation: float


@pressure.register(HuntCrossleyNumbers)
def hunt_crossley_pressure(law, height, climb):
    if height >= 0.0:
        return -law.k_n * height**law.exponent
    return law.k_n * (-height) ** law.exponent * (1.0 - law.dissipation * climb)


@pressure_slopes.register(HuntCrossleyNumbers)
def hunt_crossley_slopes(law, height, climb):
    if height >= 0.0:
        return -law.exponent * law.k_n * height ** (law.exponent - 1.0), 0.0 * climb
    stiffness = law.exponent * law.k_n * (-height) ** (law.exponent - 1.0)
    damping = law.dissipation * law.k_n * (-height) ** law.exponent
    return -stiffness * (1.0 - law.dissipation * climb), -damping


@pressure_energy.register(HuntCrossleyNumbers)
def hunt_crossley_energy(law, height):
    return law.k_n * (-height) ** (law.exponent + 1.0) / (law.exponent + 1.0)


@dataclass(frozen=True, kw_only=True)
class HuntCrossley(Floor):
    """A floor with the normal force of Hunt and Crossley and the friction of ``Floor``.

    With the defaults a point sinks 1 mm under 75 N, where its damping is that of the rubber floor of ``Floor``.

    Attributes:
        k_n: stiffness of a point [N/m^exponent].
        exponent: exponent of the penetration depth in the normal force, 1 or above; 3/2 for a sphere.
        dissipation: ratio c of a point's damping force to its elastic force times its penetration speed [s/m].

    Raises:
        FloorError: as ``Floor``, or ``exponent`` is below 1.
    """

    k_n: float = law_number(2.4e6, "N/m^exponent", "Normal stiffness of a contact point", above=0.0, range=(1e5, 1e7))
    b_n: float = field(default=0.0, init=False)
    exponent: float = law_number(1.5, "", "Exponent of penetration", source="Marhefka and Orin 1999", range=(1.0, 3.0))
    dissipation: float = law_number(
        25.0, "s/m", "Damping / elastic force per speed (c); restitution at speed v: 1 − 2/3 c v", range=(0.0, 100.0)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.exponent < 1.0:
            raise FloorError(f"floor.exponent = {self.exponent:g}: it must be at least 1 (1.5 for a sphere)")

    @property
    def normal(self) -> HuntCrossleyNumbers:
        """Parameters of the normal force law."""
        return HuntCrossleyNumbers(self.k_n, self.exponent, self.dissipation)
