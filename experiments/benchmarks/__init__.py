"""Benchmark: cost of a step, cost of the start, and MuJoCo for comparison in the same run."""
