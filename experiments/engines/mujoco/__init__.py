"""MuJoCo: the adapter, and biped's models as MJCF."""
