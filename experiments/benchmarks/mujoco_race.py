"""Comparison of speed with MuJoCo on the same human: equality of the models, MuJoCo's fastest settings, timings.

Both engines have four contact points at each foot, the same spring and damper in every joint, and the same time step.
MuJoCo's springs and dampers are its passive joint forces, which its integrators treat implicitly where possible; all
its steps are taken in one call of ``mj_step``, without Python in between. Our integrator records a row every 2 ms, as
usual; MuJoCo records nothing.
"""

import itertools
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

import mujoco
import numpy as np

from biped.errors import InputError
from biped.kernels.tree.dynamics import mass_matrix, new_tree_data
from biped.model import Model, human
from biped.runs.state import State
from biped.simulation.simulate import simulate
from contact.arrays import Floats
from controllers.impedance import JointImpedance
from experiments.benchmarks import section as table
from experiments.benchmarks.section import Budget, Section, milliseconds
from experiments.benchmarks.steps import STEPS, per_step, summary_of
from experiments.comparison.flight import Glider
from experiments.engines.mujoco.adapter import Mujoco
from experiments.engines.mujoco.mjcf import MujocoOptions, mjcf, velocity_map
from experiments.timing import interleaved, seconds
from experiments.work_precision.problems import tumbling

#: MuJoCo's own defaults.
DEFAULTS = MujocoOptions(integrator="Euler", solver="Newton", cone="pyramidal", soles="points", islands=True)
#: [m] largest displacement of MuJoCo's trunk that counts as standing.
SAG = 0.02
#: [s] standing time before the measurement.
SETTLING = 1.0
#: [rad] initial posture of a sway: knees slightly bent, soles flat, while the springs pull upright.
CROUCH = {"hip_pitch": 0.1, "knee_pitch": -0.2, "ankle_pitch": 0.1}
#: [m] lowering of the trunk in this posture.
_LOWER = (0.46 + 0.44) * (1.0 - np.cos(0.1))
#: Complete state of MuJoCo before a step.
STATE = mujoco.mjtState.mjSTATE_INTEGRATION


def mass_matrix_difference(model: Model, q: Floats) -> float:
    """Return the largest difference of an element of the mass matrices, relative to the largest element."""
    engine = mujoco.MjModel.from_xml_string(mjcf(model))
    data = mujoco.MjData(engine)
    data.qpos[:] = q
    mujoco.mj_forward(engine, data)
    full = np.zeros((engine.nv, engine.nv))
    for row, column in zip(full, np.eye(engine.nv), strict=True):  # mj_fullM differs between versions in its arguments
        mujoco.mj_mulM(engine, data, row, column)
    T = velocity_map(model, q)
    ours = np.zeros((model.nv, model.nv))
    mass_matrix(model.tree, q, new_tree_data(model.n, model.nv, model.nc), ours)
    return float(np.max(np.abs(T.T @ full @ T - ours)) / np.max(np.abs(ours)))


def settings(quick: bool) -> list[MujocoOptions]:
    """Return all combinations of MuJoCo's settings; with ``quick`` only those that are likely to be fast."""
    choices: dict[str, tuple[Any, ...]] = {
        "integrator": ("Euler", "implicit", "implicitfast", "discrete", "RK4"),
        "solver": ("Newton", "CG", "PGS"),
        "cone": ("pyramidal", "elliptic"),
        "soles": ("points", "boxes"),
        "islands": (True, False),
    }
    if quick:
        some = ("Euler", "implicitfast", "discrete")
        choices |= {"integrator": some, "solver": ("Newton", "CG"), "soles": ("points",), "islands": (False,)}
    return [MujocoOptions(**dict(zip(choices, values, strict=True))) for values in itertools.product(*choices.values())]


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
        self.stands = True  # True if it stood while settling and during all timings
        self._restart(self.model.neutral())
        self._step(round(SETTLING / options.step))
        self.settled = np.zeros(mujoco.mj_stateSize(self.engine, STATE))
        mujoco.mj_getState(self.engine, self.data, self.settled, STATE)

    def quiet(self, steps: int) -> float:
        """Return the time of a step during quiet stance [s]."""
        mujoco.mj_setState(self.engine, self.data, self.settled, STATE)
        return self._step(steps)

    def swaying(self, steps: int) -> float:
        """Return the time of a step during sway [s]."""
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


def crouched(model: Model) -> Floats:
    angles = {f"{side}_{joint}": angle for side in ("left", "right") for joint, angle in CROUCH.items()}
    home = model.neutral()
    return model.configuration((home[0], home[1], home[2] - _LOWER), None, angles)


