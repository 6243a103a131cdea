"""Adapter for the engine MuJoCo."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from biped.errors import InputError
from biped.inputs.extras import need
from biped.kernels.tree.tree import STOP_DAMPING, STOP_STIFFNESS
from biped.model import Model
from biped.model.geometry import quaternion_matrix
from contact.arrays import Floats, Integers
from experiments.engines.engine import Applied, Case, Engine, Simulation, VendorDefaults, contact_points_of
from experiments.engines.kernels.external import Arrival, FloorState
from experiments.engines.mujoco import kernels
from experiments.engines.mujoco.mjcf import FLOOR, IMPACT, RESISTANCE, THROWN, MujocoOptions, mjcf, velocity_map
from experiments.engines.restitution import damping_ratio, restitution_of
from kernelcache.kernels import packed

#: MuJoCo's number of pyramidal friction cones.
PYRAMIDAL = 0
#: MuJoCo's arrays of contacts that ``read_step`` reads: type and shape of a row.
CONTACTS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "geom": (np.int32, (2,)), "frame": (float, (9,)), "pos": (float, (3,)), "efc_address": (np.int32, ()),
    "dim": (np.int32, ()), "friction": (float, (5,)),
}  # fmt: skip
_NONE, _NO_NUMBERS = np.zeros(0, dtype=np.int64), np.zeros(0)
NO_DRIVE = kernels.Drive(
    _NONE, _NONE, _NONE, _NONE, _NO_NUMBERS, _NO_NUMBERS, _NO_NUMBERS, _NO_NUMBERS, _NONE, _NONE, _NO_NUMBERS
)


@dataclass(frozen=True)
class Mujoco(Engine):
    """Settings of MuJoCo, by MuJoCo's names except for ``soles`` and ``contact``."""

    name = "mujoco"
    title = "MuJoCo"
    package = "mujoco"
    distribution = "mujoco"
    takes_armature = True  # as MuJoCo's own ``armature``
    takes_passive_joints = True  # as its ranges, ``damping`` and ``frictionloss``
    takes_moving_floor = True  # as a heavy body whose pose is set at each step
    takes_patches = True  # as parameters of each contact point

    integrator: str = "implicitfast"  # Euler, implicit, implicitfast, discrete (since 3.13) or RK4
    solver: str = "Newton"  # Newton, CG or PGS
    cone: str = "elliptic"  # pyramidal or elliptic
    #: ratio of frictional to normal impedance. Creep is inversely proportional to it; from 10⁴ on, a step of the
    #: human's landing takes three times as long
    impratio: float = 1e3
    soles: str = "points"  # "points", a sphere of 1 mm at each contact point, or "boxes"
    contact: str = "matched"  # "matched" to our floor's stiffness and damping, or "default"

    @property
    def velocity_offset(self) -> float:
        """0.5 except for RK4: the other integrators advance the velocities first, then the positions with them."""
        return 0.0 if self.integrator == "RK4" else 0.5

    @property
    def vendor_defaults(self) -> VendorDefaults:
        engine = Mujoco("Euler", "Newton", "pyramidal", 1.0, "boxes", "default")
        return VendorDefaults(
            engine, 2e-3, "MuJoCo's defaults: Euler, Newton, pyramidal cones, solref 0.02 1; boxes as soles"
        )

    @property
    def smooth(self) -> "tuple[Mujoco, ...]":
        return (replace(self, integrator="RK4"),)

    def differences(self, case: Case) -> tuple[str, ...]:
        sentences = []
        if self.contact == "matched":
            d = options_of(self, case).solimp[0]
            sentences.append(
                "MuJoCo's contacts prescribe accelerations: stiffness and damping at rest are those of biped's floor; "
                f"each point also carries {d:.0%} of its share of the foot's inertia (solimp {d:.3g})"
            )
        else:
            sentences.append("MuJoCo's default contacts (solref 0.02 1) replace the spring and damper of biped's floor")
        sentences.append(
            f"friction is soft: loaded points creep, the less the larger impratio is ({self.impratio:g}, {self.cone} "
            f"cone); static and sliding friction have one coefficient, {case.floor.mu_s:g}"
        )
        if self.contact == "matched":
            stiffness, damping = case.spring_and_damper(case.floor)
            glide = 1e3 * damping / stiffness * case.floor.mu_s * 0.1
            sentences.append(
                f"sliding points are lifted, by up to {glide:.2g} mm at 0.1 m/s, because MuJoCo makes friction convex; "
                "points that penetrate less than this bounce"
            )
        if len(case.model.tree.passive):
            sentences.append("joints have no speed limits; their dry friction and stops are soft constraints of MuJoCo")
        if case.throw is not None:
            ratio = damping_ratio(case.throw.restitution)
            sentences.append(
                "MuJoCo has no restitution: the block's contact is a spring and damper that act for at least "
                f"{1e3 * IMPACT:g} ms; the damping ratio {ratio:.2f} gives a restitution of {restitution_of(ratio):.2g}"
            )
        if self.integrator == "RK4":
            sentences.append("contact forces are those of the last of a step's four stages, not the mean of the stages")
        return tuple(sentences)

    def start(self, case: Case) -> Simulation:
        need("mujoco")
        self.check_choices(contact=("matched", "default"), soles=("points", "boxes"))
        self.check_soles(case, self.soles)
        try:
            laws = [options_of(self, replace(case, floor=floor)) for floor in case.floors]
            engine = self._model(case, laws[0])
        except ValueError as error:
            raise InputError(f"MuJoCo rejects the model or its settings: {' '.join(str(error).split())}") from error
        if case.platform is not None:  # the solver's tolerance is relative to the mean inertia, here without the floor
            engine.stat.meaninertia = self._model(case, replace(laws[0], floor_moves=False)).stat.meaninertia
        if len(case.model.tree.passive) and self.contact == "matched":
            match_stops(engine, case.model, case.step)
        return MujocoSimulation(case, engine, laws, self.velocity_offset)

    def _model(self, case: Case, options: MujocoOptions) -> Any:
        import mujoco

        return mujoco.MjModel.from_xml_string(mjcf(case.model, options, case.impedance, case.throw))


