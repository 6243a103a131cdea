"""The benchmark: how long a step takes, what it costs to start, and MuJoCo beside it in the same run."""
