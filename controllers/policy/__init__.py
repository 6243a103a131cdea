"""Controllers trained by reinforcement learning: a network that commands target angles to joint servos."""

from controllers.policy.policy import Policy

__all__ = ["Policy"]
