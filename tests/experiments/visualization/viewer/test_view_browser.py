"""The page in a browser: it loads, plays, scrubs, and shows the human at its position."""

import io
import time

import numpy as np
import pytest
from PIL import Image

from experiments.visualization.viewer.shapes import HAIR, SHIRT, shapes_of
from experiments.visualization.viewer.snapshot import turned

from ..hands import click, picture

pytestmark = pytest.mark.browser

#: [pixels] the panel covers the page from here on.
PANEL = 620


def test_it_loads_without_a_complaint(watched):
    assert watched.browser.evaluate("document.body.innerText.includes('tumble')")
    assert watched.browser.console == []


def test_it_plays(watched):
    watched.page.playback.seek(0.0)
    watched.wait_until_drawn(0.0)
    start, _ = watched.pose("left_foot")
    # Press the button as a person does.
    watched.browser.evaluate("[...document.querySelectorAll('button')].find(b => b.innerText === 'Play').click()")
    watched.browser.wait_for("[...document.querySelectorAll('button')].some(b => b.innerText === 'Pause')")
    seen, until = [start], time.monotonic() + 30.0
    # The foot starts slowly: its path in five pictures depends on how often the page is polled.
    while (len(seen) < 6 or np.linalg.norm(seen[-1] - start) < 1e-3) and time.monotonic() < until:
        position, _ = watched.pose("left_foot")
        if np.abs(position - seen[-1]).max() > 1e-4:
            seen.append(position)
    watched.page.playback.play(False)
    assert len(seen) > 5
    trajectory = watched.page.runs[0].trajectory
    foot = trajectory.model.body_index("left_foot")
    for position in seen:  # each is a position of the foot at some time
        assert np.abs(trajectory.rows.position[:, foot] - position).max(axis=1).min() < 0.01
    assert np.linalg.norm(seen[-1] - start) > 1e-3


def _soon(watched, happened):
    """Return whether something happens within three seconds."""
    for _ in range(60):
        if happened():
            return True
        watched.browser.evaluate("new Promise(done => setTimeout(done, 50))")
    return False


def test_it_scrubs(watched):
    """A click at three quarters of the slider goes to three quarters of the run."""
    watched.page.playback.play(False)
    watched.page.playback.seek(0.0)
    watched.wait_until_drawn(0.0)
    slider = "document.querySelector('.mantine-Slider-trackContainer')"
    place = f"(() => {{ const r = {slider}.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; }})()"
    ends = watched.page.playback.ends
    for _ in range(10):  # a click is lost while a busy machine still builds the page
        x, y, width, height = watched.browser.evaluate(place)
        click(watched.browser, x + 0.75 * width, y + height / 2.0)
        if _soon(watched, lambda: watched.page.playback.time > 0.0):
            break
    assert watched.page.playback.time == pytest.approx(0.75 * ends, abs=0.05 * ends)
    watched.wait_until_drawn(watched.page.playback.time)
    position, wxyz = watched.pose("right_foot")
    snapshot = watched.page.runs[0].trajectory.at(watched.page.playback.time)
    foot = watched.page.runs[0].trajectory.model.body_index("right_foot")
    assert position == pytest.approx(snapshot.position[foot], abs=1e-4)
    assert abs(wxyz @ snapshot.quaternion[foot]) == pytest.approx(1.0, abs=1e-6)


def pixels_of(camera, points, width, height):
    """Return the positions (n, 2) of world points in the camera; it faces along its z, its y is down."""
    inverse = camera.wxyz * np.array([1.0, -1.0, -1.0, -1.0])
    seen = turned(inverse, points - camera.position)
    scale = 0.5 * height / np.tan(0.5 * camera.fov)
    return np.column_stack(
        [0.5 * width + scale * seen[:, 0] / seen[:, 2], 0.5 * height + scale * seen[:, 1] / seen[:, 2]]
    )


def hue_like(image, color):
    """Return which pixels (h, w) have about this colour in any light, by ratios of red, green and blue."""
    wanted = (np.array(color) / 255.0) ** 2.2
    light = (image / 255.0) ** 2.2
    size = np.linalg.norm(light, axis=2)
    cosine = (light @ wanted) / np.maximum(size, 1e-9) / np.linalg.norm(wanted)
    return (cosine > 0.985) & (size > 0.004)


def box_of(rows, columns):
    return np.array([columns.min(), rows.min(), columns.max(), rows.max()], dtype=float)


@pytest.mark.parametrize("part", [0.1, 0.95])
def test_a_picture_shows_the_human_in_its_pose(watched, part):
    """The outline of the figure, its shirt and its hair are within three pixels of their true positions."""
    page, browser = watched.page, watched.browser
    moment = part * page.playback.ends
    page.playback.play(False)
    with page.scene.frame():
        for layer in page.scene.layers:
            page.scene.switch(layer, False)
        page.scene.cast_shadows(False)
        page.server.scene.get_handle_by_name("/world/floor").visible = False
        page.server.scene.world_axes.visible = False
    page.playback.seek(moment)
    watched.wait_until_drawn(moment)
    browser.evaluate("document.querySelectorAll('.mantine-Notification-root').forEach(n => n.remove())")
    image = np.asarray(Image.open(io.BytesIO(picture(browser))).convert("RGB"), dtype=float)
    image[430:, :60] = 255.0  # the arrows of the axes, in the corner
    camera = watched.client.camera
    height, width = image.shape[:2]
    assert (camera.image_width, camera.image_height) == (width, height)
    snapshot = page.runs[0].trajectory.at(moment)
    shapes = shapes_of(page.runs[0].trajectory.model)
    places = {s.name: pixels_of(camera, snapshot.point_of(s.body, s.mesh.vertices), width, height) for s in shapes}
    everything = np.concatenate(list(places.values()))
    assert everything[:, 0].max() < PANEL
    figure = np.nonzero((image[:, :PANEL].min(axis=2) < 235.0) | (np.ptp(image[:, :PANEL], axis=2) > 20.0))
    assert box_of(*figure) == pytest.approx(box_of(everything[:, 1], everything[:, 0]), abs=3.0)
    hair = np.nonzero(hue_like(image[:, :PANEL], HAIR))
    assert box_of(*hair)[1] == pytest.approx(places["hair"][:, 1].min(), abs=3.0)
    shirt = np.nonzero(hue_like(image[:, :PANEL], SHIRT))
    of_shirt = np.concatenate([places[part] for part in ("torso", "left_sleeve", "right_sleeve")])
    assert box_of(*shirt)[[0, 2]] == pytest.approx(box_of(of_shirt[:, 1], of_shirt[:, 0])[[0, 2]], abs=4.0)
    for side in ("left", "right"):  # each knee is within the figure
        knee = snapshot.point_of(*_joint(page.runs[0].trajectory.model, f"{side}_shank"))
        column, row = np.rint(pixels_of(camera, knee[np.newaxis], width, height)[0]).astype(int)
        assert image[row, column].min() < 235.0


def _joint(model, body):
    number = model.body_index(body)
    return number, -np.asarray(model.bodies[number].com)
