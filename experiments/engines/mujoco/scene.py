"""MuJoCo engine that simulates a robot's own scene file, with its actuators, contacts and options."""

import copy
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from biped.dynamics.whole_body import WholeBody
from biped.errors import InputError
from biped.inputs.extras import need
from biped.kernels.tree.tree import DAMPING, FRICTION
from biped.model import Model
from biped.model.geometry import quaternion_matrix
from biped.model.mjcf.loading import compiled_mjcf
from biped.model.mjcf.shapes import floor_of
from biped.model.mjcf.tree import Tree, tree_of
from contact.arrays import Floats, Integers
from contact.errors import listed
from contact.vectors import cross, quat_mul
from experiments.engines.engine import Applied, Case, Engine, Simulation
from experiments.engines.mujoco import kernels
from experiments.engines.mujoco.adapter import MujocoSimulation

#: MuJoCo's number of the integrator RK4.
RK4 = 1
#: Largest relative difference of the kinetic energies of the same robot, by rounding of numbers in files.
SAME = 1e-6


@dataclass(frozen=True)
class MujocoScene(Engine):
    """MuJoCo with a scene file, whose bodies, joints, actuators, contacts and options are used unchanged.

    For each commanded torque, the engine computes the control for which the joint's actuator has this torque at the
    start of the time step. If kp and kv of a position actuator are those of a policy's servo, this control is the
    target angle.
    """

    name = "mujoco"
    title = "MuJoCo"
    package = "mujoco"
    distribution = "mujoco"
    takes_armature = True
    takes_passive_joints = True

    scene: str = ""  # path of the scene's MJCF file

    @property
    def velocity_offset(self) -> float:
        """0.5 except for RK4: the other integrators advance the velocities first, then the positions with them."""
        return 0.0 if _compiled(*self._version).opt.integrator == RK4 else 0.5

    @property
    def files(self) -> tuple[Path, ...]:
        """Scene file, the files that it includes, and its meshes."""
        return tuple(_with_included(Path(self.scene)))

    @property
    def _version(self) -> tuple[str, tuple[int, ...]]:
        """Path of the file, and the times of its last changes."""
        return self.scene, tuple(file.stat().st_mtime_ns for file in self.files if file.is_file())

    def differences(self, case: Case) -> tuple[str, ...]:
        return (
            f"bodies, joints, actuators, contacts and options of MuJoCo are those of {Path(self.scene).name}; all "
            f"coefficients of friction are scaled, to floor.mu_s = {case.floor.mu_s:g} between feet and floor",
        )

    def start(self, case: Case) -> Simulation:
        need("mujoco")
        if case.throw is not None:
            raise InputError("a scene file cannot have a thrown box: use the engine mujoco")
        if any(case.impedance.stiffness.values()) or any(case.impedance.damping.values()):
            raise InputError("a scene file has no springs and dampers of controllers or muscles: use the engine mujoco")
        engine = copy.copy(_compiled(*self._version))
        tree = tree_of(engine)
        engine.opt.timestep, engine.opt.gravity = case.step, case.model.gravity
        usual, _ = floor_of(engine, tree, case.model.feet)
        if not usual:
            raise InputError(f"{self.scene}: the feet touch no floor with friction; name a scene with such a floor")
        for coefficients in (engine.geom_friction[:, 0], engine.pair_friction[:, :2], engine.opt.o_friction[:2]):
            coefficients *= case.floor.mu_s / usual
        simulation = SceneSimulation(case, engine, match(case.model, engine, tree, self.scene), self.velocity_offset)
        simulation.check_robot(self.scene)
        return simulation


class Match(NamedTuple):
    """Correspondence of a model with a scene of MuJoCo."""

    joints: kernels.JointMap
    bodies: Integers  # MuJoCo's body for each body of the model; −1 for links between the joints of a body
    actuators: Integers  # (n,) actuator of each joint; −1 for joints without


