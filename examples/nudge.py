"""An experiment for every command: ``biped run examples/nudge.py --set push.impulse=4``."""

from biped import Fall, Push, Scene, human, standing
from experiments import Experiment, Parameter, controller_from, controller_parameters


def set_up(values):
    """Return the scene of a standing human that is pushed gently from behind."""
    push = Push("trunk", (-1.0, 0.0, 0.0), values["push.impulse"], start=0.1, duration=0.1)
    return Scene(
        human(), controller_from(values), state=standing(human()), disturbances=[push], fall=Fall(),
        duration=values["run.duration"],
    )  # fmt: skip


NUDGE = Experiment(
    name="nudge",
    title="the human is pushed gently forward",
    source="an example",
    parameters=(
        Parameter("push.impulse", 3.0, "N·s", "Impulse of the push", "an example"),
        Parameter("run.duration", 1.0, "s", "Duration of the run", "an example"),
        *controller_parameters("workspace"),
    ),
    set_up=set_up,
)
