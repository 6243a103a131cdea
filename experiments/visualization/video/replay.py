"""Page that plays runs: one file for any browser, which needs no network."""

import html
from collections.abc import Callable, Sequence

from biped.model import Model
from experiments.visualization.video.frame_schedule import FrameSchedule
from experiments.visualization.video.pictures import set_lights
from experiments.visualization.viewer import colors
from experiments.visualization.viewer.camera import Camera
from experiments.visualization.viewer.colors import legend
from experiments.visualization.viewer.loaded_runs import Shown, add_runs, color_of, have_ended
from experiments.visualization.viewer.scene import ViewerScene
from experiments.visualization.viewer.serve import serving
from experiments.visualization.viewer.snapshot import Snapshot

#: On each restart the player briefly sets viser's own light, and would fade the canvas in again.
_PANEL = """\
<style>canvas {{ opacity: 1 !important }}</style>
<div style="position:fixed;top:0.8em;left:0.8em;z-index:5;padding:0.5em 0.8em;border-radius:6px;
background:rgba(255,255,255,0.82);color:#262c34;font:14px/1.35 system-ui,sans-serif;max-width:24em">{lines}
<details style="margin-top:0.3em"><summary style="cursor:pointer;font-size:0.85em">colours</summary>{legend}</details>
</div>"""


def replay_page(
    runs: Sequence[Shown], schedule: FrameSchedule, camera: Camera, progress: Callable[[float], None]
) -> str:
    """Return an HTML page with the scene and a player; the scene can be turned during playback.

    The scene is static between two instants; ``progress`` is called with the number of finished instants.
    """
    with serving(port=0) as server:
        camera.start(server)
        scene = ViewerScene(server)
        set_lights(scene)
        models = add_runs(scene, runs)
        recording = None
        for k, moment in enumerate(schedule.times):
            with scene.frame():
                for model, loaded in zip(models, runs, strict=True):
                    model.show(loaded.trajectory.at(moment))
            if recording is None:  # the initial scene; later messages are changes
                recording = server.get_scene_serializer()
            recording.insert_sleep(1.0 / schedule.fps)
            progress(k + 1)
        assert recording is not None
        page: str = recording.as_html()
    return _completed(page, ", ".join(loaded.name for loaded in runs), _lines(runs, schedule))


def still_page(model: Model, snapshot: Snapshot, camera: Camera) -> str:
    """Return an HTML page of a static model that can be turned."""
    with serving(port=0) as server:
        camera.start(server)
        scene = ViewerScene(server)
        set_lights(scene)
        with scene.frame():
            scene.add(model, "model").show(snapshot)
        page: str = server.get_scene_serializer().as_html()
    return _completed(page, model.name, f"<div><b>{html.escape(model.name)}</b></div>")


def _completed(page: str, title: str, lines: str) -> str:
    page = _replaced(page, "<title>Viser</title>", f"<title>{html.escape(title)}</title>")
    return _replaced(page, "<body>", "<body>" + _PANEL.format(lines=lines, legend=legend()))


def _lines(runs: Sequence[Shown], schedule: FrameSchedule) -> str:
    lines = []
    for k, loaded in enumerate(runs):
        mark = f'<span style="color:{colors.code_of(color_of(k))}">■</span> ' if len(runs) > 1 else ""
        over = f"; ends at {loaded.trajectory.ends:g} s" if have_ended([loaded], schedule.ends)[0] else ""
        lines.append(f"<div>{mark}<b>{html.escape(loaded.name)}</b>: {html.escape(loaded.verdict)}{over}</div>")
    speed = "" if schedule.speed == 1.0 else f", × {schedule.speed:g}"
    lines.append(f'<div style="font-size:0.85em">{schedule.begins:g} … {schedule.ends:g} s{speed}</div>')
    return "".join(lines)


def _replaced(page: str, old: str, new: str) -> str:
    if old not in page:
        raise RuntimeError(f"viser's page has no {old}: this version of viser is not supported")
    return page.replace(old, new, 1)
