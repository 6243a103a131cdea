"""Runs to look at: what is seen over time (``trajectory``), body shapes, the scene in the browser, ``biped view``."""
