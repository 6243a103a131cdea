"""Controllers that predict the present state from delayed sensors."""

from biped.control.controller import Controller
from biped.disturbances import Disturbance, Sensors
from biped.model import Model
from contact import Floor
from experiments.catalogue.parameters.controllers import NAME
from experiments.catalogue.parameters.parameter import Values

#: [s] least delay for a prediction of the whole body's state with a linear model of standing, in which the feet do not
#: tilt or slide. Other controllers handle delays themselves, or are the user's. Controllers with quadratic programs
#: withstand larger pushes without prediction if the delay is shorter (``examples/short_delays.py``).
BY_LINEAR_MODEL = {"workspace": 0.0, "cone-workspace": 0.05, "lqr": 0.0}
#: [s] least delay for a prediction from the controller's commands.
BY_COMMANDS = {"whole-body": 0.0, "stepping": 0.0}
LEAST_DELAYS = BY_LINEAR_MODEL | BY_COMMANDS
PREDICT, STIFFNESS, DAMPING = "sensors.predict", "sensors.predict_stiffness", "sensors.predict_damping"


def with_prediction(
    law: Controller, values: Values, disturbances: tuple[Disturbance, ...], floor: Floor, model: Model
) -> Controller:
    """Return the controller with a predictor for the sensory delay, unless prediction is turned off.

    No predictor is added for controllers with an impedance, for delays below ``LEAST_DELAYS``, for bodies with ball
    joints, and for channels with different delays. The contact law of the prediction may differ from the floor's.
    """
    senses = next((disturbance for disturbance in disturbances if isinstance(disturbance, Sensors)), None)
    if senses is None or not values.get(PREDICT) or values.word(NAME) not in LEAST_DELAYS:
        return law
    delays = senses.delays(model)[: model.nq + model.nv]
    delay = float(delays[0])
    if (delays != delay).any() or delay == 0.0 or delay < LEAST_DELAYS[values.word(NAME)]:
        return law
    if law.impedance(model) is not None or any(body.joint.kind == "spherical" for body in model.bodies):
        return law
    if abs(delay / law.period - round(delay / law.period)) > 1e-9:
        return law  # the sensors raise the error that says what is allowed
    stiffness, damping = values.number(STIFFNESS), values.number(DAMPING)
    if values.word(NAME) in BY_COMMANDS:
        from controllers.forward_model import ForwardModel

        return ForwardModel(law, delay, floor, stiffness, damping)
    from controllers.predicted import Predicted

    return Predicted(law, delay, floor, stiffness, damping, step=values.number("run.step"))
