"""What the compiled loops leave behind, before it is made into tables."""

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
    """A run as raw numbers; ``biped.metrics.assemble`` makes a ``Run`` of it."""

    model: Model  #: what moved, loads included
    rows: Floats  #: (rows, columns) as ``columns`` names them
    events: Floats  #: (events, EVENT_WIDTH) as ``biped.kernels.loop.log`` has them
    columns: Columns  #: names and units of a row
    standing: frozenset[str]  #: names of the contact points on the floor at the start
    counters: Counters  #: of the solver
    stepping: Stepping  #: what took the steps
    ending: Ending  #: how it ended
    set_point: SetPoint | None  #: where the controller wanted the root to be, or None
    singular_angles: Mapping[str, float]  #: [rad] by joint, where its torques grow without bounds
    unheeded_limits: Mapping[str, float]  #: [N·m] by joint that an impedance holds, its actuator's limit
    disturbances: tuple[Disturbance, ...]  #: what acted
    nominal_model: Model  #: the model without the loads among them
    began: float  #: [s] time at the start
    state: State  #: where it ended
