"""Parameters of an experiment that may change while it runs."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from biped.errors import InputError
from biped.simulation.scene import Scene
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.visualization.live.loop import AT_ONCE, Loop
from experiments.visualization.look.words import with_unit

#: Sliders of parameters, in addition to the floor's: label, minimum, maximum, step.
SLIDERS: dict[str, tuple[str, float, float, float]] = {
    "sensors.delay": ("delay [s]", 0.0, 0.3, 0.002),
    "actuators.limit": ("torque limit [N·m]", 5.0, 500.0, 5.0),
    "load.mass": ("load [kg], after a restart", 0.0, 40.0, 0.5),
}


@dataclass(frozen=True)
class Settings:
    """Experiment with changed parameters."""

    experiment: Experiment
    changes: Mapping[str, Value]

    def build(self, changes: Mapping[str, Value]) -> Scene:
        """Return the scene with further changes, as ``Experiment.build`` does."""
        return self.experiment.build({**self.changes, **changes})

    def value(self, name: str) -> float:
        value = self.experiment.values(self.changes)[name]
        assert isinstance(value, (int, float))
        return float(value)

    @property
    def sliders(self) -> dict[str, tuple[str, float, float, float]]:
        """Sliders of the experiment's parameters: label, minimum, maximum, step."""
        known = {parameter.name: parameter for parameter in self.experiment.under(self.changes).parameters}
        floor = {
            name: (with_unit(name.partition(".")[2], p.unit), *p.span, (p.span[1] - p.span[0]) / 200.0)
            for name, p in known.items()
            if name.startswith("floor.") and p.span
        }
        return floor | {name: row for name, row in SLIDERS.items() if name in known}

    def parse(self, assignment: str) -> tuple[str, Value]:
        """Return name and value of ``NAME=VALUE``.

        Raises:
            InputError: the form is wrong, the parameter is unknown, or the value has another type.
        """
        name, equals, text = (part.strip() for part in assignment.partition("="))
        if not equals:
            raise InputError(f"{assignment!r}: it must be NAME=VALUE, such as floor.mu_s=0.5")
        return name, self.experiment.parse({name: text})[name]


def build_settings(
    gui: Any,
    settings: Settings,
    by_hand: Callable[[Callable[[Loop], Any]], Callable[[Any], None]],
    note: Callable[[str], None],
) -> None:
    """Add sliders for the most used parameters, and a text box for any parameter.

    ``by_hand`` turns a change of the loop into the callback of a control that a person moves.
    """

    def change(loop: Loop, name: str, value: Value) -> None:
        if not loop.set_setting(name, value):
            note(f"{name} = {value}: after the next restart")

    def turned(name: str, slider: Any) -> Callable[[Any], None]:
        return by_hand(lambda loop: change(loop, name, float(slider.value)))

    for name, (label, low, high, step) in settings.sliders.items():
        value = settings.value(name)
        shown = min(value, high) if math.isfinite(value) else high
        hint = name if math.isfinite(value) else f"{name}; no limit until you move the slider"
        slider = gui.add_slider(
            label, min=min(low, shown), max=max(high, shown), step=step, initial_value=shown, hint=hint
        )
        slider.on_update(turned(name, slider))
    line = gui.add_text("Parameter", "", hint="NAME=VALUE, such as floor.k_n=1e5; biped show lists all parameters")
    button = gui.add_button("Set parameter", hint=f"{', '.join(AT_ONCE)}: now; others: after the next restart")
    button.on_click(by_hand(lambda loop: change(loop, *settings.parse(line.value))))
