"""Chapter 2 of Wendlandt 1997 for any Lagrangian: from a system in SymPy, its integrators are derived and compiled.

Importing this package is quick: what stands behind a name is imported when the name is first used.
"""

import lazy_loader

from biped.inputs.extras import telling

_attribute, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = telling(_attribute)
