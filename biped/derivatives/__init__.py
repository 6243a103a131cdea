"""Derivatives of simulations: linearizations of steps, gradients of trials, and tapes of compiled laws."""
