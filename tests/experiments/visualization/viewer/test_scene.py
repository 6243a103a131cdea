import numpy as np
import pytest

from biped.metrics import series
from biped.simulation.collapse import collapse
from contact.modes import STICKING
from experiments.catalogue.registry import experiment_named
from experiments.visualization.figures.labels import joint_motions
from experiments.visualization.viewer import colors
from experiments.visualization.viewer.loaded_runs import LoadedRun
from experiments.visualization.viewer.marks import (
    LEAST_FORCE,
    MOST_LENGTH,
    contact_arrows,
    push_arrows,
    reaction_arrows,
)
from experiments.visualization.viewer.mesh import linear
from experiments.visualization.viewer.model_view import line_ends
from experiments.visualization.viewer.page import Page
from experiments.visualization.viewer.playback import Playback
from experiments.visualization.viewer.plots import plots_of, pooled
from experiments.visualization.viewer.serve import serving
from experiments.visualization.viewer.trajectory import trajectory_of
from formulations.mechanism import LinearSpring, Mechanism, ry, tx, tz
from formulations.mechanism.drawing import SPRING


@pytest.fixture(scope="module")
def shown(pushed, tilted, acting):
    """Return a page of two runs, without a browser."""
    runs = [
        LoadedRun("one", pushed, trajectory_of(pushed, [acting.push, acting.wind])),
        LoadedRun("two", tilted, trajectory_of(tilted)),
    ]
    with serving("127.0.0.1", 0) as server:
        yield Page(server, runs, Playback(0.0, 0.3, playing=False))


def node(page, path):
    return page.server.scene.get_handle_by_name(path)


def test_contact_arrows_are_the_forces(pushed):
    snapshot = trajectory_of(pushed).at(0.2)
    ends, tints = contact_arrows(snapshot, scale=0.003)
    shown = np.linalg.norm(snapshot.contact_force, axis=1) >= LEAST_FORCE
    assert shown.any()
    assert ends[:, 0] == pytest.approx(snapshot.contact_place[shown])
    assert ends[:, 1] - ends[:, 0] == pytest.approx(0.003 * snapshot.contact_force[shown])
    long, _ = contact_arrows(snapshot, scale=10.0)
    assert np.linalg.norm(long[:, 1] - long[:, 0], axis=1) == pytest.approx(MOST_LENGTH)
    assert [tuple(tint) for tint in tints] == [colors.MODES[mode - 1] for mode in snapshot.contact_mode[shown]]
    assert colors.MODES[STICKING - 1] in map(tuple, tints)


def test_reaction_arrows_are_the_net_force_at_the_centre_of_pressure(pushed, tilted):
    for run in (pushed, tilted):
        snapshot = trajectory_of(run).at(0.2)
        everywhere, left, right = np.arange(8), np.arange(4), np.arange(4, 8)
        ((begin, end),) = reaction_arrows(snapshot, [everywhere], scale=0.001)
        assert begin[:2] == pytest.approx(snapshot.cop[:2], abs=2e-3)
        assert end - begin == pytest.approx(0.001 * snapshot.contact_force.sum(axis=0))
        feet = reaction_arrows(snapshot, [left, right], scale=0.001)
        assert (feet[:, 1] - feet[:, 0]).sum(axis=0) == pytest.approx(end - begin)


def test_push_arrows_are_the_pushes_and_end_where_they_push(pushed, acting):
    trajectory = trajectory_of(pushed, [acting.push, acting.wind])
    assert not len(push_arrows(trajectory.at(0.02)))
    snapshot = trajectory.at(0.14)
    ends = push_arrows(snapshot, scale=0.004)
    assert ends[:, 1] == pytest.approx(snapshot.push_place)
    assert ends[:, 1] - ends[:, 0] == pytest.approx(0.004 * snapshot.push_force)


