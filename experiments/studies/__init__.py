"""Studies: many trials of an experiment, stored in a folder. Each name's module is imported when it is first used."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
