"""Page of ``biped live``: the scene, its status, the controls, and where gains and runs are saved."""

import html
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from biped.disturbances import Push, Throw
from biped.disturbances.disturbance import heading
from biped.dynamics import forward_kinematics
from biped.model.geometry import Vector3, quaternion_matrix, vector3
from contact.arrays import Floats
from controllers.gains import save_gains
from controllers.workspace import WorkspaceController, WorkspaceGains
from experiments.catalogue.parameters.fields import field_parameters
from experiments.catalogue.parameters.parameter import Parameter
from experiments.visualization.live.loop import EDGES, Loop
from experiments.visualization.live.runner import Runner
from experiments.visualization.live.settings import Settings, build_settings
from experiments.visualization.viewer.camera import camera_at
from experiments.visualization.viewer.controls import add_help, add_screenshot, begin_panel
from experiments.visualization.viewer.loaded_runs import extent_at
from experiments.visualization.viewer.saved_runs import save_run
from experiments.visualization.viewer.scene import LAYERS, ViewerScene
from experiments.visualization.viewer.scenery import scenery_of
from experiments.visualization.viewer.trajectory import snapshot_of, touching_only

#: [1/s] rate of changes of the text; at a higher rate it could not be read.
TEXT_RATE = 4.0
AXES = ("x", "y", "z")
#: [m] range of the set point.
REACH = 0.10
#: Key that is held while dragging.
PULL_KEY = "cmd/ctrl"
#: [N] largest pull along each axis.
MOST_PULL = 600.0
KEYS_AND_MOUSE = {
    "space": "pause, continue",
    "R": "restart",
    "P": "push",
    "T": "throw a block",
    "Ctrl-drag a body": "pull it",
}


