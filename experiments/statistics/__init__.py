"""Statistics of subjects × conditions × trials: means, differences of groups and of conditions.

Importing this package is quick: what stands behind a name is imported when the name is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