def standers(options: list[MujocoOptions]) -> dict[str, Stander]:
    """Return the humans that stand, by settings; settings that this version of MuJoCo does not have are left out."""
    standing: dict[str, Stander] = {}
    for option in options:
        with suppress(ValueError):  # an integrator that this version does not have
            standing[label(option)] = Stander(option)
    return {name: stander for name, stander in standing.items() if stander.stands}


def screen(quick: bool, steps: int, repeats: int) -> dict[str, tuple[MujocoOptions, list[float]]]:
    """Return the times [s] of a step of quiet stance at h = 0.5 ms, by settings that stand, the fastest first."""
    candidates = standers(settings(quick))
    times = interleaved({name: partial(stander.quiet, steps) for name, stander in candidates.items()}, repeats)
    ordered = sorted((name for name in times if candidates[name].stands), key=lambda name: min(times[name]))
    return {name: (candidates[name].options, times[name]) for name in ordered}


def stance_race(
    options: list[MujocoOptions], step: float, steps: int, repeats: int
) -> dict[str, dict[str, list[float]]]:
    """Return the times [s] of a step of ours and of MuJoCo's settings, by scene ("quiet", "swaying") and engine."""
    engines = standers([replace(option, step=step) for option in options])
    model = human()
    home, bent = State.at(model), State.at(model, crouched(model))
    settled = simulate(model, JointImpedance(), state=home, step=step, duration=SETTLING).state
    times = {
        scene: interleaved(
            {"ours": _ours(model, JointImpedance(), state, step, steps)}
            | {name: partial(getattr(stander, scene), steps) for name, stander in engines.items()},
            repeats,
        )
        for scene, state in (("quiet", settled), ("swaying", bent))
    }
    standing = {"ours", *(name for name, stander in engines.items() if stander.stands)}
    return {scene: {name: taken for name, taken in by.items() if name in standing} for scene, by in times.items()}


def _ours(
    model: Model, controller: JointImpedance | None, state: State, step: float, steps: int
) -> Callable[[], float]:
    span = steps * step
    return lambda: per_step(summary_of(model, controller, state=state, step=step, duration=span, record_every=span))


def flight_race(step: float, steps: int, repeats: int) -> dict[str, list[float]]:
    """Return the times [s] of a step of tumbling, by engine: ours with contact points, MuJoCo without collisions."""
    model = human().with_gravity((0.0, 0.0, 0.0))
    q, v = tumbling(model)
    cases = {"ours": _ours(model, None, State.at(model, q, v), step, steps)}
    for integrator in ("Euler", "implicitfast", "discrete", "RK4"):
        with suppress(InputError):  # an integrator that this version does not have
            glider = Glider(Mujoco(integrator=integrator), (model.without_contacts(), q, v), step)
            cases[integrator] = partial(lambda flier: flier.seconds(steps) / steps, glider)
    return interleaved(cases, repeats)


def race_section(work: Budget) -> Section:
    """Return the section that compares the times of our steps and of steps with MuJoCo's fastest settings."""
    model = human()
    mass = abs(float(mujoco.MjModel.from_xml_string(mjcf(model)).body_mass.sum()) - model.total_mass)
    matrix = mass_matrix_difference(model, tumbling(model)[0])
    section = Section(
        "mujoco",
        "Cost of a step compared with MuJoCo",
        (*table.columns("ours", "fastest", unit="µs"), *table.columns("ratio", "least", "most")),
        notes=[
            f"the same human: masses differ by {mass:.1e} kg, mass matrices by {matrix:.1e} of their largest element",
            "medians; ratio: MuJoCo's time / ours, as median, least and most over pairs of successive runs",
        ],
    )
    screened = screen(work.quick, work.race_steps // 4, 3).values()
    candidates = [*(options for options, _ in list(screened)[:4] if options != DEFAULTS), DEFAULTS]
    for step in STEPS:
        stances = stance_race(candidates, step, work.race_steps, work.repeats)
        races = {f"{scene} stance": times for scene, times in stances.items()}
        races["flight"] = flight_race(step, work.race_steps, work.repeats)
        for scene, times in races.items():
            ours = times["ours"]
            fastest = min((name for name in times if name != "ours"), key=lambda name: median(times[name]))
            name = f"{scene}, {milliseconds(step)}"
            medians = table.in_microseconds(ours, times[fastest])
            section.rows[name] = (*medians, *table.compared(times[fastest], ours))
            section.notes.append(f"{name}: MuJoCo's fastest was {fastest}")
    return section