def test_push_arrows_are_not_inside_of_the_body(pushed, acting):
    snapshot = trajectory_of(pushed, [acting.push]).at(0.14)
    radius = 0.13
    directions = np.random.default_rng(1).normal(size=(4000, 3))
    skin = radius * directions / np.linalg.norm(directions, axis=1)[:, np.newaxis] + acting.push.point
    (arrow,) = push_arrows(snapshot, 0.002, {0: skin})
    back = snapshot.push_force[0] / np.linalg.norm(snapshot.push_force[0])
    assert arrow[1] - arrow[0] == pytest.approx(0.002 * snapshot.push_force[0])
    assert arrow[1] == pytest.approx(snapshot.push_place[0] - radius * back, abs=0.01)


def test_what_is_shown_is_the_snapshot(shown):
    page = shown
    page.playback.seek(0.123)
    page.frame(0.0)
    for k, loaded in enumerate(page.runs):
        snapshot = loaded.trajectory.at(0.123)
        for body in ("trunk", "left_shank", "right_foot"):
            handle, i = node(page, f"/world/run_{k}/{body}"), loaded.trajectory.model.body_index(body)
            assert handle.position == pytest.approx(snapshot.position[i], abs=2e-5)
            assert abs(handle.wxyz @ snapshot.quaternion[i]) == pytest.approx(1.0, abs=1e-9)
    assert node(page, "/world/run_0/projectile").position == pytest.approx(
        page.runs[0].trajectory.at(0.123).projectile[:3], abs=2e-5
    )
    tilt = page.runs[1].trajectory.at(0.123).platform
    assert node(page, "/world/run_1/platform").wxyz == pytest.approx(tilt[3:], abs=2e-5)
    page.scene.switch("contact forces", True)
    arrows = node(page, "/world/run_0/contact_forces")
    assert arrows.points == pytest.approx(contact_arrows(page.runs[0].trajectory.at(0.123))[0], abs=1e-6)
    assert node(page, "/world/run_0/pushes").visible
    assert not node(page, "/world/run_1/com").visible or page.scene.layers["centre of mass"]


def test_nothing_is_sent_while_nothing_changes(shown):
    page = shown
    page.playback.seek(0.05)
    page.frame(0.0)
    buffer = page.server._websock_server._broadcast_buffer
    messages = buffer.message_counter
    for k in range(5):
        page.frame(0.1 * k)
    assert buffer.message_counter == messages
    page.playback.seek(0.06)
    page.frame(1.0)
    assert messages < buffer.message_counter < messages + 100


def test_lines_follow_what_they_are_tied_to():
    bob = ry("a", tz(-1.0, name="bob", mass=1.0))
    spring = Mechanism("m", [bob, tx(0.5, name="post")], potentials=[LinearSpring("bob", "post", 2.0)])
    motion = spring.simulate(0.2, 0.01, q={"a": 0.5})
    trajectory = trajectory_of(motion.run)
    with serving("127.0.0.1", 0) as server:
        page = Page(server, [LoadedRun("m", motion.run, trajectory)], Playback(0.0, 0.2, playing=False))
        for moment in (0.0, 0.13):
            page.playback.seek(moment)
            page.frame(0.0)
            lines = node(page, "/world/run_0/lines")
            assert lines.points == pytest.approx(line_ends(spring.model, trajectory.at(moment)), abs=1e-5)
            bob_now = spring.frame("bob").position(motion.q[round(moment / 0.01)])
            assert lines.points[1] == pytest.approx(np.array([bob_now, (0.5, 0, 0)]), abs=1e-5)
        assert (lines.colors[1] == linear(np.array(SPRING) * 255.0)).all()


def test_a_run_that_is_over_is_told(standing, pushed):
    short = standing(duration=0.1)
    runs = [LoadedRun("long", pushed, trajectory_of(pushed)), LoadedRun("short", short, trajectory_of(short))]
    with serving("127.0.0.1", 0) as server:
        page = Page(server, runs, Playback(0.0, 0.3, playing=False))
        for moment, told in ((0.1, 0), (0.3, 1), (0.0, 0)):
            page.playback.seek(moment)
            page.frame(0.0)
            assert page._names.content.count("ended at 0.1 s") == told


