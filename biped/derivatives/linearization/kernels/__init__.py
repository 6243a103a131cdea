"""Compiled exact derivatives of a step with contact modes held, of a control period, and of a law."""
