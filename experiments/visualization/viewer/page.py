"""The page of ``biped view``: the stage with its runs, time controls, cameras, switches, and plots in step."""

import html
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from contact.arrays import Floats
from experiments.visualization.viewer import colors
from experiments.visualization.viewer.curves import POINTS, pooled
from experiments.visualization.viewer.loaded_runs import Role, ended_of
from experiments.visualization.viewer.playback import Transport
from experiments.visualization.viewer.scene import BODIES, LAYERS, PLATE, Figure, Stage
from experiments.visualization.viewer.shapes import Color, shapes_of
from experiments.visualization.viewer.ticks import axis

#: [1/s] how often slider and cursor move while playing: more often costs the browser frames, and shows no more.
PANEL_RATE = 10.0
SPEEDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
#: Where the camera goes from the middle of what is looked at [m], by name; the human faces −x, its left is −y.
CAMERAS: dict[str, tuple[float, float, float]] = {
    "three-quarter": (-2.6, -2.1, 0.75),
    "front": (-3.4, 0.0, 0.15),
    "side": (0.0, -3.4, 0.15),
    "back": (3.4, 0.0, 0.15),
    "top": (-0.02, 0.0, 4.0),
}
#: [m] height of the middle of the standing human.
MIDDLE = 0.87
#: [m] half of the diagonal of what these show well: of the standing human.
ROOM = 0.95
#: How much farther away the camera goes at most, to see all of a run.
FARTHEST = 3.0
#: Instants of a run that are looked at for how much room it takes.
LOOKS = 9
#: [rad] vertical field of view.
FIELD_OF_VIEW = 0.6
#: [s] a look at whether there is something to do, while nothing moves.
IDLE = 0.1
#: [s] of pictures that are late are caught up on; what is later is left out.
LATE = 0.05
#: Values of a plot that differ by a smaller part than this are shown as one.
SAME = 1e-9
#: Strokes of the curves of one plot.
DASHES: tuple[tuple[int, ...], ...] = ((), (6, 4), (2, 3), (9, 3, 2, 3))


