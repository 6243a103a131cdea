"""Conversion of a mechanism's motion to a `Run`, which all tools take: view, render, report, export."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from biped.kernels.loop.log import EVENT_WIDTH
from biped.kernels.state.simulation_state import STEP_LENGTH, STEPS, TIME_ORIGIN, TOTAL_STEPS
from biped.kernels.tree.dynamics import new_tree_data
from biped.kernels.tree.rows import fill_totals
from biped.metrics.runs import assemble
from biped.model import Model
from biped.runs.march import constraint_check
from biped.runs.recording import Recording
from biped.runs.row_layout import Columns, columns_of
from biped.runs.run import Run
from biped.runs.state import State
from biped.runs.summary import Counters, Ending, Stepping
from biped.runs.verdict import COMPLETED, FAILED
from contact.arrays import Floats
from formulations.mechanism.errors import MechanismError
from formulations.mechanism.forces import Torque
from formulations.mechanism.inputs import sampled

if TYPE_CHECKING:
    from formulations.mechanism.simulation import Motion

#: Columns of a motion that a run has in its energy balance, under other names.
_IN_LEDGER = ("kinetic_energy", "potential_energy", "work")


def run_of(motion: Motion) -> Run:
    """Return the motion as a ``Run`` of the mechanism's `Model`; momenta, energy and multipliers remain as columns.

    In the energy balance, ``actuators`` is the work of all forces without a potential and of all prescribed motions.

    Raises:
        MechanismError: the motion has no rows, or the momentum of a variable would have the name of another column.
        ModelError: the mechanism cannot be converted to a model.
    """
    frame = motion.frame
    if not len(frame):
        raise MechanismError(f"the motion of {motion.mechanism.name!r} has no rows: there is nothing to record")
    model = motion.mechanism.model
    columns = _columns(motion, model)
    rows = np.zeros((len(frame), len(columns.names)))
    for place, name in enumerate(columns.names):
        if name in frame.columns:
            rows[:, place] = frame[name]
    _fill_torques(motion, columns, rows)
    _fill_ledger(motion, columns, rows)
    _fill_totals(model, motion, columns, rows)
    counts, failed = motion.metrics, motion.summary["verdict"] == FAILED
    run = assemble(
        Recording(
            model=model,
            rows=rows,
            events=np.zeros((0, EVENT_WIDTH)),
            columns=columns,
            standing=frozenset(),
            counters=Counters(
                counts["steps"], round(counts["newton_mean"] * counts["steps"]), counts["newton_max"], 0,
                motion.summary["wall_time"],
            ),
            stepping=Stepping("midpoint", counts["step"]),
            ending=Ending(FAILED, error=motion.summary["reason"]) if failed else Ending(COMPLETED),
            set_point=None,
            singular_angles={},
            unheeded_limits={},
            disturbances=(),
            nominal_model=model,
            began=float(rows[0, 0]),
            state=_state(model, motion),
        )
    )  # fmt: skip
    if motion.mechanism.constraint_names:
        run.add_check(constraint_check(motion.constraint_errors))
    return run


def _columns(motion: Motion, model: Model) -> Columns:
    """Return the columns of a run of the model, with the additional columns of the motion."""
    known = columns_of(model)
    added = {name: unit for name, unit in motion.units.items() if name not in {*known.units, *_IN_LEDGER}}
    for name in motion.mechanism.coordinates:
        if f"momentum_{name}" in known.units:
            raise MechanismError(
                f"configuration variable {name!r}: a run has another column momentum_{name}, a total momentum; "
                "give the variable another name"
            )
    return columns_of(model, integrator_columns=added)


def _state(model: Model, motion: Motion) -> State:
    """Return the state at the end of a motion."""
    state = State.at(model, motion.q[-1], motion.v[-1])
    arrays, steps = state.arrays, int(motion.summary["steps"])
    arrays.clock[STEP_LENGTH] = motion.summary["step"]
    arrays.clock[TIME_ORIGIN] = float(motion.frame["time"].iloc[-1]) - steps * motion.summary["step"]
    arrays.counts[STEPS] = arrays.counts[TOTAL_STEPS] = steps
    return state


def _fill_torques(motion: Motion, columns: Columns, rows: Floats) -> None:
    """Fill the joint torques: motors and driving forces of prescribed variables, without dampers and wrenches."""
    times = motion.frame["time"].to_numpy()
    at = columns.layout.torque
    names = motion.mechanism.coordinates
    for force in motion.mechanism.forces:
        if isinstance(force, Torque):
            rows[:, at + names.index(force.coordinate)] += sampled(force.torque, times, f"torque of {force.coordinate}")
    for name in motion.mechanism.kinematic_coordinates:
        rows[:, at + names.index(name)] = motion.frame[f"driving_{name}"]


def _fill_ledger(motion: Motion, columns: Columns, rows: Floats) -> None:
    at = columns.layout.ledger
    place = {name: at + k for k, name in enumerate(columns.sections["ledger"])}
    kinetic, potential, work = (motion.frame[name].to_numpy() for name in _IN_LEDGER)
    rows[:, place["ledger_kinetic"]] = kinetic
    rows[:, place["ledger_potential"]] = potential
    rows[:, place["ledger_actuators"]] = work
    total = kinetic + potential
    rows[:, place["ledger_residual"]] = total - total[0] - (work - work[0])


def _fill_totals(model: Model, motion: Motion, columns: Columns, rows: Floats) -> None:
    layout = columns.layout
    q, v = np.ascontiguousarray(motion.q), np.ascontiguousarray(motion.v)
    data = new_tree_data(model.n, model.nv, model.nc)
    fill_totals(
        model.tree, q, v, data, rows[:, layout.momentum : layout.momentum + 6], rows[:, layout.com : layout.com + 3]
    )
