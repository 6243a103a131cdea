"""Every metric again, longhand, of rows that make no sense: each number of its own, on a floor that moves and tilts.

What is measured of them must be what the definitions in ``biped.metrics.registry`` say, by NumPy and SciPy.
"""

import math

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from biped import Body, ContactPoint, Model, SetPoint, floating, revolute
from biped.metrics import measure
from biped.metrics.kernels.support import fill_foot_wrenches
from biped.metrics.timeseries import series_of
from contact.modes import NONE, STICKING

from .rows import Rows

pytestmark = pytest.mark.jit_off

N = 40
#: The points of each foot, and one of no foot that may touch.
FEET = {"left": ("l0", "l1", "l2", "l3"), "right": ("r0", "r1", "r2", "r3")}
HAND = ("h0",)
SINCE = 7


def two_feet() -> Model:
    inertia = ((0.1, 0.0, 0.0), (0.0, 0.12, 0.0), (0.0, 0.0, 0.11))
    bodies = [Body("trunk", 8.0, inertia, (0.0, 0.0, 0.0), floating("root", (0.0, 0.0, 1.0)))]
    points = [ContactPoint("h0", "trunk", (0.3, 0.0, 0.0))]
    for side, (name, corners) in zip((-1.0, 1.0), FEET.items(), strict=True):
        joint = revolute(f"{name}_ankle", (0.0, 1.0, 0.0), (0.0, 0.2 * side, -0.9))
        bodies.append(Body(name, 2.0, inertia, (0.0, 0.0, 0.0), joint, "trunk"))
        points += [ContactPoint(p, name, (x, y, -0.1)) for p, (x, y) in zip(corners, SQUARE, strict=True)]
    return Model("two-feet", tuple(bodies), tuple(points), (), (0.4, -0.3, -9.5), tuple(FEET))


SQUARE = ((-0.1, -0.05), (-0.1, 0.05), (0.1, 0.05), (0.1, -0.05))


