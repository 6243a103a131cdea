"""Work against precision: what an accuracy costs with each integrator, on the same problems."""
