"""Where the meshes of a URDF are on this machine."""

import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from biped.model.errors import ModelError

_PACKAGE = "package://"


def collision_text(text: str, links: Collection[str], folder: Path | None, packages: Sequence[str]) -> str:
    """The URDF with nothing but the collision geometry of these links, the paths of their meshes spelled out.

    Args:
        text: of the whole.
        links: whose geometry is wanted.
        folder: where the file is, or None for one without.
        packages: folders in which ``package://`` is looked for as well.

    Raises:
        ModelError: a mesh is not there.
    """
    robot = ET.fromstring(text)
    for link in robot.findall("link"):
        for tag in ("visual", "collision"):
            for element in link.findall(tag):
                if tag == "visual" or link.get("name") not in links:
                    link.remove(element)
        for mesh in link.iter("mesh"):
            mesh.set("filename", str(_found(mesh.get("filename", ""), str(link.get("name")), folder, packages)))
    return ET.tostring(robot, encoding="unicode")


def _found(name: str, link: str, folder: Path | None, packages: Sequence[str]) -> Path:
    path = mesh_file(name, folder, packages)
    if path is not None:
        return path
    raise ModelError(
        f"link {link!r}: the mesh {name!r} is not there; packages=['FOLDER', ...] names the folders in which "
        f"{_PACKAGE} is looked for beside those above the file, or give the points: contacts by link"
    )


def mesh_file(name: str, folder: Path | None, packages: Sequence[str]) -> Path | None:
    """The file that a URDF in ``folder`` names so, or None if there is none."""
    return next((path for path in _candidates(name, folder, [Path(p) for p in packages]) if path.is_file()), None)


def _candidates(name: str, folder: Path | None, packages: Sequence[Path]) -> Iterator[Path]:
    """Where a mesh may be: for a package, in a folder of its name or of its rest, in those named or above the file."""
    if not name.startswith(_PACKAGE):
        yield (folder or Path()) / name.removeprefix("file://")
        return
    path = Path(name.removeprefix(_PACKAGE))
    for above in [*packages, *([folder, *folder.parents] if folder else ())]:
        yield above / path
        if path.parts[:1] == (above.name,):
            yield above.joinpath(*path.parts[1:])
