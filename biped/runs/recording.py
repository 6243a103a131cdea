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
    """A run as raw numbers; ``biped.metrics.assemble`` makes a ``Run`` of it.

    Attributes:
        model: what moved, loads included.
        rows: (rows, columns) as ``columns`` names them.
        events: (events, EVENT_WIDTH) as ``biped.kernels.loop.log`` has them.
        columns: names and units of a row.
        standing: names of the contact points on the floor at the start.
        counters: of the solver.
        stepping: what took the steps.
        ending: how it ended.
        set_point: where the controller wanted the root to be, or None.
        singular_angles: [rad] by joint, where its torques grow without bounds.
        unheeded_limits: [N·m] by joint that an impedance holds, its actuator's limit.
        disturbances: what acted.
        nominal_model: the model without the loads among them.
        began: [s] time at the start.
        state: where it ended.
    """

    model: Model
    rows: Floats
    events: Floats
    columns: Columns
    standing: frozenset[str]
    counters: Counters
    stepping: Stepping
    ending: Ending
    set_point: SetPoint | None
    singular_angles: Mapping[str, float]
    unheeded_limits: Mapping[str, float]
    disturbances: tuple[Disturbance, ...]
    nominal_model: Model
    began: float
    state: State