class MujocoSimulation(Simulation):
    """A rollout in MuJoCo."""

    def __init__(self, case: Case, engine: Any, laws: Sequence[MujocoOptions], velocity_offset: float) -> None:
        import mujoco

        super().__init__(case)
        self.mujoco, self.engine = mujoco, engine
        self.laws, self.velocity_offset = laws, velocity_offset
        self.data = mujoco.MjData(engine)
        self.model = model = case.model
        self.projectile = engine.geom(THROWN).id if case.throw is not None else -1
        names = {engine.geom(k).name: k for k in range(engine.ngeom)}
        self.sphere = {names[name]: k for k, name in enumerate(model.contact_names) if name in names}
        self.is_floor = np.arange(engine.ngeom) == names.get(FLOOR, -1)
        self.body_of, self.origins = engine.geom_bodyid, self.data.xipos
        owners, places = contact_points_of(model)
        self.points: tuple[Integers, Floats] = owners + 1, places  # MuJoCo's bodies of the contact points, and places
        self.joints, self.drive = joint_map(model), NO_DRIVE
        self.is_spherical = any(body.joint.kind == "spherical" for body in model.bodies)
        self.bodies = np.arange(1, 1 + model.n)  # MuJoCo's body for each body of the model
        self._few = np.zeros(2, dtype=[(name, kind, shape) for name, (kind, shape) in CONTACTS.items()])
        self._arrival: tuple[Any, ...] = (None,)
        # ``read`` ends the run at MuJoCo's warnings; by default it would write them to a file in the current folder.
        mujoco.set_mju_user_warning(lambda _: None)

    def place(self, q: Floats, v: Floats, projectile: Floats) -> None:
        self.mujoco.mj_resetData(self.engine, self.data)
        nq, nv = self.model.nq, self.model.nv
        self.data.qpos[:nq], self.data.qvel[:nv] = q, velocity_map(self.model, q) @ v
        if self.projectile >= 0:
            R = quaternion_matrix(projectile[3:7])
            self.data.qpos[nq : nq + 7] = projectile[:7]
            self.data.qvel[nv : nv + 6] = (*projectile[7:10], *np.transpose(R) @ projectile[10:13])
        self.mujoco.mj_forward(self.engine, self.data)

    def set_floor(self, floor: FloorState) -> None:
        if self.case.patches:
            for geom, point in self.sphere.items():
                law = self.laws[floor.region[point]]
                self.engine.geom_friction[geom, 0] = law.friction
                self.engine.geom_solref[geom], self.engine.geom_solimp[geom] = law.solref, law.solimp
        if self.case.platform is not None:
            self._move_floor(floor)

    def _move_floor(self, floor: FloorState) -> None:
        """Set the floor's pose and velocity at the start of a step, and the force for its velocity at the end.

        MuJoCo's contacts prescribe accelerations, so the floor must have its acceleration during the step.
        """
        acceleration = (floor.velocity - floor.before) / self.case.step
        velocity = floor.velocity - (0.5 + self.velocity_offset) * self.case.step * acceleration
        local = np.eye(6)
        local[3:, 3:] = np.transpose(quaternion_matrix(floor.pose[3:7]))
        self.data.qpos[-7:], self.data.qvel[-6:] = floor.pose, local @ velocity
        self.data.qfrc_applied[-6:] = RESISTANCE * (local @ acceleration)

    def step(self, torque: Floats, forces: Sequence[Applied]) -> None:
        self.data.qfrc_applied[: self.model.nv] = torque
        self.take_step(forces)

    def take_step(self, forces: Sequence[Applied]) -> None:
        """Take a step with forces on the model's bodies."""
        data = self.data
        if forces:  # after a step, MuJoCo's kinematics are those of the step's start
            self.mujoco.mj_kinematics(self.engine, data)
            self.mujoco.mj_comPos(self.engine, data)
        for push in forces:
            body = self.bodies[push.body]
            self.mujoco.mj_applyFT(self.engine, data, push.force, np.zeros(3), push.place, body, data.qfrc_applied)
        self.mujoco.mj_step(self.engine, data)

    def passive_rollout(self, steps: int) -> None:
        self.data.qfrc_applied[:] = 0.0
        self.mujoco.mj_step(self.engine, self.data, nstep=steps)

    def read(self, arrival: Arrival) -> None:
        data, model = self.data, self.model
        if self._arrival[0] is not arrival:
            self._arrival = arrival, *packed(arrival)
        contacts, rows = self._contacts(data.contact, data.ncon), (data.efc_type, data.efc_id, data.efc_force)
        kernels.read_step(self.arrays, self._arrival[1], data.ncon, contacts, *rows)
        if self.is_spherical:
            arrival.q[:] = data.qpos[: model.nq]
            arrival.v[:] = velocity_map(model, arrival.q).T @ data.qvel[: model.nv]
            arrival.q[0] = math.nan if self.failure else arrival.q[0]
        if self.projectile >= 0:
            pose, velocity = data.qpos[model.nq : model.nq + 7], data.qvel[model.nv : model.nv + 6]
            arrival.projectile[:7], arrival.projectile[7:10] = pose, velocity[:3]
            arrival.projectile[10:13] = quaternion_matrix(pose[3:7]) @ velocity[3:]
            self._read_impact(arrival)

    @property
    def failure(self) -> str:  # type: ignore[override]  # of the state, instead of a stored text
        warning = self.data.warning
        kinds = np.flatnonzero(warning.number).tolist()
        return self.mujoco.mju_warningText(kinds[0], int(warning.lastinfo[kinds[0]])) if kinds else ""

    def _contacts(self, touching: Any, count: int) -> tuple[Any, ...]:
        """Return the arrays of contacts, with at least two rows: one row would be compiled again, as contiguous."""
        if count > 1:
            return tuple(getattr(touching, name) for name in CONTACTS)
        for name in CONTACTS:
            self._few[name][:count] = getattr(touching, name)
        return tuple(self._few[name] for name in CONTACTS)

    @cached_property
    def arrays(self) -> Any:
        """Arrays of MuJoCo and their correspondence with the model, packed."""
        engine, data, kinds, joints = self.engine, self.data, self.mujoco.mjtConstraint, self.joints
        dof_of = np.arange(engine.nv)
        dof_of[joints.qvel] = joints.dofs
        if joints.free_qvel >= 0:
            dof_of[joints.free_qvel : joints.free_qvel + 6] = range(6)
        arrays = kernels.MujocoArrays(
            data.qpos, data.qvel, data.ctrl, data.qfrc_applied, data.qfrc_actuator, data.warning.number, joints,
            self.drive, self.is_floor, self.body_of, self.origins, data.xmat, *self.points,
            int(engine.opt.cone == PYRAMIDAL), dof_of, engine.jnt_qposadr, engine.jnt_dofadr, engine.jnt_range,
            int(kinds.mjCNSTR_FRICTION_DOF), int(kinds.mjCNSTR_LIMIT_JOINT),
        )  # fmt: skip
        return packed(arrays)[0]

    def _read_impact(self, arrival: Arrival) -> None:
        """Read the impulse on the target of the thrown box, and its position, weighted by the normal forces."""
        touching, local = self.data.contact, np.zeros((self.data.ncon, 6))
        for k, row in enumerate(local):
            self.mujoco.mj_contactForce(self.engine, self.data, k, row)
        on_box = (touching.geom == self.projectile).any(axis=1)
        first, weights = touching.geom[on_box, 0], local[on_box, 0]
        forces = np.einsum("ki,kij->kj", local[on_box, :3], np.reshape(touching.frame[on_box], (-1, 3, 3)))
        arrival.impact[:] = self.case.step * np.where(first == self.projectile, 1.0, -1.0) @ forces
        if weights.sum() > 0.0:
            arrival.impact_place[:] = weights @ touching.pos[on_box] / weights.sum()


