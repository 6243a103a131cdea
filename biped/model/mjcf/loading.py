"""Loading of MJCF: MuJoCo compiles the file, and the compiled tree becomes a model."""

import re
import warnings
from pathlib import Path
from typing import Any, Unpack

from biped.model.errors import ModelError
from biped.model.geometry import vector3
from biped.model.importing.conversion import build, carried_over, drawn
from biped.model.importing.locking import moving_joints
from biped.model.importing.options import Options, check_options
from biped.model.importing.robot import Robot
from biped.model.mjcf.actuators import actuators_of
from biped.model.mjcf.left_out import left_out
from biped.model.mjcf.shapes import floor_of, shapes_of
from biped.model.mjcf.tree import is_disabled, tree_of
from biped.model.model import Model
from contact.errors import listed

#: MuJoCo's name of a model without a name.
_NAMELESS = "MuJoCo Model"
_ABSENT = re.compile(r"Error opening file '(.*?)'")


def load_mjcf(source: str | Path, **options: Unpack[Options]) -> Model:
    """Load a model from an MJCF file, with MuJoCo's compiler.

    Bodies without joints become parts of their parents. If a body has several joints, bodies without mass are inserted
    between them. Joints are at zero in the file's reference pose, MuJoCo's ``qpos0``; their limits are relative to this
    pose. Bodies fixed to the world are the ground, of which only the friction of a level floor is read.

    Args:
        source: path of a robot's file, or of a scene that includes it.
        options: settings in addition to the file; see `biped.model.importing.options.Options`. By default, a body with
            a free joint floats; ``floating=False`` fixes it to the ground. Without free joints in the file,
            ``floating=True`` lets the bodies that are fixed to the world float, as one body.

    Raises:
        ModelError: MuJoCo is not installed; the file is missing, not MJCF, or without a model; an option is invalid.

    Warns:
        ModelWarning: a part of the file is not simulated.
    """
    check_options(options)
    path = Path(source)
    compiled, meshes, undrawn = compiled_mjcf(path)
    if compiled.nbody == 1:
        raise ModelError(f"neither the MJCF {str(path)!r} nor its included files have a <body>; load the robot's file")
    tree = tree_of(compiled, options.get("floating"), options.get("locked", {}))
    actuators, unread = actuators_of(compiled, tree)
    friction, floor_notes = floor_of(compiled, tree, options.get("feet", ()))
    name = compiled.names.partition(b"\0")[0].decode()
    robot = Robot(
        model=tree.model, name=path.stem if name in ("", _NAMELESS) else name, order=moving_joints(tree.model),
        floating=tree.floating, home=tree.home,
        geometry=lambda model, on: carried_over(shapes_of(compiled, tree, drawn=False), tree.model, model, on),
        visuals=lambda links: drawn(shapes_of(compiled, tree, drawn=True, folder=meshes), tree.model, links),
        gravity=vector3(compiled.opt.gravity * (not is_disabled(compiled, "GRAVITY")), "gravity"),
        actuators=actuators, floor=friction, notes=(*left_out(compiled, tree), *unread, *floor_notes, *undrawn),
    )  # fmt: skip
    return build(robot, options)


def compiled_mjcf(path: Path) -> tuple[Any, Path, list[str]]:
    """Return MuJoCo's model, the folder of its meshes, and notes about ignored parts of the file.

    Raises:
        ModelError: MuJoCo or the file is missing, or MuJoCo refuses the file.
    """
    try:
        import mujoco
    except ModuleNotFoundError:
        raise ModelError("MJCF files need MuJoCo: pip install 'biped-balance[mujoco]'") from None
    if not path.is_file():
        raise ModelError(f"there is no MJCF file {str(path)!r}")
    if b"<robot" in path.read_bytes()[:5000]:
        raise ModelError(f"{str(path)!r} is a URDF, not an MJCF: rename it to end in .urdf")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            spec = mujoco.MjSpec.from_file(str(path))
            compiled = spec.compile()
            compiled.names.decode()
    except (ValueError, OSError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        raise ModelError(f"MuJoCo refuses the MJCF {str(path)!r}: {_sentence(str(error))}") from None
    moved = [mesh.name or mesh.file for mesh in spec.meshes if any(mesh.refpos) or any(mesh.refquat[1:])]
    notes = [f"<mesh refpos> and <mesh refquat> are ignored in drawings: {listed(moved)}"] if moved else []
    notes += [f"MuJoCo warns: {_sentence(str(warning.message))}" for warning in caught]
    return compiled, path.resolve().parent / spec.meshdir, notes


def _sentence(error: str) -> str:
    """Return MuJoCo's reason in one line, with a remedy if something is missing."""
    text = " ".join(error.removeprefix("XML Error: ").removeprefix("Error: ").split())
    if _ABSENT.search(text):
        return f"{text}; put that file at the path in the MJCF"
    if "XML parse error" in text or "utf-8" in text:
        return f"{text}; it, or an included file, is not well-formed XML in UTF-8: correct it, and save it in UTF-8"
    return f"{text}; if it is in a scene that includes this file, load the scene" if "not found" in text else text
