"""Default step length, timing and reaction of the limits with steps: a fast step of a person."""

#: [m] from one footprint to the next; [s] from one landing to the next; [s] that the first takes besides.
LENGTH, TIME, REACTION = 0.6, 0.35, 0.1
