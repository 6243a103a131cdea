"""The human leans forwards: its set point turns and comes back."""

import math

from experiments.catalogue.tracking import tracking

EXPERIMENT = tracking(
    "lean",
    "the human leans its trunk forwards by 15° and straightens up again",
    {"shape": "return", "turn": (0.0, -math.radians(15.0), 0.0)},
    {"run.duration": 4.0},
)
