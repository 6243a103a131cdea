"""Contact of points, boxes and capsules: spring and damper of the floor, stick–slip friction, and collisions.

Each name is imported at its first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