def match(model: Model, engine: Any, tree: Tree, file: str) -> Match:
    """Match the joints and bodies of a model with those of a scene.

    Raises:
        InputError: they are not the same robot, or an actuator is not supported.
    """
    joints = [body.joint for body in model.bodies[1:]]
    moving = [name for name, kind in zip(tree.joints, engine.jnt_type, strict=True) if kind != 0]
    if not model.is_floating or tree.floating is None or any(not joint.has_axis for joint in joints):
        raise InputError(f"{file}: scene and model must have a free root and joints with one degree of freedom each")
    different = sorted(set(moving) ^ {joint.name for joint in joints})
    if different:
        raise InputError(f"{file}: only the scene or only {model.name!r} has the joints {listed(different)}")
    free, numbers = tree.joints.index(tree.floating), np.array([tree.joints.index(joint.name) for joint in joints])
    root, places = int(engine.jnt_bodyid[free]), engine.jnt_qposadr[numbers]
    known = {name: number for number, name in enumerate(tree.bodies)}
    if absent := [body.name for body in model.bodies if body.mass and body.name not in known]:
        raise InputError(f"{file}: it has no bodies {listed(absent)}, which {model.name!r} has")
    home, com = engine.body_quat[root].astype(float), np.array(model.root.com)
    coordinates = np.array([model.coordinate(joint.name) for joint in joints])
    dofs, first = np.array([model.dof(joint.name) for joint in joints]), int(engine.jnt_qposadr[free])
    joint_map = kernels.JointMap(
        first, int(engine.jnt_dofadr[free]), home, com, coordinates, dofs, places, engine.jnt_dofadr[numbers],
        engine.qpos0[places],
    )  # fmt: skip
    bodies = np.array([known.get(body.name, -1) for body in model.bodies])
    return Match(joint_map, bodies, _actuators(engine, numbers, file))


def _actuators(engine: Any, joints: Integers, file: str) -> Integers:
    """Return the number of each joint's actuator; −1 for joints without one."""
    numbers = np.full(len(joints), -1)
    for k in range(engine.nu):
        kinds = engine.actuator_trntype[k], engine.actuator_dyntype[k], engine.actuator_gaintype[k]
        place = np.flatnonzero(joints == engine.actuator_trnid[k, 0])
        has_effect = engine.actuator_gear[k, 0] * engine.actuator_gainprm[k, 0] != 0.0
        if any(kinds) or engine.actuator_biastype[k] > 1 or not has_effect or len(place) != 1 or numbers[place[0]] >= 0:
            raise InputError(
                f"{file}: actuator {engine.actuator(k).name!r}: each joint may have one actuator without dynamics, "
                "with constant gain other than zero: <motor>, <position>, <velocity> or their <general>"
            )
        numbers[place[0]] = k
    return numbers


