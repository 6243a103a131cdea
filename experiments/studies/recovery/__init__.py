"""How hard a standing human may be pushed at most, by any torques within limits: optimal recovery."""
