from .comparison import compare
from .mixed import NotConvergedError, mixed_effects
from .summary import summarise

__all__ = ["NotConvergedError", "compare", "mixed_effects", "summarise"]
