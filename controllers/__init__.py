"""Controllers, which compute joint torques from a model's state.

Importing this package is quick: each name is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