class Random:
    def __init__(self, seed: int, platform: bool) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.model = two_feet()
        self.rows = rows = Rows(self.model, np.cumsum(rng.uniform(0.01, 0.03, N)), platform)
        for name in rows.names[1:]:
            rows[name] = rng.normal(size=N)
        self.turns = self.quaternions("root", 0.3)
        self.moves = platform
        self.origin, self.R = np.zeros((N, 3)), np.tile(np.eye(3), (N, 1, 1))
        if platform:
            self.R = self.quaternions("platform", 0.2).as_matrix()
            self.origin = np.cumsum(0.01 * rng.normal(size=(N, 3)), axis=0)
            rows.array[:, self.at("platform_x")] = self.origin
        self.stand()
        rows["com_z"] += 2.0
        for name, size in (("com_x", 0.15), ("com_y", 0.15), ("momentum_px", 0.3), ("momentum_py", 0.3)):
            rows[name] *= size  # so that it falls in some rows and not in others
        rows["newton_iterations"] = rng.integers(0, 9, N)
        self.series, self.time = rows.series(), rows["time"]

    def at(self, name, width=3):
        first = self.rows.names.index(name)
        return slice(first, first + width)

    def of(self, name, width=3):
        return self.rows.array[:, self.at(name, width)]

    def quaternions(self, name, size):
        turns = Rotation.from_rotvec(size * self.rng.normal(size=(N, 3)))
        sign = self.rng.choice([-1.0, 1.0], N)[:, None]
        self.rows.array[:, self.at(f"{name}_qw", 4)] = sign * np.roll(turns.as_quat(), 1, axis=1)
        return turns

    def stand(self):
        """Feet that come down and lift off, with forces mostly upwards; one row is aloft, one hardly loaded."""
        for foot, points in {**FEET, "hand": HAND}.items():
            middle = np.array([0.0, {"left": -0.2, "right": 0.2, "hand": 0.0}[foot], 0.0])
            place = middle + np.cumsum(0.02 * self.rng.normal(size=(N, 3)), axis=0)
            down = np.repeat(self.rng.random(N // 4) < 0.7, 4)
            for k, point in enumerate(points):
                corner = np.array([*SQUARE[k], 0.0])
                self.rows.array[:, self.at(f"contact_{point}_x")] = (
                    place + corner + 0.003 * self.rng.normal(size=(N, 3))
                )
                known = down & (self.rng.random(N) < 0.8)  # of the others only the force tells
                self.rows[f"contact_{point}_mode"] = np.where(known, self.rng.choice([2, 4], N), NONE)
                force = 20.0 * self.rng.normal(size=(N, 3)) + (0.0, 0.0, 30.0)
                force[~down | (self.rng.random(N) < 0.2)] = 0.0
                self.rows.array[:, self.at(f"contact_{point}_fx")] = force
        for point in ("l0", "l2", "r1"):
            self.rows[f"contact_{point}_mode"][-N // 4 :] = STICKING
        for point in self.points:
            self.rows[f"contact_{point}_mode"][12] = NONE
            self.rows.array[12, self.at(f"contact_{point}_fx")] = 0.0
            self.rows.array[20, self.at(f"contact_{point}_fx")] *= 0.001

    @property
    def points(self):
        return self.model.contact_names

    def place(self, k, point):
        return self.of(f"contact_{point}_x")[k]

    def force(self, k, point):
        return self.of(f"contact_{point}_fx")[k]

    def in_floor(self, k, p):
        return self.R[k].T @ (p - self.origin[k])

    def is_down(self, k, point):
        return self.rows[f"contact_{point}_mode"][k] != NONE or self.R[k][:, 2] @ self.force(k, point) > 0.0

    def pressed(self, k):
        found = [self.in_floor(k, self.place(k, p))[:2] for p in self.points if self.is_down(k, p)]
        return np.reshape(found, (-1, 2))

    def base(self, k):
        groups = [*FEET.values(), HAND]
        found = [self.place(k, p)[:2] for group in groups for p in group if any(self.is_down(k, q) for q in group)]
        return np.reshape(found, (-1, 2))


def margin(points, at):
    """Signed distance to the hull's boundary; the points are in general position."""
    if len(points) == 0 or not np.isfinite(at).all():
        return math.nan
    if len(points) < 3:
        return -min(distance(a, b, at) for a in points for b in points)
    hull = ConvexHull(points)
    corners = points[hull.vertices]
    away = min(distance(a, b, at) for a, b in zip(corners, np.roll(corners, 1, axis=0), strict=True))
    return away if (hull.equations @ (*at, 1.0)).max() <= 0.0 else -away


def distance(a, b, p):
    along = np.clip((p - a) @ (b - a) / max((b - a) @ (b - a), 1e-300), 0.0, 1.0)
    return np.linalg.norm(a + along * (b - a) - p)


@pytest.fixture(scope="module", params=[(9, True), (10, True), (11, False)], ids=["moving", "moving too", "at rest"])
def random(request):
    return Random(*request.param)


def equal(table, names, expected):
    assert np.allclose(table[list(names)].to_numpy(), expected, rtol=1e-9, atol=1e-12, equal_nan=True)


def test_forces_and_centres_of_pressure(random):
    least = 0.01 * random.model.total_mass * np.linalg.norm(random.model.gravity)
    loaded = 0
    for k in range(N):
        row = random.series.iloc[[k]]
        forces = [random.force(k, p) for p in random.points]
        places = [random.in_floor(k, random.place(k, p)) for p in random.points]
        normals = [(random.R[k].T @ f)[2] for f in forces]
        equal(row, ("grf_x", "grf_y", "grf_z"), [np.sum(forces, axis=0)])
        equal(row, ("grf_normal",), sum(normals))
        for foot, points in FEET.items():
            equal(row, (f"grf_normal_{foot}",), sum((random.R[k].T @ random.force(k, p))[2] for p in points))
        pressed = random.pressed(k)
        equal(row, ("points_down",), len(pressed))
        equal(row, ("support_area",), ConvexHull(pressed).volume if len(pressed) > 2 else 0.0)
        centre = np.full(2, math.nan)
        if sum(normals) > least:
            centre = np.average(places, axis=0, weights=normals)[:2]
            loaded += 1
        equal(row, ("cop_x", "cop_y"), [centre])
        equal(row, ("cop_margin",), margin(pressed, centre))
    assert 10 < loaded <= N - 2


def test_zero_moment_points(random):
    m, time = random.model.total_mass, random.rows["time"]
    least, pushed = 0.01 * m * np.linalg.norm(random.model.gravity), 0
    for k in range(N):
        a, b = max(k - 1, 0), min(k + 1, N - 1)
        rate = [(random.of(f"momentum_{kind}")[b] - random.of(f"momentum_{kind}")[a]) / (time[b] - time[a])
                for kind in ("px", "lx")]  # fmt: skip
        force, R = rate[0] - m * np.array(random.model.gravity), random.R[k]
        com = random.of("com_x")[k] - random.origin[k]
        moments = [R.T @ (np.cross(com - R @ p, force) + rate[1]) for p in np.vstack([np.zeros(3), np.eye(3)[:2]])]
        A = np.transpose([moments[1] - moments[0], moments[2] - moments[0]])[:2]
        expected = np.full(2, math.nan)
        if force @ R[:, 2] > least:
            expected = np.linalg.solve(A, -moments[0][:2])
            pushed += 1
        row = random.series.iloc[[k]]
        equal(row, ("zmp_x", "zmp_y"), [expected])
        equal(row, ("zmp_margin",), margin(random.pressed(k), expected))
    assert pushed > 10


def test_pendulums(random):
    g = -random.model.gravity[2]
    table = random.rows.series()
    length = 1.0 - 0.9 * 4.0 / 12.0 + 0.0  # of the home configuration: masses 8 at 1 and 4 at 0.1, soles at 0
    for k in range(N):
        a, b = max(k - 1, 0), min(k + 1, N - 1)
        com, velocity = random.of("com_x")[k], random.of("momentum_px")[k] / random.model.total_mass
        n, o = random.R[k][:, 2], random.origin[k]
        below = np.array([*com[:2], o[2] - n[:2] @ (com[:2] - o[:2]) / n[2]])
        at, span = random.in_floor(k, below), random.rows["time"][b] - random.rows["time"][a]
        floor = ((random.origin[b] + random.R[b] @ at) - (random.origin[a] + random.R[a] @ at)) / span
        row = table.iloc[[k]]
        equal(row, ("com_x", "com_y", "com_z"), [com])
        equal(row, ("com_vx", "com_vy", "com_vz"), [velocity])
        for prefix, name, height in (("xcom", "margin_of_stability", length),
                                     ("capture_point", "capture_margin", com[2] - below[2])):  # fmt: skip
            ahead = com[:2] + math.sqrt(height / g) * (velocity - floor)[:2] if height > 0.0 else np.full(2, math.nan)
            equal(row, (f"{prefix}_x", f"{prefix}_y"), [ahead])
            equal(row, (name,), margin(random.base(k), ahead))


def test_sway_and_floor(random):
    for k in range(N):
        feet = [random.place(k, p) for points in FEET.values() for p in points]
        x, y, z = random.of("com_x")[k] - np.mean(feet, axis=0)
        row = random.series.iloc[[k]]
        equal(row, ("sway_x", "sway_y"), [[math.atan2(-y, z), math.atan2(x, z)]])
        tilt, shift = [math.nan] * 2, [math.nan] * 2
        if random.moves:
            tilt, shift = Rotation.from_matrix(random.R[k]).as_rotvec()[:2], random.origin[k, :2]
        equal(row, ("floor_tilt_x", "floor_tilt_y"), [tilt])
        equal(row, ("floor_x", "floor_y"), [shift])


@pytest.fixture(scope="module")
def measured(random):
    most = int(random.rows["newton_iterations"].max())
    return random.rows.measure(start_time=float(random.time[SINCE]), newton_max=most)


def test_least_and_last_margins(random, measured):
    late = random.series.iloc[SINCE:]
    for metric, column in (("margin_of_stability", "margin_of_stability"), ("capture_margin", "capture_margin")):
        assert measured[f"{metric}_min"] == late[column].min()
        assert measured[f"{metric}_end"] == pytest.approx(late[column].iloc[-1], nan_ok=True)
    assert measured["cop_margin_min"] == late["cop_margin"].min()
    assert measured["zmp_margin_min"] == late["zmp_margin"].min()
    assert measured["support_area_end"] == late["support_area"].iloc[-1]
    assert measured["peak_grf"] == late["grf_normal"].max()
    aloft = late["points_down"].to_numpy()[:-1] == 0
    assert measured["flight_time"] == pytest.approx(np.diff(late["time"])[aloft].sum())
    assert measured["flight_time"] > 0.0


def test_excursions_of_the_centre_of_mass_and_of_its_lean(random, measured):
    late = random.series.iloc[SINCE:]
    place = late[["com_x", "com_y"]].to_numpy() - random.origin[SINCE:, :2]
    assert measured["com_excursion"] == pytest.approx(np.linalg.norm(place - place[0], axis=1).max(), rel=1e-12)
    lean = late[["sway_x", "sway_y"]].to_numpy()
    assert measured["sway_angle_max"] == pytest.approx(np.linalg.norm(lean - lean[0], axis=1).max(), rel=1e-12)


def test_the_path_of_the_centre_of_pressure(random, measured):
    late = random.series.iloc[SINCE:]
    centre, time = late[["cop_x", "cop_y"]].to_numpy(), late["time"].to_numpy()
    steps = np.diff(centre, axis=0)
    both = np.isfinite(steps).all(axis=1)
    path, span = np.hypot(*steps[both].T).sum(), np.diff(time)[both].sum()
    there = centre[np.isfinite(centre).all(axis=1)]
    away = np.hypot(*(there - there.mean(axis=0)).T)
    area = math.pi * -2.0 * math.log(0.05) * math.sqrt(np.linalg.det(np.cov(there.T)))
    assert 0 < both.sum() < len(both)
    for name, expected in {
        "cop_path_length": path, "cop_mean_velocity": path / span, "cop_mean_distance": away.mean(),
        "cop_rms_distance": math.sqrt((away**2).mean()), "cop_range_ap": np.ptp(there[:, 0]),
        "cop_range_ml": np.ptp(there[:, 1]), "cop_area": area,
    }.items():  # fmt: skip
        assert measured[name] == pytest.approx(expected, rel=1e-9), name


@pytest.mark.parametrize("on_floor", [False, True])
def test_errors_from_the_set_point(random, on_floor):
    place, turn = np.array([0.3, -0.2, 0.5]), Rotation.from_rotvec([0.2, -0.1, 0.3])
    orientation = tuple(-np.roll(turn.as_quat(), 1))
    measured = random.rows.measure(
        start_time=float(random.time[SINCE]), set_point=SetPoint(tuple(place), orientation, on_floor)
    )
    wanted = np.tile(place, (N, 1))
    if on_floor:
        wanted[:, :2] = [(random.origin[k] + random.R[k] @ (*place[:2], 0.0))[:2] for k in range(N)]
    errors = {"position": random.of("root_x") - wanted, "orientation": (random.turns * turn.inv()).as_rotvec()}
    for name, error in errors.items():
        size = np.linalg.norm(error, axis=1)
        peak = SINCE + size[SINCE:].argmax()
        back = (-error[peak:] @ error[peak] / size[peak]).max()
        assert measured[f"peak_{name}_error"] == pytest.approx(size[peak])
        assert measured[f"{name}_overshoot"] == pytest.approx(max(back, 0.0))
        assert measured[f"{name}_error"] == pytest.approx(size[-N // 10 :].mean())
    assert measured["settling_time"] is None


def test_torques_powers_and_works(random, measured):
    time = random.time[SINCE:]
    joints = random.model.joint_names
    torque, rate, angle = (random.rows.array[SINCE:, [random.rows.names.index(f"{kind}_{joint}") for joint in joints]]
                           for kind in ("torque", "rate", "angle"))  # fmt: skip
    held, work = np.diff(time)[:, None], torque[:-1] * np.diff(angle, axis=0)
    squares = (torque[:-1] ** 2 * held).sum(axis=0) / (time[-1] - time[0])
    for j, joint in enumerate(joints):
        for name, expected in {
            "peak_torque": np.abs(torque[:, j]).max(), "peak_power": np.abs(torque[:, j] * rate[:, j]).max(),
            "rms_torque": math.sqrt(squares[j]), "positive_work": work[:, j][work[:, j] > 0.0].sum(),
            "negative_work": work[:, j][work[:, j] < 0.0].sum(),
        }.items():  # fmt: skip
            assert measured[f"{name}_{joint}"] == pytest.approx(expected), name
    for name, expected in {
        "peak_torque": np.abs(torque).max(), "peak_power": np.abs((torque * rate).sum(axis=1)).max(),
        "rms_torque": math.sqrt(squares.sum()), "positive_work": work[work > 0.0].sum(),
        "negative_work": work[work < 0.0].sum(),
    }.items():  # fmt: skip
        assert measured[name] == pytest.approx(expected), name


def test_forces_landings_and_steps_of_the_feet(random, measured):
    steps = 0
    for foot, points in FEET.items():
        force, time = random.series[f"grf_normal_{foot}"].to_numpy(), random.time
        down = [any(random.is_down(k, p) for p in points) for k in range(N)]
        middle = [np.mean([random.in_floor(k, random.place(k, p)) for p in points], axis=0) for k in range(N)]
        left, landings = middle[SINCE], []
        for k in range(SINCE + 1, N):
            if down[k] and not down[k - 1]:
                landings.append(time[k])
                steps += np.linalg.norm(middle[k] - left) > 0.05
            if down[k - 1] and not down[k]:
                left = middle[k - 1]
        after = [force[k] for k in range(SINCE, N) if any(0.0 <= time[k] - at <= 0.05 for at in landings)]
        assert measured[f"impact_peak_{foot}"] == (max(after) if after else None)
        assert measured[f"peak_grf_{foot}"] == max(force[SINCE:].max(), 0.0)
        given = (force[SINCE + 1 :] * np.diff(time[SINCE:])).sum()
        assert measured[f"mean_grf_{foot}"] == pytest.approx(given / (time[-1] - time[SINCE]))
    assert measured["footsteps"] == steps > 0


def test_places_where_points_stood_and_crept_to(random, measured):
    moved, crept = [], []
    for point in random.points:
        at = np.array([random.in_floor(k, random.place(k, point)) for k in range(N)])
        first = next((k for k in range(N) if random.is_down(k, point)), None)
        if first is not None:
            moved.append(np.linalg.norm(at[-1] - at[first]))
        if (random.rows[f"contact_{point}_mode"][-N // 4 :] == STICKING).all():
            crept.append(np.hypot(*(at[-1] - at[-N // 4])[:2]))
    assert measured["foot_displacement"] == pytest.approx(max(moved))
    assert measured["foot_creep"] == pytest.approx(max(crept))
    assert len(crept) >= 3


def test_whether_it_falls_at_the_end(random):
    """Of the run up to some row: outside of the base, also less the mean of zero moment point less centre in 0.1 s.

    The moment is in the floor's axes as it stands at the end. A run's last rate is one-sided.
    """
    found = set()
    lever = math.sqrt((1.0 - 0.9 * 4.0 / 12.0) / 9.5)
    for end in range(4, N + 1):
        rows = random.rows.array[:end]
        table = series_of(random.rows.layout, rows)
        base, last = random.base(end - 1), table.iloc[-1]
        stopped = [last[f"com_{axis}"] + lever * last[f"com_v{axis}"] for axis in "xy"]
        both = last[["xcom_x", "xcom_y"]].to_numpy(), np.array(stopped)  # as the floor goes on, or stops at once
        late = (random.time[end - 1] - random.time[:end]) <= 0.1
        off = (table[["zmp_x", "zmp_y"]].to_numpy() - table[["cop_x", "cop_y"]].to_numpy())[late]
        off = off[np.isfinite(off).all(axis=1)]
        falls, leans = True, False
        if len(base) and max(margin(base, ahead) for ahead in both) >= 0.0:
            falls = False
        elif len(base) and len(off):
            turned = random.R[end - 1] @ (*off.mean(axis=0), 0.0)
            falls, leans = not max(margin(base, ahead - turned[:2]) for ahead in both) >= 0.0, True
        assert (measure(random.rows.layout, rows)["time_outside"] > 0.0) == falls, end
        found.add((falls, leans))
    assert {(False, False), (False, True), (True, True)} <= found


def test_books(random, measured):
    assert measured["ledger_residual"] == np.abs(random.rows["ledger_residual"]).max()
    for name, column in (("momentum_defect", "px"), ("angular_momentum_defect", "lx")):
        assert measured[name] == pytest.approx(np.linalg.norm(random.of(f"momentum_defect_{column}"), axis=1).max())
    assert measured["newton_max"] == random.rows["newton_iterations"].max()


def test_wrenches_of_the_feet_are_those_of_their_points(random):
    places = random.rows.layout.places
    wrenches = np.empty((N, 2, 9))
    fill_foot_wrenches(random.rows.array, places, 2, wrenches)
    kept = 0
    for i, points in enumerate(FEET.values()):
        for k in range(N):
            force, centre, moment = np.split(wrenches[k, i], 3)
            forces = np.array([random.force(k, p) for p in points])
            at = np.array([random.place(k, p) for p in points])
            loads = forces @ random.R[k][:, 2]
            assert force == pytest.approx(forces.sum(axis=0), abs=1e-9)
            assert moment + np.cross(centre, force) == pytest.approx(np.cross(at, forces).sum(axis=0), abs=1e-9)
            if loads.sum() > 0.0:
                expected = np.average(at, axis=0, weights=loads)
            else:
                expected = wrenches[k - 1, i, 3:6] if k else at.mean(axis=0)
                kept += 1
            assert centre == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert kept > 0
