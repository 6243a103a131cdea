import numpy as np
import pytest

from biped.dynamics import forward_kinematics
from biped.errors import InputError
from biped.metrics.timeseries import series
from experiments.visualization.viewer.scenery import scenery_of
from experiments.visualization.viewer.snapshot import quaternion_between, turned
from experiments.visualization.viewer.trajectory import snapshot_of, trajectory_of


def coordinates(run):
    return run.frame[list(run.state.model.coordinate_names)].to_numpy()


@pytest.mark.parametrize("name", ["pushed", "tilted", "tumbled"])
def test_bodies_are_where_forward_kinematics_has_them(name, request):
    run = request.getfixturevalue(name)
    trajectory = trajectory_of(run)
    for k in range(0, len(trajectory.times), 40):
        motion = forward_kinematics(run.state.model, coordinates(run)[k])
        snapshot = trajectory.at(trajectory.times[k])
        assert snapshot.position == pytest.approx(motion.position, abs=1e-12)
        assert snapshot.quaternion == pytest.approx(motion.orientation, abs=1e-12)
        assert snapshot.contact_place == pytest.approx(motion.contact, abs=1e-9)


def test_at_a_recorded_time_contacts_and_centres_are_the_recorded_ones(pushed):
    trajectory, table = trajectory_of(pushed), series(pushed)
    for k in range(0, len(trajectory.times), 25):
        snapshot, row = trajectory.at(trajectory.times[k]), pushed.frame.iloc[k]
        for c, point in enumerate(pushed.state.model.contact_names):
            told = [f"contact_{point}_{part}" for part in ("fx", "fy", "fz")]
            assert snapshot.contact_force[c] == pytest.approx(row[told].to_numpy())
            assert snapshot.contact_mode[c] == row[f"contact_{point}_mode"]
        assert snapshot.com == pytest.approx(row[["com_x", "com_y", "com_z"]].to_numpy())
        assert snapshot.projectile == pytest.approx(
            row[[f"projectile_{p}" for p in ("x", "y", "z", "qw", "qx", "qy", "qz")]]
        )
        assert snapshot.xcom[:2] == pytest.approx(table[["xcom_x", "xcom_y"]].iloc[k])
        assert snapshot.cop[:2] == pytest.approx(table[["cop_x", "cop_y"]].iloc[k], nan_ok=True)


def test_between_rows_places_are_between_and_quaternions_unit(tumbled):
    trajectory = trajectory_of(tumbled)
    rng = np.random.default_rng(5)
    for time in rng.uniform(trajectory.begins, trajectory.ends, 50):
        snapshot, k = trajectory.at(time), trajectory.row_at(time)
        part = (time - trajectory.times[k]) / (trajectory.times[k + 1] - trajectory.times[k])
        assert np.linalg.norm(snapshot.quaternion, axis=1) == pytest.approx(1.0, abs=1e-14)
        assert snapshot.position == pytest.approx(
            (1 - part) * trajectory.rows.position[k] + part * trajectory.rows.position[k + 1]
        )
        least = np.minimum(trajectory.rows.position[k], trajectory.rows.position[k + 1]) - 1e-12
        most = np.maximum(trajectory.rows.position[k], trajectory.rows.position[k + 1]) + 1e-12
        assert (least <= snapshot.position).all()
        assert (snapshot.position <= most).all()


def test_a_turn_goes_evenly_and_the_shorter_way():
    rng = np.random.default_rng(3)
    before = rng.normal(size=4)
    before /= np.linalg.norm(before)
    half = 0.02  # [rad] half of the turn
    across = np.cross(before[1:], np.eye(3)[0])
    axis = np.array([0.0, *(across / np.linalg.norm(across))])
    turn = np.array([np.cos(half), *(np.sin(half) * axis[1:])])

    def product(p, q):
        return np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])

    after = product(turn, before)
    for part in (0.0, 0.25, 0.5, 0.8, 1.0):
        exact = product(np.array([np.cos(part * half), *(np.sin(part * half) * axis[1:])]), before)
        for sign in (1.0, -1.0):
            found = quaternion_between(before, sign * after, part)
            assert abs(found @ exact) == pytest.approx(1.0, abs=1e-13)
            assert np.linalg.norm(found - exact) < 2e-7


