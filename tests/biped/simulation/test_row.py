"""A recorded row, column by column: made-up books, energies and momenta from Pinocchio; and the log's events."""

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from biped import Signal, State, configuration_to_pinocchio, dynamics, to_pinocchio, velocity_to_pinocchio
from biped.disturbances import Patch, Platform, compile_ground
from biped.kernels.loop.log import (
    EVENTS,
    LIFT,
    OBSERVED,
    ROWS,
    TOUCH,
    LedgerColumns,
    MomentumColumns,
    is_full,
    log_contact_changes,
    log_event,
    new_log,
    observe,
    record_row,
)
from biped.kernels.state.simulation_state import JOINTS, RECENT_ITERATIONS, START, TOTAL_STEPS
from biped.kernels.step.step import prepare
from biped.kernels.variational.equations import new_scratch
from biped.model import human, random_tree
from biped.runs.row_layout import columns_of
from contact import Floor
from contact.modes import NONE, SLIDING, STICKING
from kernelcache import Nothing

pytestmark = pytest.mark.jit_off

KINDS = ("revolute", "prismatic", "spherical")
FLOOR = Floor(k_n=6e4, k_t=3e4)
MAT = Patch((0.1, 9.0), (-9.0, 9.0), FLOOR.with_(k_n=9e4, k_t=2e4))
#: At 0.5 s it has come to rest, shifted, raised and turned.
PLATFORM = Platform(x=Signal.step(0.2, 0.0, 0.5), z=Signal.step(0.3, 0.0, 0.5), pitch=Signal.step(0.4, 0.0, 0.5))
OWN = ("first", "second")
TIME = 0.75


class Row:
    def __init__(self, seed: int, floating: bool = True, platform: Platform | None = PLATFORM) -> None:
        rng = np.random.default_rng(seed)
        tree = random_tree(rng, 7, floating=floating, kinds=KINDS, contacts=6)
        self.model = model = tree.with_gravity((1.5, -2.5, -9.0))
        q, self.v = model.neutral(), rng.normal(size=model.nv)
        for body, first in zip(model.bodies, model.tree.first_q, strict=True):
            if body.joint.has_axis:
                q[first] = rng.uniform(-1.0, 1.0)
        if floating:
            q[2] -= 1.0  # most points are below the floor
        self.arrays = arrays = State.at(model, q, self.v, TIME).arrays
        for array in (
            arrays.ledger.works,
            arrays.ledger.defect,
            arrays.torque,
            arrays.stiffness,
            arrays.damping,
            arrays.setpoint,
        ):
            array[:] = rng.normal(size=len(array))
        arrays.force[:], arrays.anchor[:] = rng.normal(size=arrays.force.shape), rng.normal(size=arrays.anchor.shape)
        arrays.mode[:] = [NONE, SLIDING, STICKING] * 2
        arrays.contact_state[:] = [6, 5, 4, 3, 2, 1]
        arrays.counts[:] = np.arange(20, 20 + len(arrays.counts))
        self.scratch = new_scratch(model.n, model.nq, model.nv, model.nc)
        prepare(model.tree, arrays, self.scratch)
        self.platform = platform
        self.ground = compile_ground(FLOOR, model, platform, [MAT])
        columns = columns_of(model, OWN)
        names = columns.names
        self.log = new_log(3, len(names) + 2, columns.layout, 40, model.nc, len(OWN), 1, Nothing())
        self.log.extra[:] = (3.5, -4.5)
        self.log.cursor[ROWS] = 1
        observe(model.tree, arrays, self.scratch.motion, self.log)
        record_row(model.tree, self.ground, arrays, self.scratch.motion, self.log, TIME)
        self.values = dict(zip(names, self.log.rows[1], strict=False))
        self.width = len(names)

    def __getitem__(self, names):
        return np.array([self.values[name] for name in names])

    def near(self, prefix, parts):
        return self[[f"{prefix}_{part}" for part in parts]]


@pytest.fixture(scope="module", params=[(0, True), (1, True), (2, True), (3, False)], ids=str)
def row(request):
    return Row(*request.param)


def test_a_row_is_written_from_its_first_column_to_its_last(row):
    assert row.log.cursor[ROWS] == 2
    assert np.isfinite(row.log.rows[1, : row.width]).all()
    assert np.isnan(row.log.rows[1, row.width :]).all()
    assert np.isnan(row.log.rows[[0, 2]]).all()


def test_state_and_controller(row):
    assert row.values["time"] == TIME
    assert np.array_equal(row[row.model.coordinate_names], row.arrays.q)
    assert row[row.model.velocity_names] == pytest.approx(row.v, rel=1e-9, abs=1e-9)
    assert list(row[OWN]) == [3.5, -4.5]
    assert row.values["newton_iterations"] == 20 + RECENT_ITERATIONS
    assert row.arrays.counts[RECENT_ITERATIONS] == 0


