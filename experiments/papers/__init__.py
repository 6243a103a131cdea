"""Published tables and figures, recomputed: what was printed against what comes out here."""
