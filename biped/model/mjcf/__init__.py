"""Reader of MJCF, MuJoCo's format, by MuJoCo's own compiler."""

from biped.model.mjcf.loading import load_mjcf

__all__ = ["load_mjcf"]
