from .floor import RUBBER, Floor, FloorError, law_number
from .hunt_crossley import HuntCrossley
from .modes import NEXT, ContactState
from .point_law import pressure, pressure_energy, pressure_slopes

__all__ = [
    "NEXT",
    "RUBBER",
    "ContactState",
    "Floor",
    "FloorError",
    "HuntCrossley",
    "law_number",
    "pressure",
    "pressure_energy",
    "pressure_slopes",
]
