"""Sensitivity: which parameters a metric depends on, by Morris's and Sobol's methods."""
