"""Three-dimensional view of runs: motion over time (``trajectory``), body shapes, browser scene, ``biped view``."""
