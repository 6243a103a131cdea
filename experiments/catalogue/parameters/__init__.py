"""Parameters of experiments: their class, groups that experiments share, and the objects that they set up."""