def test_outside_of_the_run_it_stays_at_its_ends(pushed):
    trajectory = trajectory_of(pushed)
    for time, row in ((trajectory.begins - 1.0, 0), (trajectory.ends + 1.0, -1)):
        snapshot = trajectory.at(time)
        assert snapshot.time == trajectory.times[row]
        assert (snapshot.position == trajectory.rows.position[row]).all()
    for time in (float("nan"), float("inf")):
        with pytest.raises(InputError, match="finite number of seconds"):
            trajectory.at(time)


def test_pushes_give_their_impulse(pushed, acting):
    trajectory = trajectory_of(pushed, [acting.push, acting.wind])
    length = np.diff(np.append(trajectory.times, trajectory.times[-1]))
    given = np.einsum("k,kpi->pi", length, trajectory.rows.push_force)
    assert given[0] == pytest.approx(6.0 * np.array([-1.0, 0.5, 0.0]) / np.hypot(1.0, 0.5), abs=1e-12)
    assert given[1] == pytest.approx([0.0, 12.0 * 0.2, 0.0])
    assert not trajectory.rows.push_force[trajectory.times < 0.05].any()
    trunk = trajectory.at(0.12)
    assert trunk.push_place[0] == pytest.approx(trunk.point_of(0, np.array(acting.push.point)))


def test_a_saved_run_tells_of_its_pushes(pushed, acting):
    """A push is exact; a force that follows a signal has its mean, here that of the rectangle itself."""
    known, told = trajectory_of(pushed, [acting.push, acting.wind]), trajectory_of(pushed)
    assert told.rows.push_force == pytest.approx(known.rows.push_force, abs=1e-9)
    assert told.rows.push_place == pytest.approx(known.rows.push_place)


def test_the_support_polygon_is_on_the_floor_below_the_feet(tilted):
    trajectory = trajectory_of(tilted)
    for k in range(30, len(trajectory.times), 30):
        # The first row, without load, has no centre of pressure.
        snapshot = trajectory.at(trajectory.times[k])
        origin, turn = snapshot.platform[:3], snapshot.platform[3:]
        normal = turned(turn, np.array([0.0, 0.0, 1.0]))
        for points in (snapshot.support, snapshot.cop[np.newaxis], snapshot.com_on_floor[np.newaxis]):
            assert (points - origin) @ normal == pytest.approx(0.0, abs=1e-12)
        places = {tuple(place) for place in snapshot.contact_place[:, :2].tolist()}
        assert {tuple(corner) for corner in snapshot.support[:, :2].tolist()} <= places


def test_a_state_is_seen_as_the_last_row_of_its_run(pushed, tilted):
    for run in (pushed, tilted):
        end, now = trajectory_of(run).at(np.finfo(float).max), snapshot_of(run.state)
        for name in (
            "position",
            "quaternion",
            "contact_place",
            "contact_force",
            "contact_mode",
            "com",
            "cop",
            "support",
        ):
            assert getattr(now, name) == pytest.approx(getattr(end, name), abs=1e-12), name
        assert now.time == pytest.approx(end.time)
        for name in ("projectile", "platform"):
            one, other = getattr(now, name), getattr(end, name)
            assert (one is None) == (other is None)
            assert one is None or one == pytest.approx(other, abs=1e-12)
    assert now.xcom[:2] != pytest.approx(end.xcom[:2], abs=1e-12)  # of a floor that moves: documented
    still = snapshot_of(pushed.state)
    assert still.xcom == pytest.approx(trajectory_of(pushed).at(1e9).xcom, abs=1e-8)


def test_scenery_has_sizes_patches_and_loads_where_they_are(pushed, tilted, acting):
    assert scenery_of(pushed.state.model, pushed.disturbances).projectile_size == pytest.approx(acting.block.size)
    scenery = scenery_of(tilted.state.model, tilted.disturbances)
    assert scenery.moving_floor
    assert (scenery.patches[0].x, scenery.patches[0].y, scenery.patches[0].mu) == ((-0.5, 0.5), (-1.0, 0.0), 0.1)
    # Each load is relative to the trunk's centre of mass with the loads before it.
    bare = acting.pack.on(trajectory_of(pushed).model)
    com = np.zeros(3)
    for load, box in zip((acting.pack, acting.purse), scenery.loads, strict=True):
        place = com + np.array(load.position)  # in the trunk's link frame, which loads do not move
        assert np.add(tilted.state.model.root.com, box.center) == pytest.approx(place, abs=1e-12)
        com = np.array(bare.root.com)
    assert scenery.loads[1].size == pytest.approx((0.1, 0.1, 0.1))  # a kilogram of water