class Page:
    """What a browser shows; ``frame`` is called for each picture.

    Attributes:
        stage: of the figures.
        roles: the runs; the first is solid, the others ghosts, unless they stand side by side.
        transport: the time that is shown.
        frames: how many pictures have been sent.
        cost: [s] of the processor that they have taken so far.
    """

    def __init__(self, server: Any, roles: Sequence[Role], transport: Transport, side_by_side: float = 0.0) -> None:
        self.server, self.roles, self.transport = server, roles, transport
        self.frames, self.cost = 0, 0.0
        self.stage = Stage(server)
        self._figures = [self._figure(k, role, side_by_side) for k, role in enumerate(roles)]
        self._wake, self._stepping = threading.Event(), threading.Lock()
        self._todo: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._follow = False
        self._ended: tuple[bool, ...] = (False,) * len(roles)
        self._names: Any = None
        self._shown_time, self._shown_panel = float("nan"), float("-inf")
        self._aim, self._room = middle_of(roles, side_by_side)
        self._look_from_start()
        self._build()
        transport.on_change = self._wake.set

    def _figure(self, k: int, role: Role, apart: float) -> Figure:
        ghost = k > 0 and apart == 0.0
        color = colors.ghost_color(k - 1) if k > 0 else None
        offset = (0.0, apart * k, 0.0)
        plate = min(PLATE, abs(apart)) if apart else PLATE
        return self.stage.add(
            role.film.model, f"run_{k}", ghost, color=color, scenery=role.film.scenery, offset=offset, plate=plate
        )

    # --- pictures ---

    def frame(self, now: float) -> None:
        """Send what has changed at ``now`` [s] of a clock that never goes back."""
        began = time.thread_time()
        todo = [self._todo.get() for _ in range(self._todo.qsize())]
        moment = self.transport.advance(now)
        if not todo and moment == self._shown_time:
            self._update_panel(now, moment)
            return
        with self.stage.frame():
            for action in todo:
                action()
            snapshots = [role.film.at(moment) for role in self.roles]
            if self._follow:
                self.stage.carry((float(snapshots[0].com[0]), float(snapshots[0].com[1])))
            for figure, snapshot in zip(self._figures, snapshots, strict=True):
                figure.show(snapshot)
            self._update_panel(now, moment)
        self._shown_time = moment
        self.frames += 1
        self.cost += time.thread_time() - began

    def run(self, rate: float = 60.0, until: Callable[[], bool] = lambda: False) -> None:
        """Send pictures, ``rate`` a second while playing, until told to stop or interrupted."""
        following = time.perf_counter()
        while not until():
            self._wake.clear()
            if self.server.get_clients():
                self.frame(time.perf_counter())
            else:
                self.transport.hold()
            following = max(following + 1.0 / rate, time.perf_counter() - LATE)
            if self.transport.playing and self.server.get_clients():
                time.sleep(max(following - time.perf_counter(), 0.0))
            else:
                self._wake.wait(IDLE)

    def _later(self, action: Callable[[], None]) -> None:
        self._todo.put(action)
        self._wake.set()

    def _update_panel(self, now: float, moment: float) -> None:
        if self.transport.playing and now - self._shown_panel < 1.0 / PANEL_RATE:
            return
        if self._slider.value != round(moment, 3) or self._play.label != self._play_label():
            self._slider.value = round(moment, 3)
            self._play.label = self._play_label()
            self._plot.move_to(moment)
            ended = ended_of(self.roles, moment)
            if ended != self._ended:
                self._ended = ended
                self._names.content = self._title()
        self._shown_panel = now

    # --- the panel ---

    def _build(self) -> None:
        gui = self.server.gui
        gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False, brand_color=(0, 114, 178))
        gui.set_panel_label("biped view")
        self._names = gui.add_html(self._title())
        self._build_time(gui)
        self._plot = _PlotPanel(gui, self.roles, self.transport)
        with gui.add_folder("Camera"):
            self._build_camera(gui)
        with gui.add_folder("Show", expand_by_default=False):
            self._build_switches(gui)
        with gui.add_folder("Colours", expand_by_default=False):
            gui.add_html(legend())

    def _title(self) -> str:
        lines = []
        for k, role in enumerate(self.roles):
            color = colors.ghost_color(k - 1) if k else colors.rgb("#3A6896")
            over = f"; ended at {role.film.ends:g} s" if self._ended[k] else ""
            lines.append(_entry(color, f"<b>{html.escape(role.name)}</b>: {html.escape(role.outcome)}{over}"))
        return f'<div style="padding:0.2em 0.9em 0.5em;font-size:0.85em">{"".join(lines)}</div>'

    def _play_label(self) -> str:
        return "Pause" if self.transport.playing else "Play"

    def _build_time(self, gui: Any) -> None:
        transport = self.transport
        self._play = gui.add_button(self._play_label(), hint="space bar: play or pause", color="blue")
        span = max(transport.ends - transport.begins, 1e-3)
        begins = round(transport.begins, 3)
        self._slider = gui.add_slider(
            "Time [s]", min=begins, max=round(begins + span, 3), step=0.001, initial_value=begins
        )
        steps = gui.add_button_group(
            "Step", ("|◀", "◀", "▶", "▶|"), hint="to the start, a recorded row back, on, to the end"
        )
        names = {f"{speed:g} ×": speed for speed in sorted({*SPEEDS, transport.speed})}
        speed = gui.add_dropdown("Speed", tuple(names), initial_value=f"{transport.speed:g} ×")
        loop = gui.add_checkbox("Loop", transport.loop)

        self._play.on_click(lambda _: transport.toggle())
        self._slider.on_update(
            lambda event: transport.seek(self._slider.value) if event.client_id is not None else None
        )
        steps.on_click(lambda _: self.step(steps.value))
        speed.on_update(lambda _: setattr(transport, "speed", names[speed.value]))
        loop.on_update(lambda _: setattr(transport, "loop", loop.value))
        for label, key, action in (
            ("Play or pause", "space", transport.toggle),
            ("A recorded row on", "arrowright", lambda: self.step("▶")),
            ("A recorded row back", "arrowleft", lambda: self.step("◀")),
        ):
            self._command(gui, label, key, action)

    def _command(self, gui: Any, label: str, key: str, action: Callable[[], Any]) -> None:
        gui.add_command(label, hotkey=key).on_trigger(lambda _: action())

    def step(self, which: str) -> None:
        """Pause, and go to the start (``|◀``), a recorded row of the first run back or on, or to the end (``▶|``)."""
        film, transport = self.roles[0].film, self.transport
        with self._stepping:  # the server calls back from several threads at once
            transport.play(False)
            now = film.row_at(transport.time + 1e-9)
            last = len(film.time) - 1
            times = {
                "|◀": transport.begins,
                "◀": film.time[max(now - (film.time[now] > transport.time - 1e-9), 0)],
                "▶": film.time[min(now + 1, last)],
                "▶|": transport.ends,
            }
            transport.seek(float(times[which]))

    def _build_camera(self, gui: Any) -> None:
        names = tuple(CAMERAS)
        group = gui.add_button_group("From", names[1:])
        back = gui.add_button("Three-quarter view")
        follow = gui.add_checkbox("Follow the centre of mass", False)
        group.on_click(lambda event: self._look(event.client, group.value))
        back.on_click(lambda event: self._look(event.client, names[0]))

        def switch(_: Any) -> None:
            self._follow = follow.value
            self._later(lambda: None if self._follow else self.stage.carry(None))

        follow.on_update(switch)

    def _place_of(self, name: str) -> tuple[Floats, Floats]:
        return self._aim + np.array(CAMERAS[name]) * self._room / ROOM, self._aim

    def _look(self, client: Any, name: str) -> None:
        if client is None:
            return
        place, aim = self._place_of(name)
        with client.atomic():
            client.camera.up_direction = (0.0, 0.0, 1.0)
            client.camera.position = place
            client.camera.look_at = aim

    def _look_from_start(self) -> None:
        place, aim = self._place_of("three-quarter")
        camera = self.server.initial_camera
        camera.position, camera.look_at = tuple(place), tuple(aim)
        camera.up, camera.fov = (0.0, 0.0, 1.0), FIELD_OF_VIEW

    def _build_switches(self, gui: Any) -> None:
        body = gui.add_dropdown("Bodies", BODIES, initial_value="solid")
        body.on_update(lambda _: self._later(lambda: self.stage.show_bodies(body.value)))
        shade = gui.add_checkbox("Shadows", True)
        shade.on_update(lambda _: self._later(lambda: self.stage.cast_shadows(shade.value)))
        for layer, on in LAYERS.items():
            box = gui.add_checkbox(layer.capitalize(), on)
            box.on_update(self._switch(layer, box))
        scale = gui.add_slider(
            "Arrows [mm/N]", min=0.25, max=8.0, step=0.25, initial_value=1e3 * self.stage.force_scale
        )

        def rescale(_: Any) -> None:
            self.stage.force_scale = 1e-3 * scale.value
            self._later(self.stage.refresh)

        scale.on_update(rescale)
        for figure, role in zip(self._figures[1:], self.roles[1:], strict=True):
            box = gui.add_checkbox(role.name, True)
            box.on_update(self._hide(figure, box))

    def _switch(self, layer: str, box: Any) -> Callable[[Any], None]:
        return lambda _: self._later(lambda: self.stage.switch(layer, box.value))

    def _hide(self, figure: Figure, box: Any) -> Callable[[Any], None]:
        return lambda _: self._later(lambda: figure.set_visible(box.value))


