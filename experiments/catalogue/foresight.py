"""Laws that see ahead by as much as senses are late."""

from dataclasses import replace
from typing import Any

from biped.control.controller import Controller
from biped.disturbances import Disturbance, Sensors
from biped.model import Model
from contact import Floor
from experiments.catalogue.parameters.controllers import NAME
from experiments.catalogue.parameters.disturbances import TENSE
from experiments.catalogue.parameters.parameter import Values

#: [s] of delay from which laws that are told of the whole body see ahead; others have their ways of living with it, or
#: are somebody's own. Laws by quadratic programs withstand less delay better as sensed: they let feet tilt and slide,
#: of which the linear model knows nothing (found by pushes in place: ``examples/short_delays.py``).
FORESEEING = {"workspace": 0.0, "cone-workspace": 0.05, "whole-body": 0.04, "lqr": 0.0}
#: [s] of delay from which what comes late is not to be answered fast, and how fast then: decay of the divergent
#: component's error [1/s], and damping of tense muscles [N·m·s/rad] (found by ``examples/late-senses.toml``).
LATE, ROUNDING = 0.1, 1e-9
SLOWER, CALMER = 5.0, 60.0
SLOWS = "sensors.predict_slower"
PREDICT, STIFFNESS, DAMPING = "sensors.predict", "sensors.predict_stiffness", "sensors.predict_damping"


def foreseeing(
    law: Controller, values: Values, disturbances: tuple[Disturbance, ...], floor: Floor, model: Model
) -> Controller:
    """The law, shown what is where the senses of an experiment show what was, unless that is turned off.

    A law that holds joints by an impedance, one that withstands so short a delay better without, and senses whose
    channels are not all as late, go without.
    """
    senses = next((one for one in disturbances if isinstance(one, Sensors)), None)
    if senses is None or not values.get(PREDICT) or values.word(NAME) not in FORESEEING:
        return law
    delay = senses.longest_delay
    if not senses.has_one_delay or delay == 0.0 or delay < FORESEEING[values.word(NAME)]:
        return law
    if law.impedance(model) is not None:
        return law
    from controllers.predicted import Predicted

    law, damping = _slowed(law, values) if delay >= LATE - ROUNDING else (law, values.number(DAMPING))
    return Predicted(law, delay, floor, values.number("run.step"), stiffness=values.number(STIFFNESS), damping=damping)


def _slowed(law: Controller, values: Values) -> tuple[Controller, float]:
    """``whole-body`` and the damping of its muscles as they are with senses so late, if neither was set."""
    own: Any = law
    damping = values.number(DAMPING)
    if values.word(NAME) != "whole-body" or not values.get(SLOWS):
        return law, damping
    untouched = own.capture == type(own).capture and damping == TENSE
    return (replace(own, capture=SLOWER), CALMER) if untouched else (law, damping)
