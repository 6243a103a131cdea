"""Files of known pictures: number, size, duration, and no incomplete file."""

import numpy as np
import pytest
from PIL import Image, ImageSequence

from biped.errors import InputError
from experiments.visualization.video.films import check_film, durations, write_gif, write_mp4
from experiments.visualization.video.write import Caption

SIZE = (96, 64)


def painted(count):
    """Yield a red field into which blue moves from the left."""
    for k in range(count):
        picture = Image.new("RGB", SIZE, (220, 30, 40))
        picture.paste((30, 60, 220), (0, 0, round(SIZE[0] * (k + 1) / count), SIZE[1]))
        yield picture


def blue_share(picture):
    array = np.asarray(picture).astype(int)
    return float(np.mean(array[..., 2] > array[..., 0]))


def test_an_mp4_has_all_pictures_in_order(tmp_path, decoded):
    write_mp4(tmp_path / "a.mp4", painted(24), SIZE, 12.0)
    about, frames = decoded(tmp_path / "a.mp4")
    assert about["size"] == SIZE
    assert about["fps"] == 12.0
    assert about["codec"] == "h264"
    assert about["pix_fmt"] == "yuv420p"
    assert len(frames) == 24
    assert about["duration"] == pytest.approx(2.0, abs=0.05)
    np.testing.assert_allclose([blue_share(f) for f in frames], np.arange(1, 25) / 24, atol=0.02)
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]


def test_a_gif_has_all_pictures_in_order(tmp_path):
    write_gif(tmp_path / "a.gif", painted(24), 15.0)
    with Image.open(tmp_path / "a.gif") as film:
        assert film.size == SIZE
        assert film.n_frames == 24
        assert film.info["loop"] == 0
        frames = [(frame.info["duration"], frame.convert("RGB")) for frame in ImageSequence.Iterator(film)]
    assert sum(length for length, _ in frames) == 1600  # 24 / 15 s
    np.testing.assert_allclose([blue_share(f) for _, f in frames], np.arange(1, 25) / 24, atol=0.011)


@pytest.mark.parametrize("fps", [7.0, 15.0, 24.0, 30.0, 33.3])
def test_a_gif_takes_its_time_in_hundredths(fps):
    lengths = durations(100, fps)
    assert all(length % 10 == 0 and length > 0 for length in lengths)
    assert sum(lengths) == pytest.approx(1e5 / fps, abs=5.0)
    assert max(lengths) - min(lengths) <= 10


@pytest.mark.parametrize("suffix", ["mp4", "gif"])
@pytest.mark.parametrize("trouble", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_what_breaks_off_leaves_what_was_there(tmp_path, suffix, trouble):
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(b"before")

    def breaking():
        yield from list(painted(24))[:5]
        raise trouble

    with pytest.raises(type(trouble)):
        write_mp4(path, breaking(), SIZE, 12.0) if suffix == "mp4" else write_gif(path, breaking(), 12.0)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_odd_edges_and_fast_gifs_are_refused():
    with pytest.raises(InputError, match="even"):
        check_film(".mp4", (95, 64), 12.0)
    with pytest.raises(InputError, match="at most 50"):
        check_film(".gif", SIZE, 60.0)


class TestCaption:
    empty = np.zeros((240, 320, 4), dtype=np.uint8)

    def test_time_and_names_are_in_the_picture(self):
        caption = Caption(["one", "two"], (320, 240))
        first, second = (np.asarray(caption.on(self.empty, time)).astype(int) for time in (0.1, 0.2))
        changed = np.argwhere(np.abs(first - second).max(axis=2) > 60)
        assert len(changed) > 5
        assert changed[:, 0].min() > 200  # the time is at the bottom
        without = np.asarray(Caption(["one"], (320, 240)).on(self.empty, 0.1)).astype(int)
        assert np.abs(first - without).max() > 60

    def test_what_is_drawn_covers_the_sky(self):
        drawn = self.empty.copy()
        drawn[100:140, 100:200] = (10, 200, 30, 255)
        picture = np.asarray(Caption(["one"], (320, 240)).on(drawn, 0.0))
        assert (picture[100:140, 100:200] == (10, 200, 30)).all()
        assert (picture[5, 300] > 180).all()
