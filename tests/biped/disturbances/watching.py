"""A run with a controller that records its observations."""

import numpy as np

from biped import Push, State, human, simulate
from biped.control.controller import Controller
from controllers import JointPD

PD = JointPD()
PUSH = Push("trunk", (1, 0.3, 0), 4.0, 0.02, 0.05)
TICK = PD.period


class Spy(Controller):
    """A controller that records its observations."""

    def __init__(self):
        self.period, self.seen = PD.period, []

    def torques(self, observation):
        self.seen.append(observation)
        return PD.torques(observation)


def watched(*disturbances, duration=0.2):
    """Return the run, the controller's observations at each tick, and the true q, v and ground reaction forces."""
    person, spy = human(), Spy()
    state = State.at(person, person.configuration((0.0, 0.0, 1.2288)))
    run = simulate(person, spy, state=state, disturbances=(*disturbances, PUSH), duration=duration, step=TICK)
    forces = [f"contact_{name}_f{axis}" for name in person.contact_names for axis in "xyz"]
    names = ([*person.coordinate_names], [*person.velocity_names], forces)
    true = [run.frame[columns].to_numpy()[: len(spy.seen)] for columns in names]
    seen = [
        np.array([one.q for one in spy.seen]), np.array([one.v for one in spy.seen]),
        np.array([one.contact_forces.ravel() for one in spy.seen]),
    ]  # fmt: skip
    return run, seen, true
