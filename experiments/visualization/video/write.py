"""Videos and pages of runs as files, and the captions of pictures: sky, names of the runs, time."""

from collections.abc import Generator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.inputs.files import replacing
from experiments.cli.progress import ProgressBar
from experiments.visualization.video.films import write_gif, write_mp4
from experiments.visualization.video.frame_schedule import FrameSchedule
from experiments.visualization.video.pictures import Picture, pictures
from experiments.visualization.video.replay import replay_page
from experiments.visualization.viewer import colors
from experiments.visualization.viewer.camera import Camera
from experiments.visualization.viewer.loaded_runs import Shown, have_ended

if TYPE_CHECKING:
    from PIL.Image import Image

#: Colours of the sky from the top to the horizon.
SKY = (206, 219, 233)
HORIZON = (243, 245, 247)
INK = (38, 44, 52)
#: Height of letters / height of the picture, and their least height [pixels].
LETTERS, LEAST = 0.042, 11
#: Text after the name of a run that has ended before others.
ENDED = " (ended)"


class Caption:
    """Captions of pictures: names of the runs, and the time [s]; ``size`` is width and height [pixels]."""

    def __init__(self, names: Sequence[str], size: tuple[int, int], speed: float = 1.0, decimals: int = 2) -> None:
        self._names, self._size, self._speed, self._decimals = tuple(names), size, speed, decimals
        self._sky = _sky(size)
        self._letters = max(LEAST, round(LETTERS * size[1]))

    def on(self, picture: Picture, time: float, ended: Sequence[bool] = ()) -> "Image":
        """Return the captioned picture of a time [s]; ``ended`` says which runs have ended."""
        from PIL import Image

        drawn = Image.fromarray(picture)
        if drawn.size != self._size:
            raise ValueError(f"the picture has {drawn.size} pixels, but the caption is for {self._size}")
        finished = Image.alpha_composite(self._sky, drawn).convert("RGB")
        self._write(finished, time, ended)
        return finished

    def _write(self, picture: "Image", time: float, ended: Sequence[bool]) -> None:
        from PIL import ImageDraw

        pen, font, step = ImageDraw.Draw(picture), _font(self._letters), round(1.35 * self._letters)
        left = top = round(0.7 * self._letters)
        for k, name in enumerate(self._names):
            line, x = top + k * step, left
            if len(self._names) > 1:
                color = colors.ghost_color(k - 1) if k else INK
                edge = round(0.75 * self._letters)
                down = line + round(0.22 * self._letters)
                pen.rectangle((x, down, x + edge, down + edge), fill=color)
                x += round(1.3 * self._letters)
            over = ENDED if k < len(ended) and ended[k] else ""
            pen.text((x, line), name + over, fill=INK, font=font)
        text = f"{time:.{self._decimals}f} s"
        if self._speed != 1.0:
            text += f"   × {self._speed:g}"
        pen.text((left, self._size[1] - top - step), text, fill=INK, font=font)


@cache
def _font(letters: int) -> Any:
    """Return Matplotlib's font, so that pictures are equal on all machines."""
    import matplotlib
    from PIL import ImageFont

    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf", letters)


def _sky(size: tuple[int, int]) -> "Image":
    """Return the background: the sky down to the middle, then the colour of the distant floor."""
    from PIL import Image

    width, height = size
    part = np.clip(np.linspace(0.0, 2.2, height), 0.0, 1.0)[:, np.newaxis]
    column = (1.0 - part) * np.array(SKY) + part * np.array(HORIZON)
    rows = np.repeat(np.round(column)[:, np.newaxis], width, axis=1)
    opaque = np.full((height, width, 1), 255.0)
    return Image.fromarray(np.concatenate([rows, opaque], axis=2).astype(np.uint8))


def write_film(
    path: Path, runs: Sequence[Shown], schedule: FrameSchedule, camera: Camera, size: tuple[int, int], program: str
) -> None:
    """Write an MP4 or a GIF, by the suffix, of a size [pixels], drawn by the browser ``program``."""
    with ProgressBar(schedule.count, "drawing", "pictures", counts=True) as bar:
        finished = _finished(runs, schedule, camera, size, program, bar)
        try:
            if path.suffix.lower() == ".gif":
                write_gif(path, finished, schedule.fps)
            else:
                write_mp4(path, finished, size, schedule.fps)
        finally:
            finished.close()  # ends the browser, also after an error


def _finished(
    runs: Sequence[Shown],
    schedule: FrameSchedule,
    camera: Camera,
    size: tuple[int, int],
    program: str,
    bar: ProgressBar,
) -> "Generator[Image, None, None]":
    decimals = 2 if schedule.speed >= 0.2 else 3
    caption = Caption([loaded.name for loaded in runs], size, schedule.speed, decimals)
    drawn = pictures(runs, schedule.times, camera, size, program)
    try:
        for k, (moment, picture) in enumerate(zip(schedule.times, drawn, strict=True)):
            yield caption.on(picture, moment, have_ended(runs, moment))
            bar(k + 1)
    finally:
        drawn.close()


def write_page(path: Path, runs: Sequence[Shown], schedule: FrameSchedule, camera: Camera) -> None:
    with ProgressBar(schedule.count, "recording", "instants", counts=True) as bar:
        page = replay_page(runs, schedule, camera, bar)
    with replacing(path) as part:
        part.write_text(page, encoding="utf-8")