class Page:
    """Page of ``biped live`` in a browser; the thread of the `Runner` calls ``show`` for each picture.

    The server calls back from several threads. A callback therefore only calls ``Runner.ask``: the runner's thread
    reads, changes and writes everything, in order. The button "Save gains" writes ``gains_file``, "Save run" a new
    folder in ``runs``. ``settings`` are the parameters that the page can change; None: it shows no parameters.
    """

    runner: Runner  # set by the caller that starts it

    def __init__(
        self,
        server: Any,
        loop: Loop,
        title: str,
        gains_file: str | Path = "gains.toml",
        settings: Settings | None = None,
        runs: str | Path = "results/live",
    ) -> None:
        self.server, self._title, self._settings, self._runs = server, title, settings, Path(runs)
        self._push: Push | None = None
        self.scene = ViewerScene(server)
        self._add_figure(loop)
        self._carried: tuple[float, float] | None = None  # [m] origin of the moved scene, which follows the model
        self._held = np.zeros(3)  # [m] held point, from the centre of mass of its body, in body axes
        self._text: Any = None
        self._text_at = -math.inf
        self._state: tuple[bool, bool] | None = None
        self._handles: dict[str, list[Any]] = {}  # by parameter of the controller
        self._gains_file = Path(gains_file)
        self._target = loop.controller.target_position if isinstance(loop.controller, WorkspaceController) else None
        self._azimuth = "0: forward; 90: to the left"
        seen = extent_at(loop.model, snapshot_of(loop.state))
        camera_at("three-quarter", *seen, facing=loop.model.facing).start(server)
        self._build(loop)

    # --- pictures ---

    def _add_figure(self, loop: Loop) -> None:
        """Add the model with its loads and the box that may be thrown."""
        scenery = scenery_of(loop.model, loop.disturbances)
        self._edges = scenery.projectile_size or EDGES
        if loop.model.shapes:
            scenery = replace(scenery, projectile_size=self._edges)
        self._mass = loop.model.total_mass
        self._model = self.scene.add(loop.model, "figure", scenery=scenery)
        self._model.on_drag(self._drag, PULL_KEY)

    def show(self, loop: Loop) -> None:
        snapshot = touching_only(snapshot_of(loop.state, loop.disturbances, loop.latest), loop.setup.model.nc)
        if loop.fell_at is None and loop.model.total_mass != self._mass:  # another load
            self.scene.remove(self._model)
            self._add_figure(loop)
        if not any(isinstance(disturbance, Throw) for disturbance in loop.disturbances):
            snapshot = replace(snapshot, projectile=None)
        self._carried = (float(snapshot.com[0]), float(snapshot.com[1])) if self._follow.value else None
        with self.scene.frame():
            self.scene.carry(self._carried)
            self._model.show(snapshot)
            self._update_text(loop)

    def complain(self, what: str) -> None:
        self._notify("Not possible", what, "red")

    def _notify(self, title: str, what: str, color: str) -> None:
        for client in self.server.get_clients().values():
            client.add_notification(title, what, color=color, auto_close_seconds=8.0)

    def _update_text(self, loop: Loop) -> None:
        """Update the text a few times per second, and immediately after an event."""
        now = self.runner.now()
        state = (self.runner.paused, loop.fell_at is not None or loop.error is not None)
        if state == self._state and now - self._text_at < 1.0 / TEXT_RATE:
            return
        self._state, self._text_at = state, now
        self._text.content = status_text(self.runner)
        self._pause.label = "Continue" if self.runner.paused else "Pause"

    # --- the panel ---

    def _build(self, loop: Loop) -> None:
        gui = self.server.gui
        begin_panel(gui, "biped live")
        gui.add_html(f'<div style="padding:0.2em 0.9em 0.3em;font-size:0.85em">{html.escape(self._title)}</div>')
        self._text = gui.add_markdown("")
        self._build_time(gui)
        if loop.model.is_floating:
            with gui.add_folder("Push"):
                self._build_push(gui)
        if loop.model.shapes:
            with gui.add_folder("Throw a block"):
                self._build_throw(gui, loop)
        tuned = loop.controller if loop.gains is None else loop.gains
        if tuned is not None and (parameters := field_parameters(tuned, "controller", "")):
            with gui.add_folder("Controller" if loop.gains is None else "Gains"):
                for parameter in parameters:
                    self._build_parameter(gui, parameter)
                if loop.gains is not None:
                    self._build_gains(gui, loop.gains)
        if self._target is not None:
            with gui.add_folder("Set point", expand_by_default=False):
                self._build_target(gui, self._target)
        if self._settings is not None:
            with gui.add_folder("Floor, delay, limits, load", expand_by_default=False):
                build_settings(gui, self._settings, self._by_hand, self._later)
        with gui.add_folder("Pull", expand_by_default=False):
            self._build_pull(gui)
        with gui.add_folder("Show", expand_by_default=False):
            self._follow = gui.add_checkbox("Follow the centre of mass", False)
            for layer, on in LAYERS.items():
                box = gui.add_checkbox(layer.capitalize(), on)
                box.on_update(self._asker(self._switch(layer, box)))
        add_help(gui, KEYS_AND_MOUSE)

    def _later(self, what: str) -> None:
        self._notify("Setting changed", what, "blue")

    def _asker(self, change: Callable[[Loop], Any]) -> Callable[[Any], None]:
        return lambda _: self.runner.ask(change)

    def _switch(self, layer: str, box: Any) -> Callable[[Loop], None]:
        return lambda _: self.scene.switch(layer, box.value)

    def _build_time(self, gui: Any) -> None:
        self._pause = gui.add_button("Pause", hint="space bar")
        restart = gui.add_button("Restart", color="orange", hint="R; gains and set point are kept")
        auto_restart = gui.add_checkbox("Restart automatically after a fall", False)

        save = gui.add_button("Save run", hint=f"save the recorded rows in {self._runs}, for biped view")
        save.on_click(self._asker(self.save_run))
        add_screenshot(gui)

        pause = self._asker(lambda _: self.runner.pause(not self.runner.paused))
        self._pause.on_click(pause)
        gui.add_command("Pause or continue", hotkey="space").on_trigger(pause)
        start_again = self._asker(lambda loop: loop.restart())
        restart.on_click(start_again)
        gui.add_command("Restart", hotkey="r").on_trigger(start_again)
        auto_restart.on_update(lambda _: setattr(self.runner, "auto_restart", auto_restart.value))

    def _build_pull(self, gui: Any) -> None:
        gui.add_html(f'<div style="padding:0.2em 0.9em;font-size:0.8em">Hold {PULL_KEY}, drag a part of the body</div>')
        self._strength = gui.add_slider("Stiffness [N/m]", min=50.0, max=2000.0, step=50.0, initial_value=150.0)

    def _drag(self, body: int, event: Any) -> None:
        """Pull like a spring from the held point to the pointer."""
        seen, carried = self._model.last, np.array((*(self._carried or (0.0, 0.0)), 0.0))
        if event.phase == "start" and seen is not None:
            start = event.start_position + carried
            self._held = quaternion_matrix(seen.quaternion[body]).T @ (start - seen.position[body])
        end, ended = event.end_position + carried, event.phase == "end"
        self.runner.ask(lambda loop: loop.let_go() if ended else self._pull(loop, body, end))

    def _pull(self, loop: Loop, body: int, end: Floats) -> None:
        motion = forward_kinematics(loop.model, loop.state.q)
        held = motion.position[body] + quaternion_matrix(motion.orientation[body]) @ self._held
        force = np.clip(self._strength.value * (end - held), -MOST_PULL, MOST_PULL)
        loop.pull(loop.model.body_names[body], vector3(self._held, "place"), vector3(force, "force"))

    def save_run(self, loop: Loop) -> Path:
        """Save the recorded rows in a new folder; return the folder.

        Raises:
            InputError: nothing was recorded yet.
            OSError: the folder cannot be written.
        """
        folder = next(path for k in count(1) if not (path := self._runs / f"run-{k}").exists())
        save_run(loop.run(), folder)
        self._notify("Run saved", f"biped view {folder}", "green")
        return folder

    def _build_push(self, gui: Any) -> None:
        azimuth = gui.add_slider("Direction [°]", min=-180, max=180, step=5, initial_value=0, hint=self._azimuth)
        impulse = gui.add_slider("Impulse [N·s]", min=0.5, max=40.0, step=0.5, initial_value=6.0)
        duration = gui.add_slider("Duration [s]", min=0.02, max=1.0, step=0.02, initial_value=0.1)
        button = gui.add_button("Push", color="red", hint="P; one at a time")

        def push(loop: Loop) -> None:
            # A held key repeats; a restart cancels the last push.
            last = self._push
            if last is None or last.ends <= loop.time or all(last is not other for other in loop.disturbances):
                direction = heading(math.radians(azimuth.value), loop.model.facing)
                self._push = loop.push(direction, impulse.value, duration.value)

        button.on_click(self._asker(push))
        gui.add_command("Push", hotkey="p").on_trigger(self._asker(push))

    def _build_throw(self, gui: Any, loop: Loop) -> None:
        middle = min(max(loop.middle_of_target()[2], 0.2), 1.6)
        azimuth = gui.add_slider("Direction [°]", min=-180, max=180, step=5, initial_value=0, hint=self._azimuth)
        speed = gui.add_slider("Speed [m/s]", min=0.5, max=10.0, step=0.1, initial_value=4.0)
        height = gui.add_slider("Height [m]", min=0.0, max=1.8, step=0.01, initial_value=round(middle, 2))
        mass = gui.add_slider("Mass [kg]", min=0.1, max=10.0, step=0.1, initial_value=1.8)
        button = gui.add_button("Throw", color="red", hint="T")

        def throw(loop: Loop) -> None:
            direction = heading(math.radians(azimuth.value), loop.model.facing)
            loop.throw(direction, speed.value, height.value, mass.value, self._edges)

        button.on_click(self._asker(throw))
        gui.add_command("Throw a block", hotkey="t").on_trigger(self._asker(throw))

    def _build_gains(self, gui: Any, first: WorkspaceGains) -> None:
        def reset(loop: Loop) -> None:
            loop.set_gains(first)
            for name, handles in self._handles.items():
                for handle, value in zip(handles, getattr(first, name), strict=True):
                    handle.value = value

        gui.add_button("Reset gains").on_click(self._asker(reset))
        save = gui.add_button("Save gains", hint=f"in {self._gains_file}, for biped run or live with --gains")
        save.on_click(self._asker(self.save_gains))

    def _build_parameter(self, gui: Any, parameter: Parameter) -> None:
        """Add the controls of a controller's parameter, except for its period, which cannot change."""
        name, default = parameter.name.partition(".")[2], parameter.default
        if name == "period" or (isinstance(default, str) and not parameter.choices):
            return
        hint = f"{parameter.meaning} [{parameter.unit}]" if parameter.unit else parameter.meaning
        if isinstance(default, str):
            handles = [gui.add_dropdown(name, parameter.choices, initial_value=default, hint=hint)]
        else:
            handles = [_slider(gui, parameter, *place, hint) for place in _numbers(name, default)]

        def turn(loop: Loop) -> None:
            loop.set_parameter(name, parameter.parse(",".join(str(handle.value) for handle in handles)))

        for handle in handles:
            handle.on_update(self._by_hand(turn))
        self._handles[name] = handles

    def _by_hand(self, change: Callable[[Loop], Any]) -> Callable[[Any], None]:
        """Return a callback that makes a change like ``_asker``, if a person and not the program moved the slider."""
        return lambda event: self.runner.ask(change) if event.client_id is not None else None

    def save_gains(self, loop: Loop) -> None:
        """Write the present gains into the file, and replace its gains; raise OSError if it cannot be written."""
        assert loop.gains is not None
        save_gains(loop.gains, self._gains_file)
        self._notify("Gains saved", f"biped run … --gains {self._gains_file}", "green")

    def _build_target(self, gui: Any, first: Vector3) -> None:
        sliders = [
            gui.add_slider(f"{axis} [m]", min=value - REACH, max=value + REACH, step=0.001, initial_value=value)
            for axis, value in zip(AXES, first, strict=True)
        ]

        def move(loop: Loop) -> None:
            x, y, z = (float(slider.value) for slider in sliders)
            loop.set_parameter("target_position", (x, y, z))

        def back(loop: Loop) -> None:
            loop.set_parameter("target_position", first)
            for slider, value in zip(sliders, first, strict=True):
                slider.value = value

        for slider in sliders:
            slider.on_update(self._by_hand(move))
        gui.add_button("Reset set point").on_click(self._asker(back))


