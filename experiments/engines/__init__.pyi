from .engine import Applied, Case, Engine, Simulation, VendorDefaults
from .kernels.external import Arrival, FloorState, new_arrival

__all__ = [
    "Applied", "Arrival", "Case", "Engine", "FloorState", "Simulation", "VendorDefaults", "new_arrival",
]  # fmt: skip
