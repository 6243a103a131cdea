"""Times and camera of a film."""

import math

import numpy as np
import pytest

from biped.errors import InputError
from experiments.visualization.video.frame_schedule import FrameSchedule, schedule_of
from experiments.visualization.viewer.camera import CAMERAS, FILL, camera_at
from experiments.visualization.viewer.snapshot import turned


def test_picture_k_is_of_time_k_over_fps():
    schedule = FrameSchedule(0.0, 3.0, 25.0)
    assert schedule.count == 75
    assert schedule.times == [k / 25.0 for k in range(75)]
    assert schedule.duration == pytest.approx(3.0)


def test_slow_motion_takes_longer():
    schedule = FrameSchedule(0.5, 1.0, 20.0, speed=0.25)
    assert schedule.duration == pytest.approx(2.0)
    np.testing.assert_allclose(np.diff(schedule.times), 0.25 / 20.0)
    assert schedule.times[0] == 0.5
    assert schedule.times[-1] < 1.0


def test_an_instant_is_one_picture():
    assert FrameSchedule(1.0, 1.0, 30.0).times == [1.0]


def test_from_and_to_are_times_of_the_runs():
    spans = [(0.0, 1.0), (0.5, 3.0)]
    assert (schedule_of(spans, None, None, 10.0, 1.0).begins, schedule_of(spans, None, None, 10.0, 1.0).ends) == (
        0.0,
        3.0,
    )
    assert schedule_of(spans, 0.2, 0.7, 10.0, 1.0).times == pytest.approx([0.2, 0.3, 0.4, 0.5, 0.6])
    for begin, end in ((-0.1, None), (None, 3.1), (math.nan, None)):
        with pytest.raises(InputError, match="from 0 to 3 s"):
            schedule_of(spans, begin, end, 10.0, 1.0)


@pytest.mark.parametrize("preset", [*CAMERAS, "1,2,3", "-0.5,0,-0.2"])
def test_the_camera_looks_at_the_figure_with_the_sky_above(preset):
    camera = camera_at(preset, np.array([0.3, -0.2, 0.9]), 1.0, (400, 300))
    ahead, down, right = (turned(camera.wxyz, np.array(axis)) for axis in ((0, 0, 1), (0, 1, 0), (1, 0, 0)))
    way = np.array([0.3, -0.2, 0.9]) - camera.position
    np.testing.assert_allclose(ahead, way / np.linalg.norm(way), atol=1e-12)
    assert down[2] < 0.0
    assert abs(right[2]) < 1e-12
    np.testing.assert_allclose(np.cross(right, down), ahead, atol=1e-12)


def test_a_narrow_picture_is_taken_from_farther_away():
    def far(size, distance=1.0, reach=FILL):
        camera = camera_at("side", np.zeros(3), reach, size, distance)
        return np.linalg.norm(camera.position - camera.look_at)

    assert far((1600, 900)) == pytest.approx(far((400, 300)))
    assert far((300, 400)) == pytest.approx(far((400, 300)) * 16.0 / 9.0)
    assert far((400, 300), distance=2.0) == pytest.approx(2.0 * far((400, 300)))
    assert far((400, 300), reach=3.0 * FILL) == pytest.approx(3.0 * far((400, 300)))
