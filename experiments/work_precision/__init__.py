"""Work-precision comparison: cost of an accuracy with each integrator, on the same problems."""
