"""Runs to look at: what is seen over time (``film``), body shapes, the stage in the browser, ``biped view``."""
