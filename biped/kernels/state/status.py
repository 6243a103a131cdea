"""Return values of a step or loop, besides the causes of failure of ``biped.kernels.solve.causes``."""

OK = 0
LOG_FULL = 2

# Exceeded limits of a fall.
TOO_LOW = 1  # the root is too low above the floor
TOO_TILTED = 3  # the root is tilted too far
JOINT_TOO_FAST = 4  # a joint is too fast: control is lost
LIMITS = (TOO_LOW, TOO_TILTED, JOINT_TOO_FAST)
