"""OpenSim: motion, torques and ground reactions as storage files (``.sto``), and an external-loads file.

Axes are OpenSim's: x forward, y up, z to the right; angles in radians. Coordinates of a model with the human's legs
have names and signs of Rajagopal et al. 2016 (knee flexion positive).
"""

import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from biped.runs.row_layout import POSE
from biped.runs.run import Run
from experiments.visualization.export import tables
from experiments.visualization.export.anatomy import anatomical_joints, hip_middle, other_joints
from experiments.visualization.export.skeleton import has_skeleton, skeleton, skeleton_coordinates

_COORDINATES = {
    "hip": ("hip_flexion", "hip_adduction", "hip_rotation"),
    "knee": ("knee_angle", "knee_adduction", "knee_rotation"),
    "ankle": ("ankle_angle", "subtalar_angle"),
}


def export_opensim(run: Run, folder: Path) -> list[Path]:
    """Write a run for OpenSim: ``coordinates.sto``, ``torques.sto``, ``grf.sto`` and ``external_loads.xml``.

    Also write a model of its bodies and joints, ``skeleton.osim``, and the coordinates of that model, ``skeleton.sto``.

    Returns:
        Paths of the files in the existing folder. ``grf.sto`` and ``external_loads.xml`` are only for models with feet,
        ``torques.sto`` for models with joints, and both skeleton files for models without ball and screw joints.
    """
    files = [tables.write(folder / "coordinates.sto", sto_of("coordinates", run, coordinates(run)))]
    if has_skeleton(run.state.model):
        files.append(tables.write(folder / "skeleton.osim", skeleton(run.state.model)))
        files.append(tables.write(folder / "skeleton.sto", sto_of("skeleton", run, skeleton_coordinates(run))))
    moments = torques(run)
    if moments:
        files.append(tables.write(folder / "torques.sto", sto_of("torques", run, moments)))
    reactions = feet(run)
    if reactions:
        files.append(tables.write(folder / "grf.sto", sto_of("ground reactions", run, reactions)))
        files.append(tables.write(folder / "external_loads.xml", external_loads(run)))
    return files


def sto_of(name: str, run: Run, table: tables.Table) -> str:
    header = (name, "version=1", f"nRows={len(run.frame)}", f"nColumns={1 + len(table)}", "inDegrees=no", "endheader")
    return "\n".join([*header, tables.text_of(run, table, "\t")])


def coordinates(run: Run) -> tables.Table:
    """Return the coordinates [m], [rad]: pelvis and legs by OpenSim's names, other joints and roots by our names."""
    joints = anatomical_joints(run.state.model)
    table = _root(run)
    for joint in joints:
        names = _COORDINATES[joint.name] if joint.has_three_angles else _COORDINATES[joint.name][:1]
        for name, angle in zip(names, joint.angles(run).T, strict=False):
            table[f"{name}_{joint.side[0]}"] = angle
    for name in other_joints(run.state.model, joints):
        table[name] = tables.joint_values(run, name)
    return table


def _root(run: Run) -> tables.Table:
    """Return position and orientation of a floating root: tilt about z, list about x, rotation about y, in this order.

    The human's position is the midpoint between the hips, another model's the root's centre of mass.
    """
    model = run.state.model
    if not model.is_floating:
        return {}
    root = model.root.joint.name
    place = tables.columns(run, root, ("x", "y", "z"))
    rotation = Rotation.from_quat(tables.columns(run, root, POSE[3:]), scalar_first=True)
    hips = hip_middle(model)
    name = root if hips is None else "pelvis"
    if hips is not None:
        place = place + rotation.apply(hips)
    # For a model facing −X, OpenSim's z is our Y, its x our −X and its y our Z: tilt, list, rotation are YXZ angles.
    from_back = Rotation.from_euler("z", math.atan2(-model.facing[1], -model.facing[0]))
    tilt, list_, turn = tables.cardan_yxz(from_back.inv() * rotation * from_back).T
    angles = {f"{name}_tilt": tilt, f"{name}_list": -list_, f"{name}_rotation": turn}
    return angles | tables.by_axis(tables.to_isb(place, model.facing), f"{name}_t")


def torques(run: Run) -> tables.Table:
    """Return the torque [N·m] of each hinge and the force [N] of each sliding joint, by the model's joint names."""
    return {name: run.frame[f"torque_{name}"].to_numpy(dtype=np.float64) for name in run.state.model.joint_names}


def _foot_label(foot: str) -> tuple[str, str]:
    """Return a foot's label in column names (l, r or its name), and the body on which its force acts."""
    sides = {"left_foot": ("l", "calcn_l"), "right_foot": ("r", "calcn_r")}
    return sides.get(foot, (foot, foot))


def feet(run: Run) -> tables.Table:
    """Return force [N], point of application [m] and moment about it [N·m], as in ``ground_force_r_vx``, by foot."""
    table: tables.Table = {}
    for foot, (force, place, moment) in tables.ground_reactions(run).items():
        if foot:
            label, _ = _foot_label(foot)
            table |= tables.by_axis(force, f"ground_force_{label}_v") | tables.by_axis(place, f"ground_force_{label}_p")
            table |= tables.by_axis(moment, f"ground_torque_{label}_")
    return table


def external_loads(run: Run) -> str:
    """Return the file that assigns columns of ``grf.sto`` to bodies, for OpenSim's tools."""
    document = ElementTree.Element("OpenSimDocument", Version="40000")
    loads = ElementTree.SubElement(document, "ExternalLoads", name="ground_reactions")
    objects = ElementTree.SubElement(loads, "objects")
    for foot in (name for name in tables.ground_reactions(run) if name):
        label, body = _foot_label(foot)
        force = ElementTree.SubElement(objects, "ExternalForce", name=foot)
        for key, value in {
            "applied_to_body": body,
            "force_expressed_in_body": "ground",
            "point_expressed_in_body": "ground",
            "force_identifier": f"ground_force_{label}_v",
            "point_identifier": f"ground_force_{label}_p",
            "torque_identifier": f"ground_torque_{label}_",
        }.items():
            ElementTree.SubElement(force, key).text = value
    ElementTree.SubElement(loads, "groups")
    ElementTree.SubElement(loads, "datafile").text = "grf.sto"
    ElementTree.indent(document)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(document, "unicode") + "\n"
