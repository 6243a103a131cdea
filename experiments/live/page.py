"""The page of ``biped live``: the stage, what there is to tell, and what there is to meddle with."""

import html
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from biped.disturbances import Throw
from biped.model.geometry import Vector3
from controllers.gains import KEYS, UNITS, save_gains
from controllers.workspace import WorkspaceController, WorkspaceGains
from experiments.live.loop import EDGES, Loop
from experiments.live.runner import Runner, Status
from experiments.parameters.disturbances import heading
from experiments.viewer.page import CAMERAS, FIELD_OF_VIEW, MIDDLE, legend
from experiments.viewer.scenery import scenery_of
from experiments.viewer.snapshot import snapshot_of
from experiments.viewer.stage import LAYERS, Stage

#: [1/s] how often the words change: more often could not be read.
WORDS_RATE = 4.0
AXES = ("x", "y", "z")
TITLES = {
    "kp_position": "position: stiffness",
    "kd_position": "position: damping",
    "kp_orientation": "orientation: stiffness",
    "kd_orientation": "orientation: damping",
}
#: The greatest gains of the sliders, unless a gain is above them already: twice what tuning has found good.
MOST_GAIN = {"kp_position": 400.0, "kd_position": 60.0, "kp_orientation": 800.0, "kd_orientation": 120.0}
#: [m] how far the set point may be moved.
REACH = 0.10
AZIMUTH = "0: to where the human faces; 90: to its left"


@dataclass(frozen=True)
class _Dial:
    """A slider and what it is a slider of."""

    handle: Any
    key: str
    axis: int


