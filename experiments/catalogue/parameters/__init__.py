"""Parameters of experiments: what one is, groups that experiments share, and the objects they stand for."""
