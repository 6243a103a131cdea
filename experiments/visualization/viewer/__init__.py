"""Runs to look at: what is seen over time (``film``), body shapes, the scene in the browser, ``biped view``."""
