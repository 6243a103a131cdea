"""MuJoCo's options, with contacts that are as stiff and as damped as our floor's."""

from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.engines.engine import Case
from experiments.engines.mujoco.mjcf import MujocoOptions, mjcf

if TYPE_CHECKING:
    from experiments.engines.mujoco.adapter import Mujoco


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
    w, floor = float(engine.body_invweight0[foot + 1, 0]), case.floor
    d = floor.b_n * w * case.step / (1.0 + floor.b_n * w * case.step)
    solref = (-floor.k_n * (1.0 - d) * w, -floor.b_n * (1.0 - d) * w)
    return replace(options, solref=solref, solimp=(d, d, 1e-3, 0.5, 2.0))
