"""MuJoCo behind the adapter of engines."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from biped.errors import InputError
from biped.model.geometry import quaternion_matrix
from experiments.engines.engine import Applied, Case, Floats, Natural, Simulation
from experiments.engines.mjcf import IMPACT, THROWN, MujocoOptions, damping_ratio, mjcf, velocity_map
from experiments.engines.soles import Soles
from experiments.kernels.foreign import Arrival


@dataclass(frozen=True)
class Mujoco:
    """MuJoCo with its settings, all but ``contact`` under its own names.

    Attributes:
        integrator: Euler, implicit, implicitfast, discrete (since 3.13) or RK4.
        solver: Newton, CG or PGS.
        cone: pyramidal or elliptic.
        impratio: of frictional to normal impedance.
        soles: "points", a sphere of 1 mm at each contact point, or "boxes".
        contact: "matched" to our floor's stiffness and damping, or "default".
    """

    name: ClassVar[str] = "mujoco"
    title: ClassVar[str] = "MuJoCo"
    package: ClassVar[str] = "mujoco"
    distribution: ClassVar[str] = "mujoco"
    install: ClassVar[str] = "pip install 'biped-balance[mujoco]'"

    integrator: str = "implicitfast"
    solver: str = "Newton"
    cone: str = "elliptic"
    impratio: float = 100.0
    soles: str = "points"
    contact: str = "matched"

    @property
    def lag(self) -> float:
        """Of all but RK4: velocities are advanced first, and carry the positions."""
        return 0.0 if self.integrator == "RK4" else 0.5

    @property
    def natural(self) -> Natural:
        """MuJoCo's defaults."""
        engine = Mujoco("Euler", "Newton", "pyramidal", 1.0, "boxes", "default")
        return Natural(
            engine, 2e-3, 2e-3, "MuJoCo's defaults: Euler, Newton, pyramidal cones, solref 0.02 1; boxes as soles"
        )

    def differences(self, case: Case) -> tuple[str, ...]:
        """What cannot be made equal."""
        found = []
        if self.contact == "matched":
            d = self._options(case).solimp[0]
            found.append(
                "MuJoCo's contacts prescribe accelerations: stiffness and damping at rest are our floor's, and each "
                f"point carries {d:.0%} of its share of the foot's inertia besides (solimp {d:.3g})"
            )
        else:
            found.append("MuJoCo's contacts are its defaults (solref 0.02 1), not our floor's spring and damper")
        found.append(
            f"friction is a {self.cone} cone made soft by impratio {self.impratio:g}: points under load creep; one "
            f"coefficient of friction, {case.floor.mu_s:g}"
        )
        if case.throw is not None:
            found.append(
                f"MuJoCo has no restitution: the block's contact is a spring and damper of {1e3 * IMPACT:g} ms with "
                f"damping ratio {damping_ratio(case.throw.restitution):.2f}, which gives about {case.throw.restitution:g}"
            )
        return tuple(found)

    def start(self, case: Case) -> Simulation:
        """A simulation of the case."""
        import mujoco

        if self.contact not in ("matched", "default"):
            raise InputError(f"MuJoCo's contact = {self.contact!r}: it must be matched or default")
        try:
            engine = mujoco.MjModel.from_xml_string(mjcf(case.model, self._options(case), case.impedance, case.throw))
        except ValueError as error:
            raise InputError(f"MuJoCo does not take its settings: {error}") from error
        return MujocoSimulation(case, engine)

    def _options(self, case: Case) -> MujocoOptions:
        options = MujocoOptions(
            step=case.step,
            integrator=self.integrator,
            solver=self.solver,
            cone=self.cone,
            friction=case.floor.mu_s,
            soles=self.soles if case.model.nc else "none",
            impratio=self.impratio,
        )
        if self.contact == "default" or not case.model.nc:
            return options
        return _matched(case, options)


