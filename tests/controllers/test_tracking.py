"""Tracking of the workspace controller: the printed error dynamics, with the feet held (Wendlandt 1997, 4.2.4).

The feet are held by constraints of Pinocchio's dynamics (``Stance``). The closed loop without ticks is integrated by
a Runge-Kutta method; the error is compared with the solution of its differential equation.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from biped import InputError, Model, Signal, State, crouching, human, simulate
from controllers import SetPointMotion, SetPointPath, WorkspaceController, WorkspaceGains
from controllers.kernels.set_point import turn_factors, turn_rates
from tests.refusals import refuses

SWAYING = SetPointPath(
    x=Signal.sine(0.03, 0.7), z=Signal.step(-0.1, 0.0, 0.6), roll=Signal.sine(0.2, 0.9),
    pitch=Signal.step(0.4, 0.05, 0.8),
)  # fmt: skip


def rotation(q):
    return Rotation.from_quat(q, scalar_first=True)


class TestTheSetPoint:
    def test_its_rates_are_the_derivatives_of_its_turn(self):
        """ω̂ = Ṙ Rᵀ and its derivative, by central differences of a path that goes through small and large angles."""

        def phi(t):
            return np.array([0.9 * np.sin(1.3 * t), 1.4 * t**2, -0.7 * t])

        def turn(t):
            return Rotation.from_rotvec(phi(t))

        def spin(t, h=1e-5):
            return (turn(t + h) * turn(t - h).inv()).as_rotvec() / (2.0 * h)

        for t in (1e-3, 0.03, 0.07, 0.1, 0.4, 1.1):
            h = 1e-4
            rate = np.array([1.17 * np.cos(1.3 * t), 2.8 * t, -0.7])
            curve = np.array([-1.521 * np.sin(1.3 * t), 2.8, 0.0])
            found, found_rate = turn_rates(tuple(phi(t)), tuple(rate), tuple(curve))
            assert found == pytest.approx(spin(t), abs=2e-9)
            assert found_rate == pytest.approx((spin(t + h) - spin(t - h)) / (2.0 * h), abs=2e-7)

    def test_its_series_meet_its_quotients(self):
        below, above = turn_factors(1e-2 - 1e-15), turn_factors(1e-2)
        assert below == pytest.approx(above, rel=1e-8)

    def test_a_recorded_table_is_what_it_was_recorded_from(self, tmp_path):
        times = np.linspace(0.0, 1.0, 201)
        place = np.column_stack([0.1 * np.sin(times), 0.05 * times, 1.1 - 0.1 * times**2])
        turned = Rotation.from_rotvec(np.outer(times, [0.3, -0.2, 0.1])) * Rotation.from_rotvec([0.0, 0.2, 0.0])
        table = np.column_stack([times, place, turned.as_quat(scalar_first=True)])
        np.savetxt(tmp_path / "trunk.csv", table, delimiter=",", header="time,x,y,z,qw,qx,qy,qz", comments="")
        path = SetPointMotion("recorded", start=0.4, file=str(tmp_path / "trunk.csv")).path
        assert path.at(0.4 + 0.7124)[:3] == pytest.approx(
            [0.1 * np.sin(0.7124), 0.05 * 0.7124, -0.1 * 0.7124**2], abs=1e-7
        )
        assert path.at(0.4 + 0.7124)[3:] == pytest.approx(0.7124 * np.array([0.3, -0.2, 0.1]), abs=1e-9)

    @pytest.mark.parametrize(("arguments", "message"), [
        ({"shape": "circle"}, "one of none, step, return, sine, recorded"),
        ({"shape": "step"}, "set displacement or turn"),
        ({"shape": "recorded"}, "give a CSV file with columns"),
        ({"shape": "recorded", "file": "nowhere.csv"}, "nowhere.csv: it cannot be read"),
        ({"displacement": (0.0, float("nan"), 0.0)}, "3 finite numbers"),
        ({"rise": 0.0}, "above zero"),
    ])  # fmt: skip
    def test_what_cannot_be_is_refused(self, arguments, message):
        with pytest.raises(InputError, match=message):
            SetPointMotion(**arguments)

    def test_a_table_without_a_column_is_refused_with_its_name(self, tmp_path):
        (tmp_path / "trunk.csv").write_text("time,x,y\n0,0,0\n1,1,1\n")
        with pytest.raises(InputError, match=r"trunk\.csv: no column 'z'"):
            SetPointPath.from_csv(tmp_path / "trunk.csv")


def spd(rng, size):
    root = rng.normal(size=(3, 3))
    return size * (np.eye(3) + 0.3 * root @ root.T)


@refuses(
    (((50, 5, 0), (4, 50, 0), (0, 0, 200)), "must be finite and symmetric"),
    (((50, 60, 0), (60, 50, 0), (0, 0, 200)), "positive definite; its smallest eigenvalue is -10"),
    (((50, 0), (0, 50)), "three finite numbers, zero or above"),
    (((50, 0, 0), (0, float("nan"), 0), (0, 0, 1)), "three finite numbers"),
)
def test_matrices_that_are_no_gains_are_refused(gain):
    WorkspaceGains(kp_position=gain)


def test_a_diagonal_matrix_is_the_three_numbers():
    given = WorkspaceGains(kp_position=np.diag([50.0, 50.0, 200.0]))
    assert (given.matrix("kp_position") == WorkspaceGains().matrix("kp_position")).all()


#: [kg] and [kg m²] of feet that stay where they are, whatever the legs do.
ANVIL, ANVIL_INERTIA = 1e7, 1e6
GAINS = WorkspaceGains(
    kp_position=((60.0, 12.0, -5.0), (12.0, 50.0, 8.0), (-5.0, 8.0, 180.0)),
    kd_position=((9.0, 1.0, 0.5), (1.0, 8.0, -1.0), (0.5, -1.0, 15.0)),
    kp_orientation=((70.0, 10.0, 4.0), (10.0, 60.0, -6.0), (4.0, -6.0, 50.0)),
    kd_orientation=((9.0, 1.0, 0.0), (1.0, 8.0, 1.0), (0.0, 1.0, 7.0)),
)
TARGET = (0.02, -0.03, 1.06)
#: [s]
END = 0.4
PERIODS = (4e-3, 2e-3, 1e-3)


def anvil_footed() -> Model:
    """Return the human without gravity on immovable (very heavy) feet, as the controller assumes."""
    person = human()
    block = tuple(tuple(ANVIL_INERTIA * float(i == j) for j in range(3)) for i in range(3))
    bodies = [replace(part, mass=ANVIL, inertia=block) if part.name in person.feet else part for part in person.bodies]
    return Model("anvil-footed", tuple(bodies), gravity=(0.0, 0.0, 0.0), feet=person.feet)


def errors_of(period, path, turned=(1.0, 0.0, 0.0, 0.0)):
    """Return e_c, ė_c, q_e^v, ω_e (12,) at the start, at rest in a crouch, and e_c, q_e^v (6,) at END."""
    controller = WorkspaceController(TARGET, turned, GAINS, period=period, motion=path, big_base=1e9)
    state = State.at(anvil_footed(), crouching(human()).q)
    frame = simulate(state.model, controller, state=state, duration=END, step=period / 2.0).frame
    q = frame[["body_x", "body_y", "body_z", "body_qw", "body_qx", "body_qy", "body_qz"]].to_numpy()
    start, end = error(q[0], path.at(0.0), turned), error(q[-1], path.at(END), turned)
    rate = (path.at(1e-6) - path.at(0.0)) / 1e-6
    Re = rotation(q[0, 3:]) * (Rotation.from_rotvec(path.at(0.0)[3:]) * rotation(turned)).inv()
    return np.concatenate([start[:3], -rate[:3], start[3:], -Re.apply(rate[3:])]), end  # (4.20) with ω = 0


def error(q, moved, turned):
    wanted = Rotation.from_rotvec(moved[3:]) * rotation(turned)
    return np.concatenate([q[:3] - TARGET - moved[:3], (rotation(q[3:]) * wanted.inv()).as_quat(canonical=True)[:3]])


def printed_orientation_error(start):
    """Return q_e^v at END by (4.26) with (4.23), from q_e^v and ω_e."""

    def rate(_, y):
        e, omega = y[:3], y[3:]
        back = GAINS.matrix("kp_orientation") @ e + GAINS.matrix("kd_orientation") @ omega
        return np.concatenate([0.5 * (np.sqrt(1.0 - e @ e) * omega - np.cross(e, omega)), -back])

    return solve_ivp(rate, (0.0, END), start, rtol=1e-11, atol=1e-13).y[:3, -1]


def linear_error(start, kp, kd, coupling):
    """Return the first half of expm([0 c; −K_p −K_v] t) start: (4.14) with c = 1, (4.27) with c = ½."""
    A = np.block([[np.zeros((3, 3)), coupling * np.eye(3)], [-GAINS.matrix(kp), -GAINS.matrix(kd)]])
    return (expm(END * A) @ start)[:3]


@pytest.mark.parametrize("path", [SetPointPath(), SWAYING], ids=["at-rest", "moving"])
def test_the_errors_are_those_of_the_printed_error_dynamics(path):
    """The closed loop's errors converge to (4.14) and (4.26) in proportion to the control period."""
    runs = [errors_of(period, path) for period in PERIODS]
    start = runs[0][0]
    expected = [linear_error(start[:6], "kp_position", "kd_position", 1.0), printed_orientation_error(start[6:])]
    off = np.array([np.abs(np.reshape(end, (2, 3)) - expected).max(axis=1) for _, end in runs])
    assert np.abs(np.reshape(start, (4, 3))[[0, 2]]).max(axis=1) == pytest.approx([0.03, 0.0436], abs=1e-3)
    assert off[:-1] / off[1:] == pytest.approx(np.full((2, 2), 2.0), abs=0.02)
    without_ticks = 2.0 * np.reshape(runs[2][1], (2, 3)) - np.reshape(runs[1][1], (2, 3))  # Richardson
    assert np.abs(without_ticks - expected).max() < 1e-6


