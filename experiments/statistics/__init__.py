"""Statistics of trials of several subjects: means, and differences between groups or conditions.

Importing this package is quick: the module of a name is imported when the name is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
