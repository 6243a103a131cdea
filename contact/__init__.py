"""Contact of points, boxes and capsules: floor with spring and damper, stick–slip friction, and collisions.

Each name is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