def test_small_errors_of_the_orientation_are_those_of_the_linearization():
    """Errors of a milliradian follow (4.27), up to their squares and the control period."""
    turned = (rotation(crouching(human()).q[3:7]) * Rotation.from_rotvec([1e-3, -5e-4, 8e-4])).as_quat(
        scalar_first=True
    )
    found = [errors_of(period, SetPointPath(), tuple(turned)) for period in PERIODS[1:]]
    expected = linear_error(found[0][0][6:], "kp_orientation", "kd_orientation", 0.5)
    without_ticks = 2.0 * found[1][1][3:] - found[0][1][3:]
    assert np.abs(expected).max() > 1e-5
    assert np.abs(without_ticks - expected).max() < 1e-2 * np.abs(expected).max()


def test_without_feed_forward_it_would_lag():
    place = crouching(human()).q
    path = SetPointPath(z=Signal.step(-0.1, 0.0, END), pitch=Signal.step(0.3, 0.0, END))
    gaps = []
    for fed in (True, False):
        told = path if fed else staircase(path)
        controller = WorkspaceController(tuple(place[:3]), tuple(place[3:7]), GAINS, motion=told, big_base=1e9)
        frame = simulate(
            anvil_footed(), controller, state=State.at(anvil_footed(), place), duration=END, step=1e-3
        ).frame
        wanted = place[2] + path.z(frame["time"])
        gaps.append(np.abs(frame["body_z"] - wanted).max())
    assert gaps[0] < 5e-4
    assert gaps[1] > 20.0 * gaps[0]


