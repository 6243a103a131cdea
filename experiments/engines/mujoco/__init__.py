"""MuJoCo: the adapter, and our models as MJCF."""
