"""Reader and writer of URDF, the Unified Robot Description Format."""

from biped.model.urdf.loading import load_urdf
from biped.model.urdf.saving import save_urdf, urdf_text

__all__ = ["load_urdf", "save_urdf", "urdf_text"]