def staircase(path):
    times = np.arange(0.0, END, 2e-3)
    return SetPointPath(
        **{axis: Signal(times, np.asarray(getattr(path, axis)(times))[:, None]) for axis in ("z", "pitch")}
    )


def test_a_run_tells_where_its_set_point_is():
    path = SetPointPath(x=Signal.step(0.05, 0.1, 0.2), yaw=Signal.step(0.2, 0.1, 0.2))
    place = crouching(human()).q
    controller = WorkspaceController(tuple(place[:3]), tuple(place[3:7]), motion=path)
    run = simulate(anvil_footed(), controller, state=State.at(anvil_footed(), place), duration=0.4, step=1e-3)
    row = run.frame[run.frame["time"] == 0.2].iloc[0]
    assert row["target_x"] == pytest.approx(place[0] + 0.025, abs=1e-12)  # half of a step with the least jerk
    assert run.units["target_x"] == "m"
    end = run.frame[["target_qw", "target_qx", "target_qy", "target_qz"]].iloc[-1].to_numpy()
    turned = (Rotation.from_rotvec([0.0, 0.0, 0.2]) * rotation(place[3:7])).as_quat(scalar_first=True)
    assert end == pytest.approx(turned, abs=1e-12)
    assert run.set_point.position == pytest.approx([place[0] + 0.05, *place[1:3]], abs=1e-12)
    assert run.set_point.orientation == pytest.approx(turned, abs=1e-12)


def test_a_matrix_that_is_diagonal_gives_the_same_run_bit_for_bit():
    person = human()
    runs = [
        simulate(person, WorkspaceController(gains=gains), duration=0.1, state=crouching(person))
        for gains in (WorkspaceGains(), WorkspaceGains(kp_position=np.diag([50.0, 50.0, 200.0])))
    ]
    assert runs[0].frame.equals(runs[1].frame)
