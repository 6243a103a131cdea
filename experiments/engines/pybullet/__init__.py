"""PyBullet: the adapter, and our models as its bodies."""
