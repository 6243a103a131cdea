"""Figures, reports, three-dimensional views, videos, the live view, and exports of runs and studies.

Importing this package is quick: each name is imported on first use.
"""

import lazy_loader

from biped.inputs.extras import telling

_attribute, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = telling(_attribute)