class Page:
    """What a browser shows; ``show`` is called for each picture, from the runner's thread.

    Args:
        server: the viser server.
        loop: what is shown.
        title: of the experiment.
        gains_file: where "Save gains" writes, unless another file is typed in.
    """

    def __init__(self, server: Any, loop: Loop, title: str, gains_file: str = "gains.toml") -> None:
        self.server, self._title = server, title
        self._first = loop.controller
        self.stage = Stage(server)
        scenery = scenery_of(loop.model, loop.disturbances)
        if scenery.thrown_size is None and loop.model.shapes:
            scenery = replace(scenery, thrown_size=EDGES)
        self._figure = self.stage.add(loop.model, "figure", scenery=scenery)
        self._edges = scenery.thrown_size or EDGES
        self.runner: Runner | None = None
        self._words: Any = None
        self._worded = -math.inf
        self._state: tuple[bool, bool] | None = None
        self._dials: list[_Dial] = []
        self._points: list[Any] = []
        self.gains = loop.gains
        self._target = loop.controller.target_position if isinstance(loop.controller, WorkspaceController) else None
        self._look(loop)
        self._build(loop, gains_file)

    # --- pictures ---

    def show(self, loop: Loop, status: Status) -> None:
        """Send what has changed."""
        snapshot = snapshot_of(loop.state, loop.disturbances)
        if not any(isinstance(disturbance, Throw) for disturbance in loop.disturbances):
            snapshot = replace(snapshot, thrown=None)
        with self.stage.frame():
            self._figure.show(snapshot)
            self._say(status)

    def complain(self, what: str) -> None:
        """Tell all browsers what was wrong."""
        for client in self.server.get_clients().values():
            client.add_notification("That cannot be done", what, color="red", auto_close_seconds=8.0)

    def _say(self, status: Status) -> None:
        """Words, a few times a second; and at once, when something has happened."""
        assert self.runner is not None
        now = self.runner.now()
        state = (status.paused, status.fell_at is not None or status.error is not None)
        if state == self._state and now - self._worded < 1.0 / WORDS_RATE:
            return
        self._state, self._worded = state, now
        self._words.content = words(status)
        self._pause.label = "Go on" if status.paused else "Pause"

    def _look(self, loop: Loop) -> None:
        x, y = (float(c) for c in loop.state.q[:2]) if loop.model.is_floating else (0.0, 0.0)
        away = CAMERAS["three-quarter"]
        camera = self.server.initial_camera
        camera.position, camera.look_at = (x + away[0], y + away[1], MIDDLE + away[2]), (x, y, MIDDLE)
        camera.up, camera.fov = (0.0, 0.0, 1.0), FIELD_OF_VIEW

    # --- the panel ---

    def _build(self, loop: Loop, gains_file: str) -> None:
        gui = self.server.gui
        gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False, brand_color=(0, 114, 178))
        gui.set_panel_label("biped live")
        gui.add_html(f'<div style="padding:0.2em 0.9em 0.3em;font-size:0.85em">{html.escape(self._title)}</div>')
        self._words = gui.add_markdown("")
        self._build_time(gui)
        if loop.model.is_floating:
            with gui.add_folder("Push"):
                self._build_push(gui)
        if loop.model.shapes:
            with gui.add_folder("Throw a block"):
                self._build_throw(gui, loop)
        if self.gains is not None:
            with gui.add_folder("Gains"):
                self._build_gains(gui, self.gains, gains_file)
        if self._target is not None:
            with gui.add_folder("Set point", expand_by_default=False):
                self._build_target(gui, self._target)
        with gui.add_folder("Show", expand_by_default=False):
            for layer, on in LAYERS.items():
                box = gui.add_checkbox(layer.capitalize(), on)
                box.on_update(self._asker(self._switch(layer, box)))
        with gui.add_folder("Colours", expand_by_default=False):
            gui.add_html(legend())

    def _asker(self, change: Callable[[Loop], Any]) -> Callable[[Any], None]:
        """A callback that has the runner make a change between two ticks."""

        def ask(_: Any) -> None:
            assert self.runner is not None
            self.runner.ask(change)

        return ask

    def _switch(self, layer: str, box: Any) -> Callable[[Loop], None]:
        return lambda _: self.stage.switch(layer, box.value)

    def _build_time(self, gui: Any) -> None:
        self._pause = gui.add_button("Pause", hint="space bar")
        restart = gui.add_button("Restart", color="orange", hint="R; gains and set point stay")
        again = gui.add_checkbox("Restart by itself after a fall", False)

        def pause(_: Any) -> None:
            assert self.runner is not None
            self.runner.pause(not self.runner.paused)

        def switch(_: Any) -> None:
            assert self.runner is not None
            self.runner.again = again.value

        self._pause.on_click(pause)
        gui.add_command("Pause or go on", hotkey=" ").on_trigger(pause)
        anew = self._asker(lambda loop: loop.restart())
        restart.on_click(anew)
        gui.add_command("Restart", hotkey="r").on_trigger(anew)
        again.on_update(switch)

    def _build_push(self, gui: Any) -> None:
        azimuth = gui.add_slider("Direction [°]", min=-180, max=180, step=5, initial_value=0, hint=AZIMUTH)
        impulse = gui.add_slider("Impulse [N·s]", min=0.5, max=40.0, step=0.5, initial_value=6.0)
        duration = gui.add_slider("Duration [s]", min=0.02, max=1.0, step=0.02, initial_value=0.1)
        button = gui.add_button("Push", color="red", hint="P")

        def push(loop: Loop) -> None:
            loop.push(_heading(azimuth.value), impulse.value, duration.value)

        button.on_click(self._asker(push))
        gui.add_command("Push", hotkey="p").on_trigger(self._asker(push))

    def _build_throw(self, gui: Any, loop: Loop) -> None:
        middle = min(max(loop.middle_of_target()[2], 0.2), 1.6)
        azimuth = gui.add_slider("Direction [°]", min=-180, max=180, step=5, initial_value=0, hint=AZIMUTH)
        speed = gui.add_slider("Speed [m/s]", min=0.5, max=10.0, step=0.1, initial_value=4.0)
        height = gui.add_slider("Height [m]", min=0.0, max=1.8, step=0.01, initial_value=round(middle, 2))
        mass = gui.add_slider("Mass [kg]", min=0.1, max=10.0, step=0.1, initial_value=1.8)
        button = gui.add_button("Throw", color="red", hint="T")

        def throw(loop: Loop) -> None:
            loop.throw(_heading(azimuth.value), speed.value, height.value, mass.value, self._edges)

        button.on_click(self._asker(throw))
        gui.add_command("Throw a block", hotkey="t").on_trigger(self._asker(throw))

    def _build_gains(self, gui: Any, gains: WorkspaceGains, file: str) -> None:
        for key in KEYS:
            gui.add_html(
                f'<div style="padding:0.3em 0.9em 0;font-size:0.8em"><b>{TITLES[key]}</b> [{UNITS[key]}]</div>'
            )
            for axis, value in enumerate(getattr(gains, key)):
                most = max(MOST_GAIN[key], 2.0 * value)
                slider = gui.add_slider(
                    AXES[axis], min=0.0, max=most, step=most / 4000.0, initial_value=value, hint=f"{key}, {AXES[axis]}"
                )
                dial = _Dial(slider, key, axis)
                self._dials.append(dial)
                slider.on_update(self._turner(dial))
        reset = gui.add_button("Reset gains")
        name = gui.add_text("File", file)
        save = gui.add_button("Save gains", hint="for biped run --gains FILE, and biped live --gains FILE")
        reset.on_click(lambda _: self.set_gains(gains))
        save.on_click(lambda event: self.save(name.value, event.client))

    def _turner(self, dial: _Dial) -> Callable[[Any], None]:
        def turn(event: Any) -> None:
            if event.client_id is not None:  # turned by a hand; by ``set_gains`` all is known already
                assert self.gains is not None
                triple = list(getattr(self.gains, dial.key))
                triple[dial.axis] = float(dial.handle.value)
                self._use(replace(self.gains, **{dial.key: tuple(triple)}))

        return turn

    def set_gains(self, gains: WorkspaceGains) -> None:
        """Let these gains act, and the sliders show them."""
        self._use(gains)
        for dial in self._dials:
            dial.handle.value = getattr(gains, dial.key)[dial.axis]

    def _use(self, gains: WorkspaceGains) -> None:
        assert self.runner is not None
        self.gains = gains
        self.runner.ask(lambda loop: loop.set_gains(gains))

    def save(self, file: str, client: Any = None) -> None:
        """Write the gains that act, and say so to the one who asked."""
        assert self.gains is not None
        title, color = "Gains saved", "green"
        try:
            if not file.strip():
                raise OSError("type a file's name first")
            save_gains(self.gains, Path(file))
            body = f"{Path(file).resolve()}: biped run … --gains {file}"
        except OSError as error:
            title, body, color = "Gains not saved", f"{file}: {error.strerror or error}", "red"
        if client is not None:
            client.add_notification(title, body, color=color, auto_close_seconds=8.0)

    def _build_target(self, gui: Any, first: Vector3) -> None:
        for axis, value in enumerate(first):
            slider = gui.add_slider(
                f"{AXES[axis]} [m]", min=value - REACH, max=value + REACH, step=0.001, initial_value=value
            )
            slider.on_update(self._mover(axis, slider))
            self._points.append(slider)
        gui.add_button("Back").on_click(lambda _: self._set_target(first))

    def _mover(self, axis: int, slider: Any) -> Callable[[Any], None]:
        def move(event: Any) -> None:
            if event.client_id is not None:
                assert self._target is not None
                place = list(self._target)
                place[axis] = float(slider.value)
                self._aim((place[0], place[1], place[2]))

        return move

    def _set_target(self, place: Vector3) -> None:
        self._aim(place)
        for slider, value in zip(self._points, place, strict=True):
            slider.value = value

    def _aim(self, place: Vector3) -> None:
        assert self.runner is not None
        self._target = place
        self.runner.ask(lambda loop: loop.set_target(place))


def _heading(degrees: float) -> Vector3:
    return heading(math.radians(degrees))


def words(status: Status) -> str:
    """What there is to tell, as Markdown."""
    if status.error is not None:
        state = f"### Stopped\n{status.error}. Press **Restart**."
    elif status.fell_at is not None:
        state = f"### Fallen at {status.fell_at:.2f} s\nPress **Restart**."
    else:
        state = f"### {'Paused' if status.paused else 'Standing'}"
    told = [f"{status.time:.1f} s simulated"]
    if status.reading is not None:
        told.append(f"real time × {status.reading.factor:.2f}")
        told.append(f"idle {100.0 * status.reading.idle:.0f} %")
    if status.dropped > 0.005:
        told.append(f"{status.dropped:.1f} s behind the clock and given up")
    return f"{state}\n\n{', '.join(told)}"
