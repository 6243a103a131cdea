"""The pendulums of figures 8a and 10 in minimal coordinates, and the integrator that figure 10 has fail."""

import math
from dataclasses import dataclass

from biped.integrators import Integrator, LeeRiqn
from biped.model import Body, Joint, Model, box_inertia, revolute, spherical
from biped.runs.run import Run
from biped.runs.state import State
from biped.simulation.simulate import simulate
from experiments.papers.bruedigam_2024.kernels import Unfloored
from formulations.assembly.examples import THICKNESS

#: [s]
STEP = 0.01
#: [rad] of the first joint about x where a pendulum starts; the others are straight.
START = math.pi / 4.0


@dataclass(frozen=True)
class UnflooredRiqn(LeeRiqn):
    """The integrator of Lee et al. 2016 with a tolerance that is not raised to what rounding leaves, as in the paper.

    A step that does not reach it is one that fails.
    """

    def _finder(self, model: Model) -> Unfloored:
        return Unfloored(super()._finder(model))


def pendulum_tree(links: int, kind: str = "revolute") -> Model:
    """Return the model of ``assembly.examples.pendulum`` with links of 1 m and 1 kg, and joints of a kind."""
    inertia = box_inertia(1.0, (THICKNESS, THICKNESS, 1.0))
    bodies = [
        Body(f"link_{k}", 1.0, inertia, (0.0, 0.0, -0.5), _joint(kind, k), parent=f"link_{k - 1}" if k > 1 else None)
        for k in range(1, links + 1)
    ]
    return Model(f"pendulum_{links}", tuple(bodies))


def _joint(kind: str, k: int) -> Joint:
    name, place = f"joint_{k}", (0.0, 0.0, -1.0 if k > 1 else 0.0)
    return spherical(name, place) if kind == "spherical" else revolute(name, (1.0, 0.0, 0.0), place)


def raised(model: Model) -> State:
    """Return the state of a pendulum at rest whose first joint is turned about x."""
    turn = (math.cos(0.5 * START), math.sin(0.5 * START), 0.0, 0.0)
    first = START if model.bodies[0].joint.kind == "revolute" else turn
    return State.at(model, model.configuration(angles={"joint_1": first}))


def in_minimal(integrator: Integrator, links: int, steps: int, kind: str = "revolute") -> Run:
    """Return the run of a pendulum by an integrator in minimal coordinates; its rows are the first and the last."""
    state, duration = raised(pendulum_tree(links, kind)), steps * STEP
    return simulate(
        state.model, state=state, step=STEP, duration=duration, integrator=integrator, record_every=duration
    )
