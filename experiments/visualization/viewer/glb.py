"""Meshes as glTF 2.0 in one binary piece, with a colour for each vertex.

https://registry.khronos.org/glTF/specs/2.0/glTF-2.0.html
"""

import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.visualization.viewer.mesh import Mesh

_FLOAT, _UINT = 5126, 5125
_ARRAY, _ELEMENTS = 34962, 34963


def linear(color: Any) -> NDArray[np.float64]:
    """The amounts of light, 0 … 1, of colours 0 … 255 (IEC 61966-2-1)."""
    part = np.asarray(color, dtype=float) / 255.0
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def glb(mesh: Mesh, tints: NDArray[np.int64], roughness: float = 0.85) -> bytes:
    """One mesh; ``tints`` (V, 3) are the colours of its vertices, 0 … 255; smooth where vertices are shared."""
    arrays = [
        (mesh.vertices.astype("<f4"), _ARRAY, "VEC3"),
        (normals(mesh).astype("<f4"), _ARRAY, "VEC3"),
        (linear(tints).astype("<f4"), _ARRAY, "VEC3"),
        (mesh.faces.astype("<u4").reshape(-1), _ELEMENTS, "SCALAR"),
    ]
    views, accessors, data = [], [], b""
    for k, (array, target, kind) in enumerate(arrays):
        piece = array.tobytes()
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": len(piece), "target": target})
        component = _FLOAT if target == _ARRAY else _UINT
        accessor = {"bufferView": k, "componentType": component, "count": len(array), "type": kind}
        if k == 0:
            accessor |= {"min": array.min(axis=0).tolist(), "max": array.max(axis=0).tolist()}
        accessors.append(accessor)
        data += piece
    primitive = {"attributes": {"POSITION": 0, "NORMAL": 1, "COLOR_0": 2}, "indices": 3, "material": 0}
    tree = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [primitive]}],
        "materials": [{"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": roughness}}],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(data)}],
    }
    text = json.dumps(tree, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def normals(mesh: Mesh) -> NDArray[np.float64]:
    """(V, 3) unit normals of the vertices: the mean of their faces, by area."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    total = np.zeros_like(mesh.vertices)
    for k in range(3):
        np.add.at(total, mesh.faces[:, k], across)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.divide(total, length, out=np.tile([0.0, 0.0, 1.0], (len(total), 1)), where=length > 0.0)
