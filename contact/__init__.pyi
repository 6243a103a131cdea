from .floor import RUBBER, Floor, FloorError
from .modes import NEXT, ContactState

__all__ = ["NEXT", "RUBBER", "ContactState", "Floor", "FloorError"]