class _PlotPanel:
    """A plot of one quantity of all runs, with a line at the present time."""

    def __init__(self, gui: Any, roles: Sequence[Role], transport: Transport) -> None:
        self._gui, self._roles, self._transport = gui, roles, transport
        titles = list(dict.fromkeys(title for role in roles for title in role.plots))
        self._grid = np.linspace(transport.begins, max(transport.ends, transport.begins + 1e-3), POINTS)
        self._choice = gui.add_dropdown("Plot", ("(none)", *titles), initial_value=titles[0])
        self._handle: Any = None
        self._lock = threading.Lock()
        self._slot = gui.add_folder(None)
        self._choice.on_update(lambda _: self._draw())
        self._draw()

    def _draw(self) -> None:
        with self._lock:
            if self._handle is not None:
                self._handle.remove()
                self._handle = None
            title = self._choice.value
            curves: list[Floats] = []
            series: list[dict[str, Any]] = [{"label": "time [s]"}]
            for k, role in enumerate(self._roles):
                for j, curve in enumerate(role.plots[title].curves if title in role.plots else ()):
                    curves.append(pooled(role.film.time, curve.values, self._grid))
                    series.append(_stroke(k, j, self._label(k, curve.label), len(self._roles)))
            if not curves:
                return
            self._curves = curves
            with np.errstate(all="ignore"):
                low, high = float(np.nanmin(curves)), float(np.nanmax(curves))
            self._range = _with_room(low, high)
            series.append({"label": "now", "stroke": "#C8102E", "width": 1.5, "points": {"show": False}})
            with self._slot:
                self._handle = self._gui.add_uplot(
                    self._data(self._transport.time),
                    tuple(series),
                    title=title,
                    scales={
                        "x": {"time": False, "range": (self._grid[0], self._grid[-1])},
                        "y": {"range": self._range},
                    },
                    axes=(axis(self._grid[0], self._grid[-1], upright=False), axis(*self._range, upright=True)),
                    legend={"show": len(series) > 3, "live": False},
                    cursor={"drag": {"x": False, "y": False}},
                    height=210,
                )

    def _label(self, run: int, curve: str) -> str:
        several = [self._roles[run].name] if len(self._roles) > 1 else []
        return " ".join([*several, *([curve] if curve else [])])

    def _data(self, moment: float) -> tuple[Floats, ...]:
        """The curves, with the present time twice among the grid: there the line that shows it stands."""
        at = int(np.searchsorted(self._grid, moment))
        grid = np.insert(self._grid, at, (moment, moment))
        filled = []
        for values in self._curves:
            now = np.interp(moment, self._grid, values)
            filled.append(np.insert(values, at, (now, now)))
        line = np.full(len(grid), np.nan)
        line[at : at + 2] = self._range
        return (grid, *filled, line)

    def move_to(self, moment: float) -> None:
        with self._lock:
            if self._handle is not None:
                self._handle.data = self._data(moment)


