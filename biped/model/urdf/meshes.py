"""Paths of the meshes of a URDF on this machine."""

import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from biped.model.errors import ModelError

_PACKAGE = "package://"


def collision_text(text: str, links: Collection[str], folder: Path | None, packages: Sequence[str]) -> str:
    """Return the URDF with only the collision geometry of some links, and with the full paths of their meshes.

    Args:
        text: text of the whole URDF.
        links: links with the needed geometry.
        folder: folder of the file, or None without a file.
        packages: additional folders for ``package://``.

    Raises:
        ModelError: a mesh is missing.
    """
    robot = ET.fromstring(text)
    for link in robot.findall("link"):
        for tag in ("visual", "collision"):
            for element in link.findall(tag):
                if tag == "visual" or link.get("name") not in links:
                    link.remove(element)
        for mesh in link.iter("mesh"):
            mesh.set("filename", str(_existing_path(mesh.get("filename", ""), str(link.get("name")), folder, packages)))
    return ET.tostring(robot, encoding="unicode")


def _existing_path(name: str, link: str, folder: Path | None, packages: Sequence[str]) -> Path:
    path = mesh_file(name, folder, packages)
    if path is not None:
        return path
    raise ModelError(
        f"link {link!r}: the mesh file {name!r} is missing; {_PACKAGE} is searched in the folders above the URDF "
        "and in those of packages=['FOLDER', ...]; add its folder, or list contact points in the option 'contacts'"
    )


def mesh_file(name: str, folder: Path | None, packages: Sequence[str]) -> Path | None:
    """Return the path of the mesh ``name`` of a URDF in ``folder``, or None if the file does not exist."""
    return next((path for path in _candidates(name, folder, [Path(p) for p in packages]) if path.is_file()), None)


def _candidates(name: str, folder: Path | None, packages: Sequence[Path]) -> Iterator[Path]:
    """Yield the possible paths of a mesh; packages may be in a given folder, or in one above the file."""
    if not name.startswith(_PACKAGE):
        yield (folder or Path()) / name.removeprefix("file://")
        return
    path = Path(name.removeprefix(_PACKAGE))
    for above in [*packages, *([folder, *folder.parents] if folder else ())]:
        yield above / path
        if path.parts[:1] == (above.name,):
            yield above.joinpath(*path.parts[1:])
