"""Studies: many trials of one experiment, kept in a folder, run on all cores or many machines.

Importing this package is quick: the module of a name is imported when the name is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