@pytest.mark.parametrize("apart", [1.0, -0.5, 4.0])
def test_floors_that_move_do_not_lie_under_the_next_figure(tilted, apart):
    trajectory = trajectory_of(tilted)
    runs = [LoadedRun("one", tilted, trajectory), LoadedRun("two", tilted, trajectory)]
    with serving("127.0.0.1", 0) as server:
        page = Page(server, runs, Playback(0.0, 0.3, playing=False), apart)
        for k in range(2):
            plate, grid = (node(page, f"/world/run_{k}/platform/{part}") for part in ("plate", "floor"))
            breadth = np.ptp(plate.vertices[:, 1])
            assert breadth == pytest.approx(min(abs(apart), 3.0))
            assert (grid.width, grid.height) == pytest.approx((3.0, breadth))


def test_steps_go_to_the_recorded_rows(shown):
    times = shown.runs[0].trajectory.times
    shown.playback.seek(times[10] + 0.0005)
    for button, wanted in (("◀", times[10]), ("◀", times[9]), ("▶", times[10]), ("|◀", 0.0), ("▶|", 0.3)):
        shown.step(button)
        assert shown.playback.time == pytest.approx(wanted), button


def test_plots_are_of_the_run(pushed):
    plots = {plot.title: plot for plot in plots_of(pushed)}
    frame = pushed.frame
    knee = next(c for c in plots["Joint torques, right leg, torque [N·m]"].curves if c.label == "knee flexion")
    _, sign = joint_motions(pushed.state.model)["right_knee_pitch"]
    assert (knee.y == sign * frame["torque_right_knee_pitch"]).all()
    for curve, side in zip(
        plots["Vertical ground reaction force (GRF), force [N]"].curves, ("left", "right"), strict=True
    ):
        forces = [f"contact_{side}_{k}_fz" for k in range(1, 5)]
        assert curve.y[1:] == pytest.approx(frame[forces].sum(axis=1)[1:])
    first = plots_of(pushed)[0]
    assert first.title == "Margins; positive inside, margin [mm]"
    margin = next(c for c in first.curves if c.label == "XCoM")
    np.testing.assert_allclose(margin.y, 1e3 * series(pushed)["margin_of_stability"])


def test_pooling_keeps_peaks():
    time = np.linspace(0.0, 1.0, 1001)
    values = np.zeros(1001)
    values[437] = 900.0
    grid = np.linspace(0.0, 2.0, 51)
    pool = pooled(time, values, grid)
    assert np.nanmax(pool) == 900.0
    assert np.isnan(pool[grid > 1.0 + 0.02]).all()


def test_the_cursor_follows_the_slider_while_it_is_paused(shown):
    page = shown
    page.playback.play(False)
    page._slider._impl.value = 0.2  # moved by a person
    page.playback.seek(0.2)
    page.frame(2.0)
    grid, *_, line = page._plots[0]._handle.data
    assert grid[np.isfinite(line)] == pytest.approx([0.2, 0.2])


def test_a_fall_is_seen_to_its_end():
    """The limp body replaces the end of the run; plots are of the run."""
    scene = experiment_named("balance").build({"push.impulse": 60.0, "push.start": 0.1})
    run = scene.run()
    run.after = collapse(scene, 1.5)
    trajectory = trajectory_of(run, scene.disturbances)
    assert trajectory.ends == pytest.approx(run.after.frame["time"].iloc[-1])
    assert (np.diff(trajectory.times) > 0.0).all()
    lying = trajectory.at(trajectory.ends)
    assert lying.position[0, 2] < 0.3
    touching = np.isfinite(lying.contact_place).all(axis=1)
    assert touching[8:].any()
    assert not touching.all()
    assert not np.isfinite(trajectory.at(0.0).contact_place[8:]).any()
    assert len(contact_arrows(lying)[0]) <= touching.sum()
    loaded = LoadedRun("fell", run, trajectory)
    assert "limp from" in loaded.verdict
    with serving("127.0.0.1", 0) as server:
        page = Page(server, [loaded], Playback(trajectory.begins, trajectory.ends, playing=False))
        page.playback.seek(trajectory.ends)
        page.frame(0.0)
        assert node(page, "/world/run_0/trunk").position[2] == pytest.approx(lying.position[0, 2], abs=2e-5)
        assert len(node(page, "/world/run_0/points").points) == touching.sum()