def test_torques_are_what_the_joints_exert(row):
    arrays, tree = row.arrays, row.model.tree
    expected = arrays.torque.copy()
    for i, body in enumerate(row.model.bodies):
        if body.joint.has_axis:
            a, j = tree.first_q[i], tree.first_v[i]
            expected[j] -= arrays.stiffness[j] * (arrays.q[a] - arrays.setpoint[j]) + arrays.damping[j] * row.v[j]
    names = ["torque_" + name.removeprefix("rate_") for name in row.model.velocity_names]
    assert row[names] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_contacts(row):
    places = dynamics.forward_kinematics(row.model, row.arrays.q).contact
    for c, point in enumerate(row.model.contact_names):
        assert row.values[f"contact_{point}_mode"] == row.arrays.contact_state[c]
        assert np.array_equal(row.near(f"contact_{point}", ("fx", "fy", "fz")), row.arrays.force[c])
        assert row.near(f"contact_{point}", "xyz") == pytest.approx(places[c], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("platform", [PLATFORM, None], ids=["moved", "at-rest"])
@pytest.mark.parametrize("seed", range(3))
def test_the_springs_hold_what_they_are_stretched_by_on_the_floor_as_it_is(seed, platform):
    row = Row(seed, platform=platform)
    origin, R = np.zeros(3), np.eye(3)
    if platform is not None:
        origin, R = np.array([0.2, 0.0, 0.3]), Rotation.from_rotvec([0.0, 0.4, 0.0]).as_matrix()
    expected = 0.0
    for c, place in enumerate(dynamics.forward_kinematics(row.model, row.arrays.q).contact):
        x, y, z = R.T @ (place - origin)
        law = MAT.floor if MAT.x[0] <= x <= MAT.x[1] else FLOOR
        stretch = np.hypot(x - row.arrays.anchor[c, 0], y - row.arrays.anchor[c, 1])
        if row.arrays.mode[c] != NONE and z < 0.0:
            expected += 0.5 * law.k_n * z**2 + 0.5 * law.k_t * stretch**2
    assert row.values["ledger_contact_stored"] == pytest.approx(expected, rel=1e-12)
    assert expected > 0.0


def test_energies_and_what_no_work_accounts_for(row):
    twin = to_pinocchio(row.model)
    data = twin.createData()
    q = configuration_to_pinocchio(row.model, row.arrays.q)
    pin.computeKineticEnergy(twin, data, q, velocity_to_pinocchio(row.model, row.arrays.q, row.v))
    pin.computePotentialEnergy(twin, data, q)
    assert row.values["ledger_kinetic"] == pytest.approx(data.kinetic_energy, rel=1e-9)
    assert row.values["ledger_potential"] == pytest.approx(data.potential_energy, rel=1e-9)
    books = row.near("ledger", ("actuators", "contacts", "dissipated", "pushes", "impacts", "platform"))
    assert np.array_equal(books, row.arrays.ledger.works[:START])
    works = sum(row.values[f"ledger_{name}"] for name in ("actuators", "contacts", "pushes", "impacts"))
    works += row.arrays.ledger.works[JOINTS]  # which has a column only where joints have limits or bearings
    expected = data.kinetic_energy + data.potential_energy - row.arrays.ledger.works[START] - works
    assert row.values["ledger_residual"] == pytest.approx(expected, rel=1e-9)
    assert LedgerColumns._fields[-1] == "residual"


def test_momenta_about_the_centre_of_mass(row):
    twin = to_pinocchio(row.model)
    data = twin.createData()
    q = configuration_to_pinocchio(row.model, row.arrays.q)
    pin.computeCentroidalMomentum(twin, data, q, velocity_to_pinocchio(row.model, row.arrays.q, row.v))
    assert row.near("momentum", MomentumColumns._fields) == pytest.approx(np.array(data.hg), rel=1e-9, abs=1e-9)
    assert row.near("com", "xyz") == pytest.approx(pin.centerOfMass(twin, data, q), rel=1e-9, abs=1e-9)
    assert np.array_equal(row.near("momentum_defect", MomentumColumns._fields), row.arrays.ledger.defect)


def test_rates_are_found_once_for_a_state():
    row = Row(0)
    rates = row.scratch.motion.rates
    rates[:] = 7.0
    observe(row.model.tree, row.arrays, row.scratch.motion, row.log)
    assert (rates == 7.0).all()
    row.arrays.counts[TOTAL_STEPS] += 1
    observe(row.model.tree, row.arrays, row.scratch.motion, row.log)
    assert rates == pytest.approx(row.v, rel=1e-9, abs=1e-9)
    assert row.log.cursor[OBSERVED] == row.arrays.counts[TOTAL_STEPS]


def test_changes_of_contact_are_events():
    model = human()
    arrays = State.at(model).arrays
    log = new_log(1, 1, columns_of(model).layout, 10, model.nc, 0, 1, Nothing())
    log.down[:] = [0, 1, 0, 1, 0, 1, 0, 1]
    log.cursor[EVENTS] = 1
    arrays.mode[:] = [NONE, NONE, SLIDING, SLIDING, STICKING, STICKING, NONE, STICKING]
    log_contact_changes(arrays, log, 0.25)
    assert log.cursor[EVENTS] == 4
    assert log.events[1:4, :3].tolist() == [[0.25, LIFT, 1], [0.25, TOUCH, 2], [0.25, TOUCH, 4]]
    assert not log.events[1:4, 3:].any()
    assert list(log.down) == [0, 0, 1, 1, 1, 1, 0, 1]
    log_contact_changes(arrays, log, 0.5)
    assert log.cursor[EVENTS] == 4
    log_event(log, 0.75, 3, 9, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0), (7.0, 8.0, 9.0))
    assert log.events[4].tolist() == [0.75, 3, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert log.cursor[EVENTS] == 5
    assert np.isnan(log.events[[0, 5]]).all()


@pytest.mark.parametrize("stride", [1, 4])
@pytest.mark.parametrize("steps", [1, 4, 7])
def test_a_log_is_full_before_it_runs_over(stride, steps):
    model = human()
    layout = columns_of(model).layout
    rows, events = steps // stride + 2, steps * (model.nc + 2)
    for more_rows, more_events, full in ((0, 0, False), (1, 1, False), (-1, 0, True), (0, -1, True)):
        log = new_log(5 + rows + more_rows, 1, layout, 30 + events + more_events, model.nc, 0, stride, Nothing())
        log.cursor[ROWS], log.cursor[EVENTS] = 5, 30
        assert is_full(log, steps) == full
