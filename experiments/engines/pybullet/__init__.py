"""PyBullet: the adapter, and biped's models as PyBullet's bodies."""
