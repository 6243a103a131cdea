"""Raw results of the compiled loops, before they become tables."""

from collections.abc import Mapping
from dataclasses import dataclass

from biped.control.controller import SetPoint
from biped.disturbances import Disturbance
from biped.model import Model
from biped.runs.row_layout import Columns
from biped.runs.state import State
from biped.runs.summary import Counters, Ending, Stepping
from contact.arrays import Floats


@dataclass(frozen=True)
class Recording:
    """A run as raw numbers, from which ``biped.metrics.assemble`` makes a ``Run``."""

    model: Model  #: simulated model, including loads
    rows: Floats  #: (rows, columns) in the order of ``columns``
    events: Floats  #: (events, EVENT_WIDTH) of ``biped.kernels.loop.log``
    columns: Columns  #: names and units of the columns
    standing: frozenset[str]  #: names of the contact points on the floor at the start
    counters: Counters  #: counters of the solver
    stepping: Stepping  #: integrator or engine
    ending: Ending  #: how and when the simulation ended
    set_point: SetPoint | None  #: set point of the root, or None
    singular_angles: Mapping[str, float]  #: [rad] angles, by joint, at which the controller's torques diverge
    unheeded_limits: Mapping[str, float]  #: [N·m] actuator limits by joint with an impedance
    disturbances: tuple[Disturbance, ...]  #: disturbances of the run
    nominal_model: Model  #: model without loads
    began: float  #: [s] time at the start
    state: State  #: final state
