"""Films and pages of runs into files."""

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.cli.progress import ProgressBar
from experiments.visualization.video.camera import Camera
from experiments.visualization.video.caption import Caption
from experiments.visualization.video.films import in_place_of, write_gif, write_mp4
from experiments.visualization.video.frame_schedule import Shots
from experiments.visualization.video.pictures import pictures
from experiments.visualization.video.replay import replay_page
from experiments.visualization.viewer.loaded_runs import Role, ended_of

if TYPE_CHECKING:
    from PIL.Image import Image


def write_film(
    path: Path, roles: Sequence[Role], shots: Shots, camera: Camera, size: tuple[int, int], program: str
) -> None:
    """Write an MP4 or a GIF, as the suffix says.

    Args:
        path: of the file.
        roles: the runs.
        shots: which instants.
        camera: that sees them.
        size: width and height [pixels].
        program: the browser that draws.

    Raises:
        InputError: the browser or ffmpeg fails, or the format cannot have this size or rate.
        OSError: the file cannot be written.
    """
    with ProgressBar(shots.count, "drawing", "pictures", counts=True) as bar:
        finished = _finished(roles, shots, camera, size, program, bar)
        try:
            if path.suffix.lower() == ".gif":
                write_gif(path, finished, shots.fps)
            else:
                write_mp4(path, finished, size, shots.fps)
        finally:
            finished.close()  # ends the browser, also where the file could not be written


def _finished(
    roles: Sequence[Role], shots: Shots, camera: Camera, size: tuple[int, int], program: str, bar: ProgressBar
) -> "Generator[Image, None, None]":
    decimals = 2 if shots.speed >= 0.2 else 3
    caption = Caption([role.name for role in roles], size, shots.speed, decimals)
    drawn = pictures(roles, shots.times, camera, size, program)
    try:
        for k, (moment, picture) in enumerate(zip(shots.times, drawn, strict=True)):
            yield caption.on(picture, moment, ended_of(roles, moment))
            bar(k + 1)
    finally:
        drawn.close()


def write_page(path: Path, roles: Sequence[Role], shots: Shots, camera: Camera) -> None:
    """Write a page that plays the runs.

    Raises:
        OSError: the file cannot be written.
    """
    with ProgressBar(shots.count, "recording", "instants", counts=True) as bar:
        page = replay_page(roles, shots, camera, bar)
    with in_place_of(path) as part:
        part.write_text(page, encoding="utf-8")
