"""From a robot as others describe it to a model: what is locked, welded, repaired, and where it touches the floor."""
