"""Default step length, timing and reaction of the limits with steps: a fast step of a person."""

#: [m] step length; [s] time between landings; [s] additional reaction time before the first step.
LENGTH, TIME, REACTION = 0.6, 0.35, 0.1