def _matched(case: Case, options: MujocoOptions) -> MujocoOptions:
    """Contacts that yield at rest as our floor's points do.

    A contact's force f makes its acceleration a obey a = −b v − k r − R f, with R = (1 − d)/d times the inverse inertia w
    that MuJoCo takes for it, and k, b given by solref over d (MuJoCo's documentation, "Computation"). With a = 0 this
    is a spring k/R and a damper b/R. The least d for which the damper is stable, b h = 1, is taken.
    """
    import mujoco

    engine = mujoco.MjModel.from_xml_string(mjcf(case.model, options))
    foot = case.model.body_index(case.model.contact_points[0].body)
    w, floor = float(engine.body_invweight0[foot + 1, 0]), case.floor
    d = floor.b_n * w * case.step / (1.0 + floor.b_n * w * case.step)
    solref = (-floor.k_n * (1.0 - d) * w, -floor.b_n * (1.0 - d) * w)
    return replace(options, solref=solref, solimp=(d, d, 1e-3, 0.5, 2.0))


class MujocoSimulation:
    """A rollout in MuJoCo."""

    def __init__(self, case: Case, engine: Any) -> None:
        import mujoco

        self.mujoco, self.engine, self.case = mujoco, engine, case
        self.data = mujoco.MjData(engine)
        model = case.model
        self.nq, self.nv = model.nq, model.nv
        self.thrown = engine.geom(THROWN).id if case.throw is not None else -1
        self.soles = Soles(model)
        self.spherical = any(body.joint.kind == "spherical" for body in model.bodies)
        self.contact_force = np.zeros(6)

    def place(self, q: Floats, v: Floats, thrown: Floats) -> None:
        """Start anew."""
        self.mujoco.mj_resetData(self.engine, self.data)
        self.data.qpos[: self.nq], self.data.qvel[: self.nv] = q, velocity_map(self.case.model, q) @ v
        if self.thrown >= 0:
            R = quaternion_matrix(thrown[3:7])
            self.data.qpos[self.nq :] = thrown[:7]
            self.data.qvel[self.nv :] = (*thrown[7:10], *np.transpose(R) @ thrown[10:13])
        self.mujoco.mj_forward(self.engine, self.data)

    def step(self, torque: Floats, forces: Sequence[Applied]) -> None:
        """Take one step."""
        data = self.data
        data.qfrc_applied[: self.nv] = torque
        for push in forces:
            self.mujoco.mj_applyFT(
                self.engine, data, push.force, np.zeros(3), push.place, push.body + 1, data.qfrc_applied
            )
        self.mujoco.mj_step(self.engine, data)

    def read(self, arrival: Arrival) -> None:
        """Where it is now, and the forces in the step."""
        data, model = self.data, self.case.model
        arrival.q[:] = data.qpos[: self.nq]
        arrival.v[:] = data.qvel[: self.nv]
        if self.spherical:
            arrival.v[:] = velocity_map(model, arrival.q).T @ arrival.v
        elif model.is_floating:  # the same, sooner
            arrival.v[3:6] = np.reshape(data.xmat[1], (3, 3)) @ arrival.v[3:6]
        arrival.force[:], arrival.blow[:] = 0.0, 0.0
        for k in range(data.ncon):
            self._read_contact(k, arrival)
        if self.thrown >= 0:
            pose, velocity = data.qpos[self.nq :], data.qvel[self.nv :]
            arrival.thrown[:7], arrival.thrown[7:10] = pose, velocity[:3]
            arrival.thrown[10:13] = quaternion_matrix(pose[3:7]) @ velocity[3:]

    def _read_contact(self, k: int, arrival: Arrival) -> None:
        """Add the force of contact k, which in its frame is along the normal, from its first geometry to its second."""
        data = self.data
        self.mujoco.mj_contactForce(self.engine, data, k, self.contact_force)
        contact = data.contact[k]
        force = np.reshape(contact.frame, (3, 3)).T @ self.contact_force[:3]
        first, second = (int(geom) for geom in contact.geom)
        if self.thrown in (first, second):
            arrival.blow[:] += self.case.step * force * (1.0 if first == self.thrown else -1.0)
            arrival.blow_at[:] = contact.pos
            return
        body = int(self.engine.geom_bodyid[second])
        place = np.reshape(data.xmat[body], (3, 3)).T @ (contact.pos - data.xipos[body])
        arrival.force[self.soles.point(body - 1, place)] += force
