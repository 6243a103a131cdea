"""The speed of the thesis's thrown block at which the human falls."""
