from .comparison import compare
from .mixed import NotConvergedError, mixed_effects
from .power import effect_of, power, sample_size
from .summary import summarise

__all__ = ["NotConvergedError", "compare", "effect_of", "mixed_effects", "power", "sample_size", "summarise"]
