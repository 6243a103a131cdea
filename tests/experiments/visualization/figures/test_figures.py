import re
from dataclasses import replace

import matplotlib.image
import numpy as np
import pytest

from biped import Fall, InputError, Platform, Push, Signal, human, simulate, standing
from biped.dynamics import forward_kinematics
from biped.metrics import series
from biped.model.geometry import quaternion_matrix
from controllers import JointPD, WorkspaceController
from experiments.catalogue.registry import MODULES, experiment_named
from experiments.lookup.figure_look import drawn_as, look_of, remove_figure
from experiments.lookup.figure_names import KINDS, remove_figures
from experiments.visualization.figures import sheets
from experiments.visualization.figures.labels import joint_label, joint_motions, label_rows, label_width, motion_label
from experiments.visualization.figures.quantities import curve, distinct_lines, leans, over_time, rescaled
from experiments.visualization.figures.sheets import SHEETS, draw_figures
from experiments.visualization.figures.subject import subject_of
from experiments.visualization.figures.support import COLORS, COM, Support
from experiments.visualization.look.writing import write_figure
from experiments.visualization.panels.panel import Axis, Panel, Points
from experiments.visualization.panels.with_matplotlib import figure_of

PUBLISHED = {
    "stand-tilted": [f"fig-4.{number:02d}-" for number in range(3, 11)],
    "thrown-block": [f"fig-4.{number:02d}-" for number in range(12, 20)],
    "box-drop": [f"fig-5.{number:02d}-" for number in range(3, 7)],
    "tumble": [],
}


def ink(path):
    """Return the part of a picture that is not white."""
    return float((matplotlib.image.imread(path)[..., :3].min(axis=2) < 0.98).mean())


