"""Films and pages of runs into files."""

from collections.abc import Generator, Sequence
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
from experiments.visualization.viewer.loaded_runs import LoadedRun, have_ended

if TYPE_CHECKING:
    from PIL.Image import Image


def write_film(
    path: Path, runs: Sequence[LoadedRun], schedule: FrameSchedule, camera: Camera, size: tuple[int, int], program: str
) -> None:
    """Write an MP4 or a GIF, as the suffix says, of a size [pixels], drawn by the browser ``program``."""
    with ProgressBar(schedule.count, "drawing", "pictures", counts=True) as bar:
        finished = _finished(runs, schedule, camera, size, program, bar)
        try:
            if path.suffix.lower() == ".gif":
                write_gif(path, finished, schedule.fps)
            else:
                write_mp4(path, finished, size, schedule.fps)
        finally:
            finished.close()  # ends the browser, also where the file could not be written


def _finished(
    runs: Sequence[LoadedRun],
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


def write_page(path: Path, runs: Sequence[LoadedRun], schedule: FrameSchedule, camera: Camera) -> None:
    with ProgressBar(schedule.count, "recording", "instants", counts=True) as bar:
        page = replay_page(runs, schedule, camera, bar)
    with in_place_of(path) as part:
        part.write_text(page, encoding="utf-8")
