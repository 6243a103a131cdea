"""From MJCF, MuJoCo's format, to a model, as far as Pinocchio reads it."""

from pathlib import Path
from typing import Any, Unpack

from biped.model.errors import ModelError
from biped.model.importing.conversion import from_pinocchio
from biped.model.importing.options import Options, check_options
from biped.model.model import Model


def load_mjcf(source: str | Path, **options: Unpack[Options]) -> Model:
    """The model in an MJCF file, whose bodies become links.

    A body with several joints of its own is refused, as Pinocchio has them as one.

    Args:
        source: path of a file.
        options: what the file does not say; see `biped.model.importing.options.Options`. Whether the root floats, the
            file says by its free joint.

    Raises:
        ModelError: the file does not exist, is no MJCF, or describes no model, or an option does not fit.

    Warns:
        ModelWarning: something in the file was changed, or is not simulated.
    """
    import pinocchio as pin

    check_options(options)
    if not Path(source).is_file():
        raise ModelError(f"there is no MJCF file {str(source)!r}")
    try:
        model: Any = pin.buildModelFromMJCF(str(source))
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"Pinocchio refuses the MJCF {str(source)!r}: {str(error).splitlines()[0]}") from None
    geometry = None
    if options.get("contacts") == "collision":
        geometry = pin.buildGeomFromMJCF(model, str(source), pin.GeometryType.COLLISION)
    return from_pinocchio(model, geometry, **options)