SLOW = "lean", "sway", "squat", "sit-to-stand"


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n.startswith(SLOW) else ()) for n in MODULES]
)
def test_there_is_a_picture_for_every_published_figure(runs, tmp_path, name):
    experiment = experiment_named(name)
    files = draw_figures(runs[name], tmp_path, experiment.figures, name)
    names = [file.name for file in files]
    assert sorted(names) == sorted(path.name for path in tmp_path.iterdir())
    for begin in PUBLISHED.get(name, ()):
        assert sum(n.startswith(begin) for n in names) == 1, begin
    touching = {"contact-modes.png"} if runs[name].state.model.nc else {"momentum.png"}
    assert {"overview.png", "ledger.png"} | touching <= set(names)
    for file in files:
        assert 0.01 < ink(file) < 0.7, file.name  # points that stick throughout fill most of theirs
    remove_figures(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_labels_of_moments_cover_one_another_nowhere_and_are_left_out_where_there_is_no_room():
    rng = np.random.default_rng(0)
    places, labels = np.sort(rng.uniform(0.4, 0.9, 40)), rng.choice(["push", "hit again", "R heel down"], 40)
    rows = label_rows(places, labels)
    assert min(rows) == -1
    there = set(rows) - {-1}
    for k, (place, row) in enumerate(zip(places, rows, strict=True)):
        near = {rows[j] for j in range(k) if place < places[j] + label_width(labels[j])}
        assert row not in near if row >= 0 else there <= near


def test_runs_of_ones_own_have_the_figures_that_apply(tmp_path):
    run = simulate(human(), JointPD(), duration=0.2, fall=Fall(), disturbances=[Push("trunk", (1.0, 0.0, 0.0), 3.0)])
    names = {file.name for file in draw_figures(run, tmp_path)}
    assert names == {
        "overview.png", "joint-angles.png", "joint-torques.png", "body-position.png", "body-orientation.png",
        "contact-modes.png", "ledger.png",
    }  # fmt: skip


def test_the_moments_that_are_marked(runs):
    marks = [mark.label for mark in subject_of(runs["thrown-block"]).marks]
    assert marks[:2] == ["hit", "heels up"]
    assert {"L heel down", "R heel down"} <= set(marks)
    assert [mark.label for mark in subject_of(runs["box-drop"]).marks] == ["first touch"]
    fallen = experiment_named("thrown-block").run({"block.velocity": (-9.0, 0.0, 0.2)})
    assert subject_of(fallen).marks[-1].label == fallen.summary["verdict"] == "lost control"


def test_the_kinds_are_known_without_drawing():
    assert tuple(sheet.kind for sheet in SHEETS) == KINDS


@pytest.mark.parametrize(("text", "inches"), [("single", 85.0 / 25.4), ("120mm", 120.0 / 25.4)])
def test_figures_have_the_formats_and_the_width_of_a_journal(runs, tmp_path, text, inches):
    with drawn_as(look_of("pdf,svg,png", text)):
        files = write_figure(runs["thrown-block"].plot(), tmp_path / "sheet.png")
    assert [file.suffix for file in files] == [".pdf", ".svg", ".png"]
    assert files[0].read_bytes().startswith(b"%PDF")
    svg = files[1].read_text(encoding="utf-8")
    assert float(re.search(r'width="([\d.]+)pt"', svg)[1]) == pytest.approx(72.0 * inches, abs=0.1)
    assert "margin of stability" in svg.lower()  # letters are letters
    remove_figure(tmp_path / "sheet.png")
    assert list(tmp_path.iterdir()) == []


def test_the_sheet_begins_shortly_before_the_disturbance_and_names_the_largest_torque():
    push = Push("trunk", (-1.0, 0.0, 0.0), 5.0, start=0.5)
    run = simulate(human(), WorkspaceController(), disturbances=push, duration=0.9)
    figure = run.plot()
    times = [
        axes
        for axes in figure.axes
        if axes.get_title("left").startswith(("Anter", "Medio", "Vertical GRF", "AP GRF", "ML GRF", "Largest"))
    ]
    assert len(times) == 6
    assert all(axes.get_xlim()[0] == pytest.approx(0.3) for axes in times)
    torques = {
        joint: np.abs(run.frame[f"torque_{joint}"][run.frame["time"] >= 0.3]).max() for joint in human().joint_names
    }
    titles = [axes.get_title("left") for axes in figure.axes]
    assert f"Largest joint torques: left knee extension {max(torques.values()):.0f} N·m" in titles
    assert run.verdict_line in figure.get_suptitle()
    assert "a push of 5 N·s forwards at 0.5 s" in figure.get_suptitle()


@pytest.mark.parametrize("width", [None, "85mm"])
def test_no_legend_lies_on_curves(runs, width):
    with drawn_as(look_of(None, width)):
        figure = runs["thrown-block"].plot()
        figure.canvas.draw()
    legends = [(axes, axes.get_legend()) for axes in figure.axes if axes.get_legend() is not None]
    assert len(legends) >= 3
    for axes, legend in legends:
        assert not legend.get_window_extent().shrunk(0.99, 0.99).overlaps(axes.get_window_extent()), axes.get_title(
            "left"
        )


def test_joint_motions_are_those_of_the_legs():
    """Hip flexion moves the ankle forward, knee flexion backward; ankle dorsiflexion raises the toes; and so on."""
    model = human()
    motions = joint_motions(model)
    ahead, place = np.array(model.facing), model.configuration()

    def moved(joint, body, part):
        before, after = (forward_kinematics(model, q) for q in (place, model.configuration(angles={joint: 0.1})))
        k = model.body_index(body)
        return (after.position[k] - before.position[k]) if part is None else (
            quaternion_matrix(after.orientation[k]) - quaternion_matrix(before.orientation[k])
        ) @ part  # fmt: skip

    for side, out in (("left", np.array(model.left)), ("right", -np.array(model.left))):
        foot, down = f"{side}_foot", np.array([0.0, 0.0, -1.0])
        found = {
            f"{side}_hip_pitch": ("flexion", moved(f"{side}_hip_pitch", foot, None) @ ahead),
            f"{side}_knee_pitch": ("flexion", -moved(f"{side}_knee_pitch", foot, None) @ ahead),
            f"{side}_ankle_pitch": ("dorsiflexion", moved(f"{side}_ankle_pitch", foot, ahead)[2]),
            f"{side}_hip_roll": ("abduction", moved(f"{side}_hip_roll", foot, None) @ out),
            f"{side}_ankle_roll": ("inversion", -moved(f"{side}_ankle_roll", foot, down) @ out),
            f"{side}_hip_yaw": ("external rotation", moved(f"{side}_hip_yaw", foot, ahead) @ out),
        }
        for joint, (word, size) in found.items():
            assert abs(size) > 1e-3, joint
            assert motions[joint] == (word, np.sign(size)), joint
            assert motion_label(joint_label(joint), word) == f"{side} {joint.split('_')[1]} {word}"


def test_a_moving_floor_has_its_trace_and_its_onset():
    floor = Platform(x=Signal.step(0.03, 0.1, 0.4))
    run = simulate(human(), WorkspaceController(), state=standing(human()), disturbances=floor, duration=0.6)
    assert [(mark.label, mark.time) for mark in subject_of(run).marks if mark.label == "floor"] == [("floor", 0.1)]
    along, *_ = run.plot().axes
    (trace,) = (line for line in along.lines if line.get_label() == "floor")
    np.testing.assert_allclose(trace.get_ydata()[-1], -30.0, rtol=1e-9)  # +x is posterior


def test_figures_with_a_number_in_a_publication_keep_its_axes(runs, tmp_path, monkeypatch):
    drawn = {}
    monkeypatch.setattr(sheets, "write_figure", lambda figure, path: drawn.update({path.name: figure}) or [path])
    draw_figures(runs["thrown-block"], tmp_path, {"joint-angles": "4.12"})
    published, other = (
        {line.get_label() for axes in drawn[name].axes for line in axes.lines}
        for name in ("fig-4.12-joint-angles.png", "joint-torques.png")
    )
    assert "knee pitch, flexion −" in published
    assert "knee flexion" in other


def test_markers_are_not_cut_at_the_ends_of_axes():
    items = (Points([0.0, 1.0], [0.0, end], marker="circle", dash="solid") for end in (1.0, 2.0))
    lines = figure_of(Panel(tuple(items), y=Axis(low=0.0, high=1.0)), (3.0, 2.0)).axes[0].lines
    assert [line.get_clip_on() for line in lines] == [False, True]


def test_the_sheet_has_posturographys_axes_by_default():
    """The floor moves backward and to the right of the human, who faces −x; curves equal those of ``series``."""
    floor = Platform(x=Signal.step(0.03, 0.1, 0.4), y=Signal.step(0.01, 0.1, 0.4))
    run = simulate(human(), WorkspaceController(), state=standing(human()), disturbances=floor, duration=0.6)
    table = series(run)
    figure = run.plot()
    with drawn_as(look_of(None, None, "world")):
        world, *_ = run.plot().axes
    labels = {axes.get_ylabel(): axes for axes in figure.axes[:2]}
    assert (world.get_ylabel(), set(labels)) == ("x [mm]", {"AP [mm]", "ML [mm]"})
    for name, far in (("ap", -30.0), ("ml", 10.0)):
        axes = labels[f"{name.upper()} [mm]"]
        lines = {line.get_label(): line.get_ydata() for line in axes.lines}
        np.testing.assert_allclose(lines["floor"][-1], far, rtol=1e-9)
        np.testing.assert_allclose(lines["floor"], 1e3 * table[f"floor_{name}"].to_numpy(), atol=1e-9)
        np.testing.assert_allclose(
            lines["CoM"], 1e3 * (table[f"com_{name}"] + table[f"floor_{name}"]).to_numpy(), atol=1e-9
        )
        assert axes.get_ylim()[0] < axes.get_ylim()[1]
    titles = {axes.get_title("left"): axes for axes in figure.axes}
    assert {"Vertical GRF", "AP GRF", "ML GRF"} <= set(titles)
    above = titles["Top view, on the moving floor; the human faces up"]
    assert (above.get_xlabel(), above.get_ylabel()) == ("ML [mm]", "AP [mm]")
    (com,) = (line for line in above.lines if line.get_color() == COLORS[COM] and len(line.get_xdata()) > 1)
    np.testing.assert_allclose(com.get_xdata(), 1e3 * table["com_ml"].to_numpy(), atol=1e-9)
    np.testing.assert_allclose(com.get_ydata(), 1e3 * table["com_ap"].to_numpy(), atol=1e-9)
    with pytest.raises(InputError, match="world or anatomical"):
        look_of(None, None, "sideways")


@pytest.mark.parametrize("axis", ["x", "yaw"])
def test_from_above_on_a_moving_floor_all_is_seen_from_the_floor(axis):
    """Sticking soles stay in place, and distances from the base of support equal those in the world."""
    floor = Platform(**{axis: Signal.step(0.03, 0.1, 0.4)})
    run = simulate(human(), WorkspaceController(), state=standing(human()), disturbances=floor, duration=0.6)
    subject = subject_of(run)
    carried, world = Support(subject, carried=True), Support(subject)
    assert np.abs(carried.places - carried.places[0]).max() < 2e-3
    assert np.abs(world.places - world.places[0]).max() > 5e-3
    for name, path in carried.paths.items():
        seen, from_world = (p - one.places.mean(axis=1) for one, p in ((carried, path), (world, world.paths[name])))
        np.testing.assert_allclose(np.linalg.norm(seen, axis=1), np.linalg.norm(from_world, axis=1), atol=1e-12)
    assert any("on the moving floor" in axes.get_title("left") for axes in run.plot().axes)


def test_curves_that_lie_on_one_another_are_all_seen():
    time = np.linspace(0.0, 1.0, 50)
    values = {"a": time, "b": 0.0 * time, "c": time, "d": time + 1e-4}
    panel = over_time("", "", [curve(name, one) for name, one in values.items()])
    dashes = [one.dash for one in distinct_lines(panel).curves]
    assert dashes[:2] == ["solid", "solid"]
    strokes, gaps = zip(
        *([float(part) for part in dash.replace("px", "").split(",")] for dash in dashes[2:]), strict=True
    )
    assert gaps[1] > strokes[0] - strokes[1] > 0.0  # the uppermost lets both below it be seen
    dashed = over_time("", "", [replace(one, dash="dash") for one in panel.curves])
    assert distinct_lines(dashed) == dashed


def test_leans_are_in_degrees_and_small_numbers_have_a_unit_of_their_size():
    model = human()
    run = simulate(model, duration=2e-3)
    size = np.radians(10.0)
    for k, way in enumerate((np.array(model.facing), -np.array(model.left))):
        axis = np.cross((0.0, 0.0, 1.0), way)  # the head moves towards ``way``
        turn = np.array([np.cos(size / 2.0), *(np.sin(size / 2.0) * axis)])
        panel = leans(subject_of(run), "", [curve("", np.full(3, part)) for part in turn])
        expected = np.zeros((3, 3))
        expected[k] = 10.0
        np.testing.assert_allclose([one.y for one in panel.curves], expected, atol=1e-9)
    for values, unit, scaled in ((-3e-8, "nJ", -30.0), (12.0, "J", 12.0), (0.0, "J", 0.0)):
        panel = rescaled(over_time("", "work [J]", [curve("one", np.array([0.0, values]))]))
        assert panel.y.label == f"work [{unit}]"
        assert panel.curves[0].y[1] == pytest.approx(scaled)


def test_round_off_does_not_fill_an_axis():
    for most, ends in ((1e-9, (-1.1, 1.1)), (3.0, (None, None))):
        axis = over_time("", "", [curve("", np.array([0.0, most]))], least=1.0).vertical
        assert (axis.low, axis.high) == ends
