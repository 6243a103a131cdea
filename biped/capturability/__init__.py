"""How hard a body may be pushed without a step, at most: the inverted pendulum's bounds (Koolen et al. 2012)."""
