"""From MJCF, MuJoCo's format, to a model, as far as Pinocchio reads it."""

import warnings
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from biped.model.errors import ModelError
from biped.model.importing.conversion import as_robot, build
from biped.model.importing.options import Options, check_options
from biped.model.model import Model


def load_mjcf(source: str | Path, **options: Unpack[Options]) -> Model:
    """The model in an MJCF file, whose bodies become links.

    Where a body has several joints, links without mass stand between them: see the option ``repair``.

    Args:
        source: path of a file.
        options: what the file does not say; see `biped.model.importing.options.Options`. With ``floating`` what the
            file has fixed to the world floats; by default whatever has a free joint does.

    Raises:
        ModelError: the file does not exist, is no MJCF, or describes no model, or an option does not fit.

    Warns:
        ModelWarning: something in the file was changed, or is not simulated.
    """
    import pinocchio as pin

    check_options(options)
    document, model = _read(Path(source), bool(options.get("floating")))
    geometry = None
    if options.get("contacts") == "collision":
        geometry = pin.buildGeomFromMJCF(model, str(source), pin.GeometryType.COLLISION)
    robot = as_robot(model, geometry, _visual(model, str(Path(source).resolve())), _composites(document), options)
    return build(replace(robot, notes=_left_out(document)), options)


def _visual(model: Any, source: str) -> Any:
    """Pinocchio's geometry to draw; None where it cannot read that, such as from meshes that are not there."""
    import pinocchio as pin

    try:
        return pin.buildGeomFromMJCF(model, source, pin.GeometryType.VISUAL)
    except (ValueError, RuntimeError):
        return None


def _read(path: Path, floats: bool) -> tuple[ET.Element, Any]:
    """The document, and what Pinocchio makes of it."""
    import pinocchio as pin

    document = _document(path)
    try:
        root = (pin.JointModelFreeFlyer(), "floating_base") if floats else ()
        with warnings.catch_warnings():
            # Its successor's name is not in the oldest Pinocchio that we take.
            warnings.simplefilter("ignore", DeprecationWarning)
            found = pin.buildModelFromMJCF(str(path), *root)
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"Pinocchio refuses the MJCF {str(path)!r}: {' '.join(str(error).split())}") from None
    return document, found[0] if isinstance(found, tuple) else found


def _document(path: Path) -> ET.Element:
    try:
        document = ET.fromstring(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ModelError(f"there is no MJCF file {str(path)!r}") from None
    except (OSError, UnicodeDecodeError, ET.ParseError) as error:
        raise ModelError(f"the MJCF file {str(path)!r} cannot be read: {error}") from None
    if document.find(".//body") is None:
        raise ModelError(f"the MJCF {str(path)!r} has no <body> of its own; write out what it includes, or load that")
    return document


def _composites(document: ET.Element) -> dict[str, list[str]]:
    """The joints of each body with several that have names, by the name that Pinocchio gives them together."""
    bodies = [[joint.get("name", "") for joint in body.findall("joint")] for body in document.iter("body")]
    return {f"Composite_{joints[0]}": joints for joints in bodies if len(joints) > 1 and all(joints)}


def _left_out(document: ET.Element) -> tuple[str, ...]:
    """A sentence for each of what a file may have and a model has not."""
    unread = {"equality": "equality constraints", "tendon": "tendons", "actuator": "actuators"}
    found = [words for tag, words in unread.items() if document.find(f"{tag}/*") is not None]
    return (f"not read of the file: {', '.join(found)}",) if found else ()
