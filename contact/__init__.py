"""A force law at a point on a floor: spring, damper, and a machine of stick and slip. It knows no bodies."""

from contact.floor import RUBBER, Floor, FloorError
from contact.modes import NEXT, ContactState

__all__ = ["NEXT", "RUBBER", "ContactState", "Floor", "FloorError"]
