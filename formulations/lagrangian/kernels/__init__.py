"""Kernels that are compiled for one system and one method: generated equations, and the stepping loop."""
