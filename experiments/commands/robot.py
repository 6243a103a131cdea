"""``biped robot``: the TOML file of a robot, written from its URDF or MJCF."""

import warnings
from argparse import Namespace
from pathlib import Path

from biped.errors import InputError
from experiments.cli.main import Parser, announce
from experiments.cli.reply import reply
from experiments.cli.terminal import say

_DESCRIPTION = """\
Write the TOML file of a robot, for --robot and biped.load_robot, from its URDF or MJCF: feet, contact points, a
posture with bent knees, and facing direction. Check and correct the file."""

_EXAMPLES = """\
examples:
  biped robot g1.urdf                              into g1.toml, in this folder
  biped robot talos.xml --out robots/talos.toml
  biped run balance --robot g1.toml
"""


def parser() -> Parser:
    command = Parser("biped robot", _DESCRIPTION, _EXAMPLES, page="robot-files")
    command.add_argument("file", metavar="FILE", help="the robot's .urdf, .xml or .mjcf")
    command.option("--out", "FILE", "file to write (default: the robot file's name with .toml, in this folder)")
    command.add_forms()
    return command


def main(options: Namespace) -> int:
    from biped.model import ModelWarning
    from experiments.catalogue.robot_file import draft

    file = Path(options.file).expanduser()
    out = Path(options.out or f"{file.stem}.toml")
    if file.suffix not in (".urdf", ".xml", ".mjcf"):
        raise InputError(f"{file}: it must be a .urdf, .xml or .mjcf file; convert .xacro by `xacro FILE > robot.urdf`")
    if out.exists():
        raise InputError(f"{out} exists already: delete it, or name another file with --out")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        text, model = draft(file, out.parent)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")
    for note in (
        *model.notes,
        *(() if model.nc else (f"no contact points were found; the reason is in {out}, where you can add them",)),
    ):
        announce(f"{model.name}: {note}")
    reply({"file": str(out), "mass": model.total_mass, "feet": model.feet, "contacts": model.contact_names})
    say(f"{out}: {model.total_mass:.4g} kg, feet {', '.join(model.feet)}, {model.nc} contact points")
    return 0
