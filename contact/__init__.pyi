from .floor import RUBBER, Floor, FloorError
from .hunt_crossley import HuntCrossley
from .modes import NEXT, ContactState

__all__ = ["NEXT", "RUBBER", "ContactState", "Floor", "FloorError", "HuntCrossley"]