def _numbers(name: str, value: float | tuple[float, ...]) -> list[tuple[str, float]]:
    """Return (label, number) for each number of a value."""
    if not isinstance(value, tuple):
        return [(name, value)]
    return [(f"{name}[{place}]", number) for place, number in enumerate(value)]


def _slider(gui: Any, parameter: Parameter, name: str, value: float, hint: str) -> Any:
    """Add a slider over the parameter's span, or twice its value; wider if the value is outside.

    Infinity is a text box: a box for numbers would reject it.
    """
    if not math.isfinite(value):
        return gui.add_text(name, str(value), hint=hint)
    low, high = parameter.span or ((0.0, 2.0 * value) if value > 0.0 else (2.0 * value - 1.0, 1.0))
    low, high = min(low, value), max(high, value)
    step = 1 if isinstance(value, int) else (high - low) / 4000.0
    return gui.add_slider(name, min=low, max=high, step=step, initial_value=value, hint=hint)


def status_text(runner: Runner) -> str:
    """Return the loop's state and its real-time factor as Markdown."""
    loop, reading, dropped = runner.loop, runner.meter.reading, runner.real_time.dropped
    if loop.error is not None:
        state = f"### Stopped\n{loop.error}. Press **Restart**."
    elif loop.fell_at is not None:
        word, _, reason = loop.fall.partition(": ")
        state = f"### {word.capitalize()}\n{reason}. Limp since then: press **Restart**."
    else:
        state = f"### {'Paused' if runner.paused else 'Running'}"
    parts = [f"{loop.time:.1f} s simulated"]
    if reading is not None:
        parts.append(f"real time × {reading.factor:.2f}")
        parts.append(f"idle {100.0 * reading.idle:.0f} %")
    if dropped > 0.005:
        parts.append(f"{dropped:.1f} s skipped, because the simulation is too slow")
    return f"{state}\n\n{', '.join(parts)}"
