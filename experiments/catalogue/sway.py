"""The human sways at will: its set point swings from side to side."""

from experiments.catalogue.tracking import tracking

#: [m] Of 0.03 m, at 0.5 Hz, the law unloads a foot and flings it: it does not know that floors only push.
AMPLITUDE = 0.02

EXPERIMENT = tracking(
    "sway",
    "the human sways from side to side by 2 cm at 0.5 Hz",
    {"shape": "sine", "displacement": (0.0, AMPLITUDE, 0.0), "frequency": 0.5, "duration": 6.0},
    {"run.duration": 8.0},
)
