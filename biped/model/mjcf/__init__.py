"""From MJCF, MuJoCo's format, to a model, as MuJoCo's own compiler reads it."""

from biped.model.mjcf.loading import load_mjcf

__all__ = ["load_mjcf"]