def _with_room(low: float, high: float) -> tuple[float, float]:
    """A range with some room; what only the last digits tell apart counts as constant."""
    most = max(abs(low), abs(high))
    pad = 0.05 * (high - low) if high - low > SAME * most else max(1e-3, 0.05 * most)
    return low - pad, high + pad


def middle_of(roles: Sequence[Role], apart: float) -> tuple[Floats, float]:
    """[m] the middle of all that is seen of some runs, and half of the diagonal of it."""
    corners = []
    for k, role in enumerate(roles):
        film, shapes = role.film, shapes_of(role.film.model)
        for snapshot in film.sampled(np.linspace(film.begins, film.ends, LOOKS)):
            for shape in shapes:
                points = snapshot.point_of(shape.body, shape.vertices) + np.array([0.0, apart * k, 0.0])
                corners += [points.min(axis=0), points.max(axis=0)]
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    return (low + high) / 2.0, min(float(np.linalg.norm(high - low)) / 2.0, FARTHEST * ROOM)


def _stroke(run: int, curve: int, label: str, runs: int) -> dict[str, Any]:
    """How a curve is drawn: by its run's colour where there are several, else by its own."""
    own = colors.GHOSTS[curve - 1] if curve else colors.rgb("#0072B2")
    color = own if runs == 1 else (colors.ghost_color(run - 1) if run else colors.rgb("#0072B2"))
    style: dict[str, Any] = {"label": label or " ", "stroke": colors.code_of(color), "width": 1.6}
    if runs > 1 and curve:
        style["dash"] = list(DASHES[curve % len(DASHES)])
    return style | {"points": {"show": False}}


def _entry(color: Color, text: str) -> str:
    square = f"display:inline-block;width:0.8em;height:0.8em;border-radius:2px;background:{colors.code_of(color)}"
    return f'<div style="margin:0.15em 0"><span style="{square};margin-right:0.5em"></span>{text}</div>'


def legend() -> str:
    marks = "".join(_entry(color, html.escape(name)) for name, color in colors.MARKS.items())
    modes = "".join(_entry(color, html.escape(name)) for name, color in colors.MODE_NAMES.items())
    return (
        f'<div style="padding:0 0.9em 0.5em;font-size:0.8em">{marks}'
        f'<div style="margin-top:0.6em"><b>contact points and their forces</b></div>{modes}</div>'
    )
