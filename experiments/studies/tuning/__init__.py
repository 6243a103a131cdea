"""Tuning: the gains, or any other parameters, that serve best over a set of disturbances."""
