"""The push map: the largest impulse that the human recovers from, over its direction."""
