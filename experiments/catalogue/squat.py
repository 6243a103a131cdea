"""The human squats: its set point goes down and comes back."""

from experiments.catalogue.tracking import tracking

EXPERIMENT = tracking(
    "squat",
    "the human bends its knees until its trunk is 0.25 m lower, and rises again",
    {"shape": "return", "displacement": (0.0, 0.0, -0.25)},
    {"run.duration": 4.0},
)
