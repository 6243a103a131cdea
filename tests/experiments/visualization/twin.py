"""The human as a robot that faces the other way, with other names, and drawn by a mesh."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import trimesh

from biped import human, save_urdf, standing

#: Half a turn about the vertical.
TURN = np.diag([-1.0, -1.0, 1.0])
#: [m] radius of the ball that shows its root.
RADIUS, CENTER = 0.06, (0.0, 0.05, 0.1)


def renamed(name):
    """Return a name in another style: with the side at the end, or in the middle."""
    side, _, part = name.partition("_")
    return f"leg_{side}_{part}_joint" if side in ("left", "right") else {"trunk": "pelvis"}.get(name, name)


def twin():
    """Return the rotated human."""
    person = human()

    def about(vector):
        return tuple(TURN @ vector)

    def body_of(body):
        joint = replace(
            body.joint, name=renamed(body.joint.name), axis=about(body.joint.axis), position=about(body.joint.position)
        )
        parent = None if body.parent is None else renamed(body.parent)
        inertia = TURN @ np.array(body.inertia) @ TURN
        return replace(body, name=renamed(body.name), joint=joint, parent=parent, com=about(body.com), inertia=inertia)

    q = standing(person).q
    return replace(
        person,
        name="Twin",
        bodies=tuple(map(body_of, person.bodies)),
        contact_points=tuple(
            replace(p, body=renamed(p.body), position=about(p.position)) for p in person.contact_points
        ),
        shapes=tuple(replace(box, body=renamed(box.body), center=about(box.center)) for box in person.shapes),
        feet=tuple(map(renamed, person.feet)),
        facing=(1.0, 0.0, 0.0),
        body_points=(),
        capsules=(),
        touching=(),
        ranges=(),
        posture=tuple((renamed(joint), float(q[person.coordinate(joint)])) for joint in person.joint_names),
    )


def write_twin(folder):
    """Write the robot's files into a folder; return the TOML file that names it."""
    folder.mkdir(parents=True, exist_ok=True)
    save_urdf(twin(), folder / "twin.urdf")
    document = ET.parse(folder / "twin.urdf")
    robot = document.getroot()
    root = next(link for link in robot.findall("link") if link.get("name") == "pelvis")
    root.remove(root.find("visual"))
    visual = ET.SubElement(root, "visual")
    ET.SubElement(visual, "origin", xyz=" ".join(map(str, CENTER)))
    ET.SubElement(ET.SubElement(visual, "geometry"), "mesh", filename="package://parts/ball.stl", scale="-1 1 1")
    ET.SubElement(visual, "material", name="paint")
    ET.SubElement(ET.SubElement(robot, "material", name="paint"), "color", rgba="1 0 0.2 1")
    document.write(folder / "twin.urdf")
    (folder / "parts").mkdir()
    trimesh.creation.icosphere(subdivisions=5, radius=RADIUS).export(folder / "parts" / "ball.stl")
    (folder / "twin.toml").write_text('urdf = "twin.urdf"\n', encoding="utf-8")
    return folder / "twin.toml"


def as_the_human():
    """Return parameters with which the twin starts like the human, rotated."""
    person, q = human(), standing(human()).q
    x, y, z = TURN @ q[:3]
    joints = {f"initial.{renamed(j)}": float(q[person.coordinate(j)]) for j in person.joint_names}
    place = {f"initial.body_{axis}": float(at) for axis, at in zip("xyz", (x, y, z), strict=True)}
    return joints | place | {"controller.target_position": (float(x), float(y), float(z))}
