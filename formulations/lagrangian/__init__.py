"""Integrators of Wendlandt 1997, chapter 2, derived and compiled for any Lagrangian system written in SymPy.

Importing this package is quick: each name is imported when it is first used.
"""

import lazy_loader

from biped.inputs.extras import telling

_attribute, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = telling(_attribute)
