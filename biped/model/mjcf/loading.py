"""From MJCF to a model: MuJoCo compiles the file, and the compiled tree becomes ours."""

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

#: MuJoCo's name of a model without one.
_NAMELESS = "MuJoCo Model"
_ABSENT = re.compile(r"Error opening file '(.*?)'")


def load_mjcf(source: str | Path, **options: Unpack[Options]) -> Model:
    """Return the model in an MJCF file, as MuJoCo's compiler reads it.

    Bodies become links, and those without joints parts of their parents. Where a body has several joints, links
    without mass stand between them. A joint is at zero where the file draws it, at MuJoCo's ``qpos0``; its limits are
    counted from there. What is fixed to the world is the ground. Of that, the friction of a level floor is read.

    Args:
        source: path of a file: a robot's, or a scene that includes it.
        options: what the file does not say; see `biped.model.importing.options.Options`. What has a free joint
            floats, unless ``floating`` is false; where nothing has one, what is fixed to the world does if it is true.

    Raises:
        ModelError: MuJoCo is not installed; the file does not exist, is no MJCF, or describes no model; or an option
            does not fit.

    Warns:
        ModelWarning: something in the file is not simulated.
    """
    check_options(options)
    path = Path(source)
    compiled, meshes, undrawn = compiled_mjcf(path)
    if compiled.nbody == 1:
        raise ModelError(f"the MJCF {str(path)!r} has no <body>, nor has what it includes; give the robot's file")
    tree = tree_of(compiled, options.get("floating"), options.get("locked", {}))
    actuators, unread = actuators_of(compiled, tree)
    friction, told = floor_of(compiled, tree, options.get("feet", ()))
    name = compiled.names.partition(b"\0")[0].decode()
    robot = Robot(
        model=tree.model,
        name=path.stem if name in ("", _NAMELESS) else name,
        order=moving_joints(tree.model),
        floating=tree.floating,
        home=tree.home,
        geometry=lambda model, on: carried_over(shapes_of(compiled, tree, drawn=False), tree.model, model, on),
        visuals=lambda links: drawn(shapes_of(compiled, tree, drawn=True, folder=meshes), tree.model, links),
        gravity=vector3(compiled.opt.gravity * (not is_disabled(compiled, "GRAVITY")), "gravity"),
        actuators=actuators,
        floor=friction,
        notes=(*left_out(compiled, tree), *unread, *told, *undrawn),
    )
    return build(robot, options)


def compiled_mjcf(path: Path) -> tuple[Any, Path, list[str]]:
    """Return MuJoCo's model, the folder of its meshes, and a sentence for what of the file is not in it.

    Raises:
        ModelError: MuJoCo or the file is not there, or MuJoCo refuses it.
    """
    try:
        import mujoco
    except ModuleNotFoundError:
        raise ModelError("MJCF files need MuJoCo: pip install 'biped-balance[mujoco]'") from None
    if not path.is_file():
        raise ModelError(f"there is no MJCF file {str(path)!r}")
    if b"<robot" in path.read_bytes()[:5000]:
        raise ModelError(f"{str(path)!r} is a URDF, not an MJCF: give its name the ending .urdf")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            spec = mujoco.MjSpec.from_file(str(path))
            compiled = spec.compile()
            compiled.names.decode()
    except (ValueError, OSError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        raise ModelError(f"MuJoCo refuses the MJCF {str(path)!r}: {_sentence(str(error))}") from None
    moved = [mesh.name or mesh.file for mesh in spec.meshes if any(mesh.refpos) or any(mesh.refquat[1:])]
    told = [f"<mesh refpos> and <mesh refquat> are left out of what is drawn: {listed(moved)}"] if moved else []
    told += [f"MuJoCo warns: {_sentence(str(warning.message))}" for warning in caught]
    return compiled, path.resolve().parent / spec.meshdir, told


def _sentence(error: str) -> str:
    """MuJoCo's reason in one line, with what to do where something is missing."""
    text = " ".join(error.removeprefix("XML Error: ").removeprefix("Error: ").split())
    if _ABSENT.search(text):
        return f"{text}; put that file where the MJCF names it"
    if "XML parse error" in text or "utf-8" in text:
        return f"{text}; it, or a file that it includes, is no well-formed XML in UTF-8: mend it, and save it as that"
    return f"{text}; if that is in a scene which includes this file, load the scene" if "not found" in text else text
