"""MuJoCo's options, with contacts and joint limits that are as stiff and as damped as our floor and stops."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from biped.kernels.tree.tree import STOP_DAMPING, STOP_STIFFNESS
from biped.model import Model
from experiments.engines.engine import Case
from experiments.engines.mujoco.mjcf import MujocoOptions, mjcf

if TYPE_CHECKING:
    from experiments.engines.mujoco.adapter import Mujoco

Solref = tuple[float, float]
Solimp = tuple[float, float, float, float, float]


def options_of(engine: "Mujoco", case: Case) -> MujocoOptions:
    options = MujocoOptions(
        step=case.step,
        integrator=engine.integrator,
        solver=engine.solver,
        cone=engine.cone,
        friction=case.floor.mu_s,
        soles=engine.soles if case.model.nc else "none",
        impratio=engine.impratio,
        floor_moves=case.platform is not None,
    )
    return options if engine.contact == "default" or not case.model.nc else matched(case, options)


def matched(case: Case, options: MujocoOptions) -> MujocoOptions:
    """Contacts that yield at rest as our floor's points do, for the body of the first of them and those like it.

    A contact's force f makes its acceleration a obey a = −b v − k r − R f, with R = (1 − d)/d times the inverse
    inertia w that MuJoCo takes for it, and k, b given by solref over d (MuJoCo's documentation, "Computation"). With
    a = 0 this is a spring k/R and a damper b/R. The least d for which the damper is stable, b h = 1, is taken.
    """
    import mujoco

    engine = mujoco.MjModel.from_xml_string(mjcf(case.model, options))
    foot = case.model.body_index(case.model.contact_points[0].body)
    w = float(engine.body_invweight0[foot + 1, 0])
    solref, solimp = spring_and_damper(case.floor.k_n, case.floor.b_n, w, case.step)
    return replace(options, solref=solref, solimp=solimp)


def spring_and_damper(stiffness: float, damping: float, w: float, step: float) -> tuple[Solref, Solimp]:
    """MuJoCo's solref and solimp of a spring and damper, for a constraint with this inverse inertia w."""
    d = damping * w * step / (1.0 + damping * w * step)
    return (-stiffness * (1.0 - d) * w, -damping * (1.0 - d) * w), (d, d, 1e-3, 0.5, 2.0)


def match_stops(engine: Any, model: Model, step: float) -> None:
    """Give the limits of MuJoCo's joints the stiffness and damping of our stops."""
    for i, joint in enumerate(body.joint for body in model.bodies):
        if joint.has_axis:
            stiffness, damping = model.tree.passive[i, [STOP_STIFFNESS, STOP_DAMPING]]
            w = float(engine.dof_invweight0[model.dof(joint.name)])
            engine.jnt_solref[i], engine.jnt_solimp[i] = spring_and_damper(stiffness, damping, w, step)
