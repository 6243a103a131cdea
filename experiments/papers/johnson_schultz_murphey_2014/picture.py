"""Figure 5: the marionette."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.mechanism import Mechanism
from biped.mechanism.marionette import marionette_start
from experiments.papers.criteria import same, stated
from experiments.papers.item import Item, Outcome, Progress
from experiments.papers.johnson_schultz_murphey_2014.puppet import ASSUMPTIONS, puppet
from experiments.visualization.figures.writing import styled

#: As printed.
SIZES = {
    "dynamic configuration variables": 22,
    "kinematic configuration variables": 18,
    "holonomic constraints": 6,
    "states": 80,
    "inputs": 18,
}


def produce(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - it is one configuration
    system = puppet()
    mechanism = system.mechanism
    ours = (
        len(mechanism.dynamic_coordinates),
        len(mechanism.kinematic_coordinates),
        len(mechanism.constraint_names),
        system.states,
        system.inputs,
    )
    findings = [
        stated(what, float(printed), float(count), same(printed))
        for (what, printed), count in zip(SIZES.items(), ours, strict=True)
    ]
    q = marionette_start(mechanism)
    table = pd.DataFrame({"configuration variable": mechanism.coordinates, "at the start [m or rad]": np.asarray(q)})
    progress(1.0)
    figures = {"marionette": _draw(mechanism)}
    return Outcome(tuple(findings), ASSUMPTIONS[:1], {"Configuration at the start": table}, figures)


def _draw(mechanism: Mechanism) -> Figure:
    with styled():
        figure = mechanism.plot(marionette_start(mechanism), names=False)
        figure.set_size_inches(6.0, 6.0)
        axes: Any = figure.axes[0]
        axes.view_init(14.0, 35.0)
        axes.set_box_aspect(np.ptp(np.array(axes.get_w_lims()).reshape(3, 2), axis=1), zoom=1.15)
        axes.set_axis_off()
        axes.set_title("")
    return figure


ITEM = Item("figure-5", "the marionette", "Johnson, Schultz and Murphey 2014, figure 5, section VIII-B", produce)
