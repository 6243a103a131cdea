"""Published measurements of people compared with the model; all parameters are the project's defaults."""

from dataclasses import replace

from experiments.papers.item import Paper, items_of
from experiments.papers.people import displacement, quiet, region, sampling, steps, tilts, torques
from experiments.papers.people.person import divided

#: Name, title, source, and function that recomputes the item.
_ITEMS = (
    ("feasible-region", "region of CoM position and velocity from which standing still can be reached",
     "Pai and Patton 1997, J. Biomech. 30:347, abstract", region.produce),
    ("tilts", "gain and phase of sway on a tilting floor, five amplitudes at five frequencies",
     "Peterka 2002, J. Neurophysiol. 88:1097; parameters by amplitude: PosturalControlLab/LA_toolbox", tilts.produce),
    ("quiet-stance", "sway of quiet stance, eyes open and closed, on a firm surface and on foam, young and old",
     "data of Santos and Duarte 2016, PeerJ 4:e2648, DOI 10.13026/C2WW2W, CC BY 4.0", quiet.produce),
    ("displacement", "largest backward floor displacement without a step, young and old, and effects of age",
     "Koushyar, Bieryla, Nussbaum and Madigan 2019, PLoS ONE 14:e0210049, PMC6338353", displacement.produce),
    ("step-torques", "floor accelerations before a first and before a second step",
     "Crenshaw and Kaufman 2014, Gait & Posture 39:810, abstract", torques.produce),
    ("steps", "timing, location and number of steps after a lateral push",
     "Hof, Vermerris and Gjaltema 2010, J. Exp. Biol. 213:2655, abstract", steps.produce),
    ("sampling", "effect of a long control period",
     "Villa, Englsberger and Wieber 2019, IEEE RA-L 4:3665, abstract: sampling periods as long as 200 ms with "
     "literally no impact on maximum tracking error", sampling.produce),
)  # fmt: skip
PAPER = Paper(
    "people", "Measurements of standing people, each cited with its item",
    tuple(replace(item, produce=divided(item.produce)) for item in items_of("", _ITEMS)),
)  # fmt: skip
