"""Planar joints of URDF files: two slides and a hinge, moving as Pinocchio's planar joint and as the geometry says."""

import math

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from biped.dynamics import forward_kinematics, mass_matrix
from biped.model import ModelWarning, load_urdf, urdf_text
from biped.model.geometry import quaternion_matrix, rpy_matrix

ORIGIN, RPY, COM = (0.3, -0.2, 0.5), (0.4, -0.3, 1.1), (0.1, 0.05, -0.2)
TEXT = """
<robot name="puck"><link name="world"/>
  <link name="plate"><inertial><origin xyz="0.1 0.05 -0.2"/><mass value="2"/>
    <inertia ixx="0.03" ixy="0.001" ixz="-0.002" iyy="0.025" iyz="0.003" izz="0.02"/></inertial></link>
  <joint name="table" type="planar"><origin xyz="0.3 -0.2 0.5" rpy="0.4 -0.3 1.1"/>
    <parent link="world"/><child link="plate"/><axis xyz="{}"/></joint>
</robot>"""


def test_a_planar_joint_of_pinocchio_s_has_the_same_poses_and_energies():
    model, text = load_urdf(TEXT.format("0 0 1")), TEXT.format("0 0 1")
    assert model.joint_names == ("table_1", "table_2", "table_turn")
    assert model.body_names == ("plate_at_table_1", "plate_at_table_2", "plate")
    whole = pin.buildModelFromXML(text)
    data = whole.createData()
    x, y, angle, rates = 0.7, -0.4, 1.9, np.array([0.5, 1.5, -2.0])
    c, s = math.cos(angle), math.sin(angle)
    moved = [c * rates[0] + s * rates[1], c * rates[1] - s * rates[0], rates[2]]
    pin.computeAllTerms(whole, data, np.array([x, y, c, s]), np.array(moved))
    motion = forward_kinematics(model, [x, y, angle])
    place = data.oMi[1].act(whole.inertias[1].lever)
    assert_allclose(motion.position[-1], place, atol=1e-12)
    home = quaternion_matrix(forward_kinematics(model, np.zeros(3)).orientation[-1])
    turned = quaternion_matrix(motion.orientation[-1]) @ home.T @ rpy_matrix(RPY)
    assert_allclose(turned, data.oMi[1].rotation, atol=1e-12)
    energy = 0.5 * rates @ mass_matrix(model, [x, y, angle]) @ rates
    assert_allclose(energy, pin.computeKineticEnergy(whole, data), rtol=1e-12)


@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.3, -0.7, 0.2)])
def test_it_moves_across_its_axis_and_turns_about_it(axis):
    model = load_urdf(TEXT.format(" ".join(map(str, axis))))
    normal = rpy_matrix(RPY) @ axis / np.linalg.norm(axis)
    first, second, turn = (body.joint.axis for body in model.bodies)
    assert_allclose(turn, normal, atol=1e-12)
    assert_allclose(np.cross(first, second), normal, atol=1e-12)
    x, y, angle = 0.7, -0.4, 1.9
    motion = forward_kinematics(model, [x, y, angle])
    R = quaternion_matrix(motion.orientation[-1])
    assert_allclose(R @ normal, normal, atol=1e-12)
    assert np.trace(R) == pytest.approx(1.0 + 2.0 * math.cos(angle))
    at = np.array(ORIGIN) + x * np.array(first) + y * np.array(second)
    assert_allclose(motion.position[-1], at + R @ rpy_matrix(RPY) @ COM, atol=1e-12)


def test_it_is_saved_as_what_it_became():
    model = load_urdf(TEXT.format("0 1 0"))
    again = load_urdf(urdf_text(model))
    assert (again.joint_names, again.body_names) == (model.joint_names, model.body_names)
    assert_allclose(mass_matrix(again, [0.1, 0.2, 0.3]), mass_matrix(model, [0.1, 0.2, 0.3]), atol=1e-12)


def test_what_it_cannot_have_is_told():
    text = TEXT.format("0 0 1").replace("</joint>", '<limit effort="1" velocity="1"/><dynamics damping="1"/></joint>')
    with pytest.warns(ModelWarning, match="of planar joint 'table' limit and dynamics are left out"):
        load_urdf(text)
