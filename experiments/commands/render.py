"""``biped render``: saved runs as a video, as an animated GIF, or as a page with an animation."""

from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path

from biped.errors import InputError
from biped.inputs.extras import need
from biped.inputs.modules import saved_names
from experiments.cli.main import Parser
from experiments.cli.output import writable_folder
from experiments.cli.settings import add_after, check_positive
from experiments.visualization.video.frame_schedule import parse_size, schedule_of
from experiments.visualization.viewer.chromium import find_browser

#: Default frame rate [1/s], and width and height [pixels], by suffix.
DEFAULTS = {".mp4": (30.0, "960x540"), ".gif": (20.0, "480x360"), ".html": (60.0, "960x540")}
#: Packages that a suffix needs in addition to those for drawing.
PACKAGES = {".mp4": ("PIL", "imageio_ffmpeg"), ".gif": ("PIL",), ".html": ()}

_DESCRIPTION = """\
Write saved runs as a video (.mp4), an animated GIF (.gif), or an interactive page (.html) for any browser,
without a network. The first run is drawn solid, others as transparent ghosts over it."""

_EXAMPLES = """\
examples:
  biped render results/thrown-block -o block.html
  biped render results/thrown-block -o block.mp4 --size 1280x720
  biped render results/thrown-block -o hit.gif --from 0 --to 0.5 --speed 0.2 --camera side
  biped render results/mine results/yours -o both.mp4

Videos and animated GIFs need Chromium (Debian, Ubuntu: apt-get install chromium).
"""


def parser() -> Parser:
    command = Parser("biped render", _DESCRIPTION, _EXAMPLES, page="render")
    command.add_argument("runs", metavar="RUN", nargs="+", help="folder of a saved run; several are overlaid")
    add_after(command)
    command.option("-o", "FILE", "file to write: .mp4, .gif or .html", str, "--out", required=True)
    command.option("--fps", "N", "frames per second (30; GIF 20; page 60)", float)
    command.option("--size", "WxH", "width and height in pixels (960x540; GIF 480x360); not for .html")
    command.option("--speed", "X", "playback speed: simulated seconds per second of the film", 1.0)
    command.option("--from", "S", "start of the film in the run's time (default: run's start)", float, dest="begin")
    command.option("--to", "S", "end of the film in the run's time (default: run's end)", float, dest="end")
    text = "camera position: three-quarter (default), front, side, back, top, or X,Y,Z in metres from the model"
    command.option("--camera", "NAME", text, default="three-quarter")
    command.option("--zoom-out", "X", "factor on the camera's distance from the model; above 1: farther away", 1.0)
    command.add_trust()
    command.option("--browser", "PATH", "program of Chromium or Chrome (default: the one on PATH); not for .html")
    return command


@dataclass(frozen=True)
class _Order:
    """Film to render, as the options describe it."""

    out: Path
    suffix: str
    fps: float
    size: tuple[int, int]


@saved_names()
def main(options: Namespace) -> int:
    check_positive(options, "after", what="number of seconds")
    order = _order(options)

    need("viser", "trimesh", "websockets", *PACKAGES[order.suffix])
    from experiments.visualization.video.films import check_film
    from experiments.visualization.viewer.camera import camera_at, check_camera
    from experiments.visualization.viewer.loaded_runs import extent_of, load_runs

    check_film(order.suffix, order.size, order.fps)
    program = "" if order.suffix == ".html" else find_browser(options.browser)
    check_camera(options.camera)
    runs = load_runs(options.runs, options.after)
    spans = [(loaded.trajectory.begins, loaded.trajectory.ends) for loaded in runs]
    schedule = schedule_of(spans, options.begin, options.end, order.fps, options.speed)
    facing = runs[0].trajectory.model.facing
    camera = camera_at(options.camera, *extent_of(runs, 0.0), order.size, options.zoom_out, facing)
    from experiments.visualization.video.write import write_film, write_page

    if order.suffix == ".html":
        write_page(order.out, runs, schedule, camera)
    else:
        write_film(order.out, runs, schedule, camera, order.size, program)
    print(f"{order.out}: {schedule.count} frames, {schedule.duration:.2f} s, {order.out.stat().st_size / 1e6:.2f} MB")
    return 0


def _order(options: Namespace) -> _Order:
    out = Path(options.out)
    suffix = out.suffix.lower()
    if suffix not in DEFAULTS:
        raise InputError(f"-o {options.out}: the file name must end in {', '.join(DEFAULTS)}")
    if out.is_dir():
        raise InputError(f"-o {options.out}: this is a folder; name a file")
    for name in ("size", "browser") if suffix == ".html" else ():
        if getattr(options, name) is not None:
            raise InputError(f"--{name} {getattr(options, name)}: it is only for .mp4 and .gif; leave it out")
    fps, size = DEFAULTS[suffix]
    order = _Order(out, suffix, fps if options.fps is None else options.fps, parse_size(options.size or size))
    if not 0.1 <= options.zoom_out <= 100.0:
        raise InputError(f"--zoom-out {options.zoom_out:g}: it must be a factor from 0.1 to 100")
    writable_folder(out.parent)
    return order
