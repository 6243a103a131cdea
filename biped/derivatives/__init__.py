"""Derivatives of simulations: linearizations of steps, gradients of trials, and the tape for control laws."""
