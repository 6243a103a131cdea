"""The steps that limits are told of where nothing else is asked for: a brisk person's, after a reaction."""

#: [m] from one footprint to the next; [s] from one landing to the next; [s] that the first takes besides.
LENGTH, TIME, REACTION = 0.6, 0.35, 0.1
