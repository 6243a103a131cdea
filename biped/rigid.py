"""Old name of ``biped.assembly``, whose modules it has too."""

import sys
from importlib import import_module

from biped.assembly import *  # noqa: F403
from biped.assembly import __all__ as __all__

for _name in ("conversion", "examples", "joint", "placement", "shapes", "solids"):
    sys.modules[f"{__name__}.{_name}"] = import_module(f"biped.assembly.{_name}")