def joint_map(model: Model) -> kernels.JointMap:
    """Return the correspondence of a model with MuJoCo's model of ``mjcf``, whose coordinates are the same."""
    joints = [body.joint.name for body in model.bodies if body.joint.has_axis]
    coordinates = np.array([model.coordinate(joint) for joint in joints], dtype=np.int64)
    dofs = np.array([model.dof(joint) for joint in joints], dtype=np.int64)
    root = (0, 0) if model.is_floating else (-1, -1)
    home, zero = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(len(joints))
    return kernels.JointMap(*root, home, np.zeros(3), coordinates, dofs, coordinates, dofs, zero)


Solref = tuple[float, float]
Solimp = tuple[float, float, float, float, float]


def options_of(engine: Mujoco, case: Case) -> MujocoOptions:
    options = MujocoOptions(
        step=case.step, integrator=engine.integrator, solver=engine.solver, cone=engine.cone, friction=case.floor.mu_s,
        soles=engine.soles if case.model.nc else "none", impratio=engine.impratio,
        floor_moves=case.platform is not None,
    )  # fmt: skip
    return options if engine.contact == "default" or not case.model.nc else matched(case, options)


def matched(case: Case, options: MujocoOptions) -> MujocoOptions:
    """Return contact parameters with the compliance of our floor at rest, for the foot of the first contact point.

    A contact's force f makes its acceleration a obey a = −b v − k r − R f, with R = (1 − d)/d times the inverse
    inertia w of MuJoCo, and k, b given by solref and d (MuJoCo's documentation, "Computation"). With a = 0 this is a
    spring k/R and a damper b/R. We take the smallest d for which the damper is stable, b h = 1.
    """
    import mujoco

    engine = mujoco.MjModel.from_xml_string(mjcf(case.model, options))
    foot = case.model.body_index(case.model.contact_points[0].body)
    w = float(engine.body_invweight0[foot + 1, 0])
    solref, solimp = spring_and_damper(*case.spring_and_damper(case.floor), w, case.step)
    return replace(options, solref=solref, solimp=solimp)


def spring_and_damper(stiffness: float, damping: float, w: float, step: float) -> tuple[Solref, Solimp]:
    """Return solref and solimp of a spring [N/m] and damper [N·s/m] for a constraint with inverse inertia w [1/kg]."""
    d = damping * w * step / (1.0 + damping * w * step)
    return (-stiffness * (1.0 - d) * w, -damping * (1.0 - d) * w), (d, d, 1e-3, 0.5, 2.0)


def match_stops(engine: Any, model: Model, step: float) -> None:
    """Set the stiffness and damping of MuJoCo's joint limits to those of the model's stops."""
    for i, joint in enumerate(body.joint for body in model.bodies):
        if joint.has_axis:
            stiffness, damping = model.tree.passive[i, [STOP_STIFFNESS, STOP_DAMPING]]
            w = float(engine.dof_invweight0[model.dof(joint.name)])
            engine.jnt_solref[i], engine.jnt_solimp[i] = spring_and_damper(stiffness, damping, w, step)
