"""A page that plays runs: one file, that any browser opens by a double click, without a network."""

import html
from collections.abc import Callable, Sequence

from experiments.visualization.video.camera import Camera
from experiments.visualization.video.frame_schedule import Shots
from experiments.visualization.video.pictures import light_plainly, look_from
from experiments.visualization.viewer import colors
from experiments.visualization.viewer.loaded_runs import Role, ended_of
from experiments.visualization.viewer.page import legend
from experiments.visualization.viewer.scene import Stage
from experiments.visualization.viewer.serve import serving

#: Each time the player begins again it sets up viser's own light for a moment, and would fade the canvas in again.
_PANEL = """\
<style>canvas {{ opacity: 1 !important }}</style>
<div style="position:fixed;top:0.8em;left:0.8em;z-index:5;padding:0.5em 0.8em;border-radius:6px;
background:rgba(255,255,255,0.82);color:#262c34;font:14px/1.35 system-ui,sans-serif;max-width:24em">{lines}
<details style="margin-top:0.3em"><summary style="cursor:pointer;font-size:0.85em">colours</summary>{legend}</details>
</div>"""


def replay_page(roles: Sequence[Role], shots: Shots, camera: Camera, progress: Callable[[float], None]) -> str:
    """The page, as HTML: the scene with a player, that can be turned while it plays.

    Args:
        roles: the runs; the first is solid, the others are laid over it as ghosts.
        shots: the instants; between two of them nothing moves.
        camera: where one looks from at first.
        progress: called with how many instants are done.
    """
    with serving(port=0) as server:
        look_from(server, camera)
        stage = Stage(server)
        light_plainly(stage)
        figures = [
            stage.add(
                role.film.model, f"run_{k}", k > 0, color=colors.ghost_color(k - 1) if k else None,
                scenery=role.film.scenery,
            )
            for k, role in enumerate(roles)
        ]  # fmt: skip
        recording = None
        for k, moment in enumerate(shots.times):
            with stage.frame():
                for figure, role in zip(figures, roles, strict=True):
                    figure.show(role.film.at(moment))
            if recording is None:  # all that is there at first, and from here on what changes
                recording = server.get_scene_serializer()
            recording.insert_sleep(1.0 / shots.fps)
            progress(k + 1)
        assert recording is not None
        page: str = recording.as_html()
    return _with_words(page, roles, shots)


def _with_words(page: str, roles: Sequence[Role], shots: Shots) -> str:
    """The page with a title, and with a few words in its corner."""
    lines = []
    for k, role in enumerate(roles):
        square = colors.code_of(colors.ghost_color(k - 1)) if k else "#3A6896"
        mark = f'<span style="color:{square}">■</span> ' if len(roles) > 1 else ""
        over = f"; ends at {role.film.ends:g} s" if ended_of([role], shots.ends)[0] else ""
        lines.append(f"<div>{mark}<b>{html.escape(role.name)}</b>: {html.escape(role.outcome)}{over}</div>")
    about = f"{shots.begins:g} … {shots.ends:g} s" + ("" if shots.speed == 1.0 else f", × {shots.speed:g}")
    lines.append(f'<div style="font-size:0.85em">{about}</div>')
    title = html.escape(", ".join(role.name for role in roles))
    page = _replaced(page, "<title>Viser</title>", f"<title>{title}</title>")
    return _replaced(page, "<body>", "<body>" + _PANEL.format(lines="".join(lines), legend=legend()))


def _replaced(page: str, old: str, new: str) -> str:
    if old not in page:
        raise RuntimeError(f"viser's page has no {old}: another version than this was made for")
    return page.replace(old, new, 1)
