"""Published numbers of people beside those of the model; the parameters are the project's defaults for all of them."""

from experiments.papers.item import Item, Paper
from experiments.papers.people import region, tilts

PAPER = Paper(
    "people",
    "Numbers of people who stand and are disturbed, each cited with its item",
    (
        Item(
            "feasible-region",
            "velocities over the feet from which standing still can be reached",
            "Pai and Patton 1997, J. Biomech. 30:347, abstract",
            region.produce,
        ),
        Item(
            "tilts",
            "gain and phase of sway on a floor that tilts, five amplitudes at five frequencies",
            "Peterka 2002, J. Neurophysiol. 88:1097; parameters by amplitude: PosturalControlLab/LA_toolbox",
            tilts.produce,
        ),
    ),
)
