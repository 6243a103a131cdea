"""Published tables and figures, recomputed: printed values against ours."""
