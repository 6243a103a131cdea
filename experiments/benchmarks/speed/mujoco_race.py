"""MuJoCo on the same human: proof that it is the same, its fastest setting, and both in turn.

Both engines stand on four points a foot, hold every joint with the same spring and damper, and take the same
step. MuJoCo's springs and dampers are its passive joint forces, which its integrators treat as implicitly as
they can; its steps are taken by one call of ``mj_step``, so that no Python is in between. Ours records a row
every 2 ms, as it always does; MuJoCo records nothing.
"""

import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import median

import mujoco
import numpy as np

from biped.errors import InputError
from biped.kernels.tree.dynamics import mass_matrix, new_tree_data
from biped.model import Model, human
from biped.runs.state import State
from biped.simulation.simulate import simulate
from contact.arrays import Floats
from controllers.impedance import JointImpedance
from experiments.benchmarks.free_flight import Glider
from experiments.benchmarks.scenes import timed, tumbling
from experiments.benchmarks.timing import Spread, interleaved, seconds
from experiments.engines.mujoco.adapter import Mujoco
from experiments.engines.mujoco.mjcf import MujocoOptions, mjcf, velocity_map

#: MuJoCo's own defaults.
DEFAULTS = MujocoOptions(integrator="Euler", solver="Newton", cone="pyramidal", soles="points", islands=True)
#: MuJoCo stands while its trunk stays this close to where it was [m].
SAG = 0.02
#: [s] of standing before the clock starts.
SETTLING = 1.0
#: [rad] Where a sway starts from: knees slightly bent, soles flat, while the springs pull upright.
CROUCH = {"hip_pitch": 0.1, "knee_pitch": -0.2, "ankle_pitch": 0.1}
#: [m] that the trunk is lower then.
_LOWER = (0.46 + 0.44) * (1.0 - np.cos(0.1))


def same_human() -> tuple[float, float]:
    """[kg] and relative: how far MuJoCo's total mass and mass matrix are from ours, in a random configuration."""
    model = human()
    engine = mujoco.MjModel.from_xml_string(mjcf(model))
    q, _ = tumbling(model)
    return abs(float(engine.body_mass.sum()) - model.total_mass), mass_matrix_difference(model, q)


def mass_matrix_difference(model: Model, q: Floats) -> float:
    """The largest difference of an element of the mass matrices, relative to the largest element."""
    engine = mujoco.MjModel.from_xml_string(mjcf(model))
    data = mujoco.MjData(engine)
    data.qpos[:] = q
    mujoco.mj_forward(engine, data)
    T = velocity_map(model, q)
    theirs = T.T @ _full_mass_matrix(engine, data) @ T
    ours = np.zeros((model.nv, model.nv))
    mass_matrix(model.tree, q, new_tree_data(model.n, model.nv, model.nc), ours)
    return float(np.max(np.abs(theirs - ours)) / np.max(np.abs(ours)))


def _full_mass_matrix(engine: "mujoco.MjModel", data: "mujoco.MjData") -> Floats:
    """MuJoCo's M, column by column: its own function for that has changed its arguments between versions."""
    columns = np.eye(engine.nv)
    product = np.zeros((engine.nv, engine.nv))
    for k in range(engine.nv):
        mujoco.mj_mulM(engine, data, product[k], columns[k])
    return product


def settings(quick: bool) -> list[MujocoOptions]:
    integrators = ("Euler", "implicitfast", "discrete") if quick else (
        "Euler", "implicit", "implicitfast", "discrete", "RK4",
    )  # fmt: skip
    solvers = ("Newton", "CG") if quick else ("Newton", "CG", "PGS")
    soles = ("points",) if quick else ("points", "boxes")
    islands = (False,) if quick else (True, False)
    return [
        MujocoOptions(integrator=integrator, solver=solver, cone=cone, soles=sole, islands=island)
        for integrator, solver, cone, sole, island in itertools.product(
            integrators, solvers, ("pyramidal", "elliptic"), soles, islands
        )
    ]


def label(options: MujocoOptions) -> str:
    islands = "" if options.islands else ", no islands"
    return f"{options.integrator}, {options.solver}, {options.cone}, {options.soles}{islands}"


