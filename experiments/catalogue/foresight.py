"""Laws that see ahead by as much as senses are late."""

from biped.control.controller import Controller
from biped.disturbances import Disturbance, Sensors
from biped.model import Model
from contact import Floor
from experiments.catalogue.parameters.controllers import NAME
from experiments.catalogue.parameters.parameter import Values

#: Laws that are told of the whole body; others have their ways of living with delay, or are somebody's own.
FORESEEING = ("workspace", "cone-workspace", "whole-body", "lqr")
PREDICT, STIFFNESS, DAMPING = "sensors.predict", "sensors.predict_stiffness", "sensors.predict_damping"


def foreseeing(
    law: Controller, values: Values, disturbances: tuple[Disturbance, ...], floor: Floor, model: Model
) -> Controller:
    """The law, shown what is where the senses of an experiment show what was, unless that is turned off.

    A law that holds joints by an impedance, and senses whose channels are not all as late, go without.
    """
    senses = next((one for one in disturbances if isinstance(one, Sensors)), None)
    if senses is None or not values.get(PREDICT) or values.word(NAME) not in FORESEEING:
        return law
    if not senses.has_one_delay or senses.longest_delay == 0.0 or law.impedance(model) is not None:
        return law
    from controllers.predicted import Predicted

    return Predicted(
        law, senses.longest_delay, floor, values.number("run.step"),
        stiffness=values.number(STIFFNESS), damping=values.number(DAMPING),
    )  # fmt: skip