class SceneSimulation(MujocoSimulation):
    """A rollout in a scene of MuJoCo."""

    def __init__(self, case: Case, engine: Any, match: Match, velocity_offset: float) -> None:
        super().__init__(case, engine, (), velocity_offset)
        self.joints, self.bodies = match.joints, match.bodies
        self.is_floor = engine.body_weldid[engine.geom_bodyid] == 0
        self.body_of, self.origins = engine.body_weldid[engine.geom_bodyid], self.data.xpos
        self.points, self.drive = self._contact_points(), self._drive(match.actuators)

    def _drive(self, actuators: Integers) -> kernels.Drive:
        engine, joints, driven, bare = self.engine, self.joints, actuators >= 0, actuators < 0
        actuators = actuators[driven]
        gear, gain = engine.actuator_gear[actuators, 0], engine.actuator_gainprm[actuators, 0]
        bias = engine.actuator_biasprm[actuators, :3].T * (engine.actuator_biastype[actuators] > 0)
        # the force on a joint: gear (gain u + bias₀ + bias₁ gear q + bias₂ gear v)
        return kernels.Drive(
            actuators, joints.qpos[driven], joints.qvel[driven], joints.dofs[driven], 1.0 / (gear * gain),
            bias[0] / gain, bias[1] * gear / gain, bias[2] * gear / gain, joints.qvel[bare], joints.dofs[bare],
            np.zeros(self.model.nv),
        )  # fmt: skip

    def _contact_points(self) -> tuple[Integers, Floats]:
        """Return MuJoCo's body of each contact point, and its position on the body, in its axes [m], from ``qpos0``."""
        model, engine, data = self.model, self.engine, self.data
        self.mujoco.mj_resetData(engine, data)
        self.mujoco.mj_kinematics(engine, data)
        q = np.zeros(model.nq)
        kernels.read_state(data.qpos, data.qvel, self.joints, q, np.zeros(model.nv))
        home = WholeBody(model, q)
        owners = self.bodies[[model.body_index(point.body) for point in model.contact_points]]
        bodies = engine.body_weldid[owners].astype(np.int64)
        places = np.reshape([home.contact_position(name) for name in model.contact_names], (-1, 3))
        return bodies, np.einsum("cji,cj->ci", data.xmat[bodies].reshape(-1, 3, 3), places - data.xpos[bodies])

    def check_robot(self, file: str) -> None:
        """Compare the kinetic energies at one random state, and the joints' damping and friction, with the model's.

        Raises:
            InputError: they differ.
        """
        model, data, random = self.model, self.data, np.random.default_rng(1)
        q, v = model.neutral(), random.normal(size=model.nv)
        q[self.joints.coordinates] += random.normal(0.0, 0.3, len(self.joints.dofs))
        self.place(q, v, np.zeros(13))
        self.mujoco.mj_energyVel(self.engine, data)
        theirs, ours = float(data.energy[1]), 0.5 * float(v @ WholeBody(model, q, v).mass_matrix @ v)
        if abs(theirs - ours) > SAME * ours:
            raise InputError(
                f"{file}: its robot is not {model.name!r}: its kinetic energy is {theirs:.6g} J, not {ours:.6g} J, at "
                "one random state. Load the model from this scene, without loads, locked joints or changed armature"
            )
        rows, engine = model.tree.passive[1:], self.engine
        pairs = ((DAMPING, engine.dof_damping, "damping"), (FRICTION, engine.dof_frictionloss, "friction"))
        for column, values, name in pairs if len(rows) else ():
            if not np.allclose(rows[:, column], values[self.joints.qvel]):
                raise InputError(f"{file}: its joints have another {name} than {model.name!r}: do not change it")

    def place(self, q: Floats, v: Floats, projectile: Floats) -> None:
        data, joints, first_q, first_v = self.data, self.joints, self.joints.free_qpos, self.joints.free_qvel
        self.mujoco.mj_resetData(self.engine, data)
        arm, orientation = quaternion_matrix(q[3:7]) @ joints.com, quat_mul(q[3:7].tolist(), joints.home.tolist())
        data.qpos[first_q : first_q + 7] = *(q[:3] - arm), *orientation
        data.qvel[first_v : first_v + 3] = v[:3] - cross(v[3:6], arm)
        data.qvel[first_v + 3 : first_v + 6] = quaternion_matrix(orientation).T @ v[3:6]
        data.qpos[joints.qpos], data.qvel[joints.qvel] = q[joints.coordinates] + joints.zero, v[joints.dofs]
        self.mujoco.mj_forward(self.engine, data)

    def step(self, torque: Floats, forces: Sequence[Applied]) -> None:
        kernels.set_controls(self.arrays, torque)
        self.take_step(forces)

    def passive_rollout(self, steps: int) -> None:
        Simulation.passive_rollout(self, steps)


@lru_cache(maxsize=4)
def _compiled(scene: str, _changed: tuple[int, ...]) -> Any:
    """Return MuJoCo's model of a file."""
    return compiled_mjcf(Path(scene))[0]


def _with_included(scene: Path) -> list[Path]:
    """Return a scene, the MJCF files that it includes or attaches, and its meshes and height fields."""
    files, roots = [scene], dict[Path, ElementTree.Element]()
    for file in files:  # grows
        with suppress(OSError, ElementTree.ParseError):  # MuJoCo reports files that it cannot read
            roots[file] = ElementTree.parse(file).getroot()
            named = _named(roots[file], ("include", "model"), [file.parent, scene.parent])
            files += [place for place in named if place not in files]
    compilers = [options for root in roots.values() for options in root.iter("compiler")]
    folders = {"", *(options.get(name, "") for options in compilers for name in ("meshdir", "assetdir"))}
    for file, root in roots.items():
        files += _named(root, ("mesh", "hfield"), [p / name for p in (file.parent, scene.parent) for name in folders])
    return list(dict.fromkeys(files))


def _named(root: ElementTree.Element, tags: Sequence[str], folders: Sequence[Path]) -> list[Path]:
    """Return the files that exist and that elements name, in any of the folders."""
    names = dict.fromkeys(element.get("file") for tag in tags for element in root.iter(tag))
    places = [folder / name for name in names if name for folder in folders]
    return [place for place in dict.fromkeys(places) if place.is_file()]