class Stander:
    """The human in MuJoCo, held by the springs and dampers of ``JointImpedance()``."""

    def __init__(self, options: MujocoOptions) -> None:
        self.options = options
        self.model = human()
        self.engine = mujoco.MjModel.from_xml_string(mjcf(self.model, options, JointImpedance().impedance(self.model)))
        self.data = mujoco.MjData(self.engine)
        self.stands = True  # whether it stood while it settled and in everything it was timed in
        self._restart(self.model.neutral())
        self._step(round(SETTLING / options.step))
        self.settled = _saved(self.engine, self.data)

    def quiet(self, steps: int) -> float:
        """[s] that a step takes while it stands still."""
        mujoco.mj_setState(self.engine, self.data, self.settled, mujoco.mjtState.mjSTATE_INTEGRATION)
        return self._step(steps)

    def swaying(self, steps: int) -> float:
        """[s] that a step takes while it sways."""
        self._restart(crouched(self.model))
        return self._step(steps)

    def _restart(self, q: Floats) -> None:
        mujoco.mj_resetData(self.engine, self.data)
        self.data.qpos[:] = q

    def _step(self, steps: int) -> float:
        taken = seconds(lambda: mujoco.mj_step(self.engine, self.data, nstep=steps)) / steps
        upright = abs(self.data.qpos[2] - self.model.neutral()[2]) < SAG
        self.stands = bool(self.stands and upright and not any(w.number for w in self.data.warning))
        return taken


def _saved(engine: "mujoco.MjModel", data: "mujoco.MjData") -> Floats:
    state = np.zeros(mujoco.mj_stateSize(engine, mujoco.mjtState.mjSTATE_INTEGRATION))
    mujoco.mj_getState(engine, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    return state


def crouched(model: Model) -> Floats:
    angles = {f"{side}_{joint}": angle for side in ("left", "right") for joint, angle in CROUCH.items()}
    home = model.neutral()
    return model.configuration((home[0], home[1], home[2] - _LOWER), None, angles)


def standers(options: list[MujocoOptions]) -> dict[str, Stander]:
    """Those of the settings that this version of MuJoCo knows and in which the human stands."""
    found: dict[str, Stander] = {}
    for option in options:
        try:
            stander = Stander(option)
        except ValueError:  # an integrator that this version does not have
            continue
        if stander.stands:
            found[label(option)] = stander
    return found


def screen(quick: bool, steps: int, repeats: int) -> dict[str, tuple[MujocoOptions, Spread]]:
    """[s] a step of every setting that stands, standing still at h = 0.5 ms, the fastest first."""
    candidates = standers(settings(quick))
    times = interleaved({name: partial(stander.quiet, steps) for name, stander in candidates.items()}, repeats)
    spreads = {name: Spread.of(values) for name, values in times.items() if candidates[name].stands}
    ordered = sorted(spreads, key=lambda name: spreads[name].least)
    return {name: (candidates[name].options, spreads[name]) for name in ordered}


def stance_race(
    options: list[MujocoOptions], step: float, steps: int, repeats: int
) -> dict[str, dict[str, list[float]]]:
    """[s] a step of ours and of MuJoCo's settings, in turn: by scene ("quiet", "swaying"), then by engine."""
    engines = standers([replace(option, step=step) for option in options])
    quiet: dict[str, Callable[[], float]] = {"ours": _ours(step, steps, SETTLING, None)}
    swaying: dict[str, Callable[[], float]] = {"ours": _ours(step, steps, 0.0, crouched(human()))}
    for name, stander in engines.items():
        quiet[name] = partial(stander.quiet, steps)
        swaying[name] = partial(stander.swaying, steps)
    times = {"quiet": interleaved(quiet, repeats), "swaying": interleaved(swaying, repeats)}
    fallen = [name for name, stander in engines.items() if not stander.stands]
    for scene in times.values():
        for name in fallen:
            del scene[name]
    return times


def _ours(step: float, steps: int, settling: float, q: Floats | None) -> Callable[[], float]:
    model = human()
    state = State.at(model, q)
    if settling > 0.0:
        simulate(model, JointImpedance(), state=state, step=step, duration=settling)
    return lambda: timed(model, JointImpedance(), state, step, steps * step, record_every=steps * step).per_step


def flight_race(step: float, steps: int, repeats: int) -> dict[str, list[float]]:
    """[s] a step of tumbling: ours with its contact points, MuJoCo with nothing that could touch."""
    model = human().with_gravity((0.0, 0.0, 0.0))
    q, v = tumbling(model)
    state = State.at(model, q, v)
    cases: dict[str, Callable[[], float]] = {
        "ours": lambda: timed(model, None, state, step, steps * step, record_every=steps * step).per_step
    }
    for integrator in ("Euler", "implicitfast", "discrete", "RK4"):
        try:
            glider = Glider(Mujoco(integrator=integrator), (model.without_contacts(), q, v), step)
        except InputError:  # an integrator that this version does not have
            continue
        cases[integrator] = partial(lambda one: one.seconds(steps) / steps, glider)
    return interleaved(cases, repeats)


def fastest(times: dict[str, list[float]]) -> str:
    return min((name for name in times if name != "ours"), key=lambda name: median(times[name]))
