"""Films and pages of runs into files."""

import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from biped.files import in_place_of
from experiments.cli.progress import ProgressBar
from experiments.visualization.video.caption import Caption
from experiments.visualization.video.films import write_gif, write_mp4
from experiments.visualization.video.frame_schedule import FrameSchedule
from experiments.visualization.video.pictures import pictures
from experiments.visualization.video.replay import replay_page
from experiments.visualization.viewer.camera import Camera
from experiments.visualization.viewer.loaded_runs import Shown, have_ended

if TYPE_CHECKING:
    from PIL.Image import Image


#: Pictures that are drawn before it is told how long all of them take; the very first one takes longest.
TIMED = 3
#: [s] What takes less is not told.
SHORT = 10.0


def write_film(
    path: Path,
    runs: Sequence[Shown],
    schedule: FrameSchedule,
    camera: Camera,
    size: tuple[int, int],
    program: str,
    announce: Callable[[str], None] = lambda _: None,
) -> None:
    """Write an MP4 or a GIF, as the suffix says, of a size [pixels], drawn by the browser ``program``.

    ``announce`` is told how long it will take, if that is long, by the first pictures.
    """
    with ProgressBar(schedule.count, "drawing", "pictures", counts=True) as bar:
        timed = _timed(_finished(runs, schedule, camera, size, program, bar), schedule.count, announce)
        try:
            if path.suffix.lower() == ".gif":
                write_gif(path, timed, schedule.fps)
            else:
                write_mp4(path, timed, size, schedule.fps)
        finally:
            timed.close()  # ends the browser, also where the file could not be written


def _timed(
    pictures: "Generator[Image, None, None]", count: int, announce: Callable[[str], None]
) -> "Generator[Image, None, None]":
    """The same pictures; after a few it is told how long the others take, if that is long."""
    began = 0.0
    try:
        for k, picture in enumerate(pictures, start=1):
            if k == 1:
                began = time.perf_counter()
            elif k == TIMED:
                each = (time.perf_counter() - began) / (TIMED - 1)
                if (count - k) * each > SHORT:
                    announce(
                        f"{count} pictures of {each:.2g} s each: {count * each:.0f} s in all; "
                        "fewer --fps, a smaller --size or a part (--from, --to) take less"
                    )
            yield picture
    finally:
        pictures.close()


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
    with in_place_of(path) as part:
        part.write_text(page, encoding="utf-8")
