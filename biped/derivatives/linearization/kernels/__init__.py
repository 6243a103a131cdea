"""Exact derivatives of what is simulated: of a step with its contact modes held, of a control period, of a law."""
