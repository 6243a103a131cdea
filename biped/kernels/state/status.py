"""Why a step, or a loop of steps, came back, if not by a cause of failure (``biped.kernels.solve.causes``)."""

OK = 0
LOG_FULL = 2

# Limits of a fall that were hit.
TOO_LOW = 1  # the root is too low above the floor
TOO_TILTED = 3  # its vertical axis is too far from the world's
JOINT_TOO_FAST = 4  # a joint's rate is out of control
LIMITS = (TOO_LOW, TOO_TILTED, JOINT_TOO_FAST)
