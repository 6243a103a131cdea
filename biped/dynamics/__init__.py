"""The dynamics of a model: recursive algorithms, closed loops, and the quantities of whole-body control.

Each name is imported at its first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
