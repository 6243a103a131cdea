"""Default length and timing of the pendulum's steps, for limits with steps: fast steps of a person."""

#: [m] step length; [s] time between landings; [s] additional reaction time before the first step.
LENGTH, TIME, REACTION = 0.6, 0.35, 0.1
