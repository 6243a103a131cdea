"""Indices of the parts of a closed loop in ``World.parts``."""

ADVANCE = 0
MEASURE = 1
APPLY = 2
APPEND_ROW = 3
MEET_BOX = 4
TAKE_STEPS = 5
ESTIMATE = 6
PARTS = 7
