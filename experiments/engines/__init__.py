"""Other physics engines, given our models."""
