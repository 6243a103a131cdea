"""Multibody models, integrators with contact, disturbances, and simulations with a balance of energy and momentum.

Importing this package is quick: the module that defines a name is imported when the name is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
