from .engine import Applied, Case, Engine, Simulation, VendorDefaults
from .kernels.external import Arrival, new_arrival

__all__ = [
    "Applied",
    "Arrival",
    "Case",
    "Engine",
    "Simulation",
    "VendorDefaults",
    "new_arrival",
]
