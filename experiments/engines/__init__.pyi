from .engine import Applied, Case, Engine, Simulation, VendorDefaults
from .kernels.external import Arrival, new_arrival
from .rollout import Rollout, rollout

__all__ = [
    "Applied",
    "Arrival",
    "Case",
    "Engine",
    "Rollout",
    "Simulation",
    "VendorDefaults",
    "new_arrival",
    "rollout",
]
