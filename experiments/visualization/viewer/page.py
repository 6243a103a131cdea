"""Page of ``biped view``: the scene with its runs, playback controls, cameras, switches, and synchronized plots."""

import html
import queue
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from experiments.visualization.viewer.camera import CAMERAS, Camera, camera_at
from experiments.visualization.viewer.colors import entry
from experiments.visualization.viewer.controls import add_help, add_screenshot, begin_panel
from experiments.visualization.viewer.loaded_runs import LoadedRun, add_runs, color_of, extent_of, have_ended
from experiments.visualization.viewer.playback import Playback
from experiments.visualization.viewer.plot_panel import PlotPanel
from experiments.visualization.viewer.scene import BODIES, LAYERS, ViewerScene

#: [1/s] updates of slider and cursor during playback; more would cost the browser frames.
PANEL_RATE = 10.0
SPEEDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
#: [s] interval between checks for work while nothing moves.
IDLE = 0.1
#: Number of plots in addition to the first plot.
MORE_PLOTS = 2
KEYS = {"space": "play, pause", "← →": "previous, next recorded row"}
#: [s] delay of pictures that is made up for; later ones are skipped.
LATE = 0.05


class Page:
    """Page of ``biped view`` in a browser; ``run`` sends pictures, each by a call of ``frame``.

    The first run is solid, the others transparent; with ``side_by_side`` [m] all are solid, with this spacing.
    """

    def __init__(self, server: Any, runs: Sequence[LoadedRun], playback: Playback, side_by_side: float = 0.0) -> None:
        self.server, self.runs, self.playback = server, runs, playback
        self.scene = ViewerScene(server)
        self._models = add_runs(self.scene, runs, side_by_side)
        self._wake, self._stepping = threading.Event(), threading.Lock()
        self._todo: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._follow = False
        self._ended: tuple[bool, ...] = (False,) * len(runs)
        self._names: Any = None
        self._shown_time, self._shown_panel = float("nan"), float("-inf")
        self._cursor = float("nan")  # [s] time of slider and plots
        self._aim, self._reach = extent_of(runs, side_by_side)
        self._camera("three-quarter").start(server)
        self._build()
        playback.on_change = self._wake.set

    def _camera(self, preset: str) -> Camera:
        return camera_at(preset, self._aim, self._reach, facing=self.runs[0].trajectory.model.facing)

    # --- pictures ---

    def frame(self, now: float) -> None:
        """Send the changes at ``now`` [s] of a monotonic clock."""
        todo = [self._todo.get() for _ in range(self._todo.qsize())]
        moment = self.playback.advance(now)
        if not todo and moment == self._shown_time:
            self._update_panel(now, moment)
            return
        with self.scene.frame():
            for action in todo:
                action()
            snapshots = [loaded.trajectory.at(moment) for loaded in self.runs]
            if self._follow:
                self.scene.carry((float(snapshots[0].com[0]), float(snapshots[0].com[1])))
            for model, snapshot in zip(self._models, snapshots, strict=True):
                model.show(snapshot)
            self._update_panel(now, moment)
        self._shown_time = moment

    def run(self, rate: float = 60.0, until: Callable[[], bool] = lambda: False) -> None:
        """Send pictures, ``rate`` per second during playback, until ``until`` is true or an interrupt."""
        following = time.perf_counter()
        while not until():
            self._wake.clear()
            if self.server.get_clients():
                self.frame(time.perf_counter())
            else:
                self.playback.hold()
            following = max(following + 1.0 / rate, time.perf_counter() - LATE)
            if self.playback.playing and self.server.get_clients():
                time.sleep(max(following - time.perf_counter(), 0.0))
            else:
                self._wake.wait(IDLE)

    def _later(self, action: Callable[[], None]) -> None:
        """Run an action with the next picture: the server calls back from other threads."""
        self._todo.put(action)
        self._wake.set()

    def _update_panel(self, now: float, moment: float) -> None:
        if self.playback.playing and now - self._shown_panel < 1.0 / PANEL_RATE:
            return
        if self._cursor != moment or self._play.label != self._play_label():
            self._cursor = moment
            self._slider.value = round(moment, 3)
            self._play.label = self._play_label()
            for plot in self._plots:
                plot.move_to(moment)
            ended = have_ended(self.runs, moment)
            if ended != self._ended:
                self._ended = ended
                self._names.content = self._title()
        self._shown_panel = now

    # --- the panel ---

    def _build(self) -> None:
        gui = self.server.gui
        begin_panel(gui, "biped view")
        self._names = gui.add_html(self._title())
        self._build_time(gui)
        self._plots = [PlotPanel(gui, self.runs, self.playback)]
        with gui.add_folder("More plots", expand_by_default=False):
            self._plots += [
                PlotPanel(gui, self.runs, self.playback, f"Plot {k}", None) for k in range(2, 2 + MORE_PLOTS)
            ]
        with gui.add_folder("Camera"):
            self._build_camera(gui)
        with gui.add_folder("Show", expand_by_default=False):
            self._build_switches(gui)
        add_help(gui, KEYS)

    def _title(self) -> str:
        lines = []
        for k, loaded in enumerate(self.runs):
            over = f"; ended at {loaded.trajectory.ends:g} s" if self._ended[k] else ""
            lines.append(entry(color_of(k), f"<b>{html.escape(loaded.name)}</b>: {html.escape(loaded.verdict)}{over}"))
        return f'<div style="padding:0.2em 0.9em 0.5em;font-size:0.85em">{"".join(lines)}</div>'

    def _play_label(self) -> str:
        return "Pause" if self.playback.playing else "Play"

    def _build_time(self, gui: Any) -> None:
        playback = self.playback
        self._play = gui.add_button(self._play_label(), hint="space bar: play or pause", color="blue")
        add_screenshot(gui)
        span = max(playback.ends - playback.begins, 1e-3)
        begins = round(playback.begins, 3)
        self._slider = gui.add_slider(
            "Time [s]", min=begins, max=round(begins + span, 3), step=0.001, initial_value=begins
        )
        steps = gui.add_button_group("Step", ("|◀", "◀", "▶", "▶|"), hint="start, previous row, next row, end")
        names = {f"{speed:g} ×": speed for speed in sorted({*SPEEDS, playback.speed})}
        speed = gui.add_dropdown("Speed", tuple(names), initial_value=f"{playback.speed:g} ×")
        loop = gui.add_checkbox("Loop", playback.loop)

        self._play.on_click(lambda _: playback.toggle())
        self._slider.on_update(lambda event: playback.seek(self._slider.value) if event.client_id is not None else None)
        steps.on_click(lambda _: self.step(steps.value))
        speed.on_update(lambda _: setattr(playback, "speed", names[speed.value]))
        loop.on_update(lambda _: setattr(playback, "loop", loop.value))
        gui.add_command("Play or pause", hotkey="space").on_trigger(lambda _: playback.toggle())
        gui.add_command("Next recorded row", hotkey="arrowright").on_trigger(lambda _: self.step("▶"))
        gui.add_command("Previous recorded row", hotkey="arrowleft").on_trigger(lambda _: self.step("◀"))

    def step(self, which: str) -> None:
        """Pause, and go to the start (``|◀``), to the previous or next row of the first run, or to the end (``▶|``)."""
        trajectory, playback = self.runs[0].trajectory, self.playback
        with self._stepping:  # the server calls back from several threads
            playback.play(False)
            times = trajectory.times
            now = trajectory.row_at(playback.time + 1e-9)
            places = {
                "|◀": playback.begins,
                "◀": times[max(now - (times[now] > playback.time - 1e-9), 0)],
                "▶": times[min(now + 1, len(times) - 1)],
                "▶|": playback.ends,
            }
            playback.seek(float(places[which]))

    def _build_camera(self, gui: Any) -> None:
        first, *presets = CAMERAS
        group = gui.add_button_group("View from", tuple(presets))
        back = gui.add_button("Three-quarter view")
        follow = gui.add_checkbox("Follow the centre of mass", False)
        group.on_click(lambda event: self._look(event.client, group.value))
        back.on_click(lambda event: self._look(event.client, first))

        def switch(_: Any) -> None:
            self._follow = follow.value
            self._later(lambda: None if self._follow else self.scene.carry(None))

        follow.on_update(switch)

    def _look(self, client: Any, name: str) -> None:
        if client is None:
            return
        camera = self._camera(name)
        with client.atomic():
            client.camera.up_direction = (0.0, 0.0, 1.0)
            client.camera.position = camera.position
            client.camera.look_at = camera.look_at

    def _build_switches(self, gui: Any) -> None:
        scene = self.scene
        body = gui.add_dropdown("Bodies", BODIES, initial_value="solid")
        self._on_update(body, scene.show_bodies)
        self._on_update(gui.add_checkbox("Shadows", True), scene.cast_shadows)
        for layer, on in LAYERS.items():
            self._on_update(gui.add_checkbox(layer.capitalize(), on), partial(scene.switch, layer))
        scale = gui.add_slider("Arrows [mm/N]", min=0.25, max=8.0, step=0.25, initial_value=1e3 * scene.force_scale)

        def rescale(millimetres: float) -> None:
            scene.force_scale = 1e-3 * millimetres
            scene.refresh()

        self._on_update(scale, rescale)
        for model, loaded in zip(self._models[1:], self.runs[1:], strict=True):
            self._on_update(gui.add_checkbox(loaded.name, True), model.set_visible)

    def _on_update(self, control: Any, action: Callable[[Any], None]) -> None:
        control.on_update(lambda _: self._later(lambda: action(control.value)))
