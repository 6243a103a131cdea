"""Surfaces of visuals as triangles: meshes read from files, simplified, and kept with saved runs.

A robot's meshes, made for machining, have hundreds of thousands of triangles and tens of megabytes. All vertices in a
cube of 4 mm become one, which is not visible in a picture of a whole robot; a saved run includes the simplified meshes,
so that it looks the same without the robot's files.
"""

import zipfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import trimesh

from biped.inputs.files import replacing
from biped.model import Model, Visual
from contact.arrays import Floats
from experiments.visualization.viewer.colors import Color
from experiments.visualization.viewer.mesh import ball, box
from experiments.visualization.viewer.saved_runs import MESHES

#: [m] edge of the cubes in which all vertices become one.
CELL = 0.004

#: Part of a mesh and its colour, or None without one.
Part = tuple[trimesh.Trimesh, Color | None]


def parts_of(model: Model) -> list[list[Part]]:
    """Return the parts of each visual in the visual's frame [m]; none for a missing or unreadable mesh file."""
    kept: dict[int, list[Part]] = model.derived.get(MESHES, {})
    return [kept[i] if i in kept else _parts(visual) for i, visual in enumerate(model.visuals)]


def keep_meshes(model: Model, folder: Path) -> None:
    """Copy the meshes of a model into the folder of a run."""
    arrays: dict[str, Any] = {}
    for i, (visual, parts) in enumerate(zip(model.visuals, parts_of(model), strict=True)):
        for j, (mesh, color) in enumerate(parts if visual.form == "mesh" else ()):
            arrays[f"{i}.{j}.vertices"] = np.round(mesh.vertices, 4).astype(np.float32)
            arrays[f"{i}.{j}.faces"] = mesh.faces.astype(np.int32)
            arrays[f"{i}.{j}.color"] = np.array(color or (), dtype=np.uint8)
    if arrays:
        with replacing(folder / MESHES) as part, part.open("wb") as file:
            np.savez_compressed(file, **arrays)


def take_meshes(model: Model, folder: Path) -> None:
    """Give a saved run's model the meshes that were kept with it, if there are any."""
    try:
        with np.load(folder / MESHES) as arrays:
            kept: dict[int, list[Part]] = {}
            for key in (name.removesuffix(".vertices") for name in arrays if name.endswith(".vertices")):
                mesh = trimesh.Trimesh(arrays[f"{key}.vertices"], arrays[f"{key}.faces"], process=False)
                color = tuple(arrays[f"{key}.color"].tolist()) or None
                kept.setdefault(int(key.partition(".")[0]), []).append((mesh, color))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return
    model.derived[MESHES] = kept


def _parts(visual: Visual) -> list[Part]:
    color = None if visual.color is None else _rgb(255.0 * np.asarray(visual.color))
    if visual.form == "mesh":
        return [(mesh, color or file_color) for mesh, file_color in _of_file(visual.file, visual.size)]
    return [(_form(visual), color)]


def _rgb(color: Any) -> Color:
    red, green, blue = (int(part) for part in np.rint(color)[:3])
    return red, green, blue


def _form(visual: Visual) -> trimesh.Trimesh:
    x, y, z = visual.size
    if visual.form == "box":
        return box(visual.size)
    if visual.form == "sphere":
        return ball((x / 2.0, y / 2.0, z / 2.0))
    if visual.form == "cylinder":
        return trimesh.creation.cylinder(x / 2.0, z)
    return trimesh.creation.capsule(z - x, x / 2.0)


@lru_cache(maxsize=512)
def _of_file(file: str, scale: tuple[float, float, float]) -> tuple[Part, ...]:
    """Return the parts of a mesh with the file's colours; none for a missing or unreadable file."""
    try:
        scene = trimesh.load_scene(file)
    except Exception:  # readers raise many types of errors
        return ()
    parts = []
    for mesh in scene.dump():
        if isinstance(mesh, trimesh.Trimesh) and len(mesh.faces):
            thin = _thinned(np.asarray(mesh.vertices) * scale, mesh.faces)
            if np.prod(scale) < 0.0:
                thin.invert()
            parts.append((thin, _color_in_file(mesh)))
    return tuple(parts)


def _color_in_file(mesh: trimesh.Trimesh) -> Color | None:
    """Return the colour in a mesh's file, if there is one."""
    look: Any = mesh.visual
    if not look.defined:
        return None
    return _rgb((look.material if look.kind == "texture" else look).main_color)


def _thinned(vertices: Floats, faces: Any) -> trimesh.Trimesh:
    """Return a mesh with one vertex, their mean, for all in a cube, and without triangles of zero area."""
    cubes = np.floor(vertices / CELL).astype(np.int64)
    _, cube, counts = np.unique(cubes, axis=0, return_inverse=True, return_counts=True)
    cube = cube.ravel()
    means = np.stack([np.bincount(cube, along) / counts for along in vertices.T], axis=1)
    triangles = cube[faces]
    a, b, c = triangles.T
    return trimesh.Trimesh(means, triangles[(a != b) & (b != c) & (c != a)], process=False)
