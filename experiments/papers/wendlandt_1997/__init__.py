"""J. M. Wendlandt, Control and Simulation of Multibody Systems, 1997: its tables and figures."""

from experiments.papers.item import Paper
from experiments.papers.wendlandt_1997 import chapter2, chapter4, chapter5

PAPER = Paper(
    "wendlandt-1997",
    "J. M. Wendlandt, Control and Simulation of Multibody Systems, PhD thesis, UC Berkeley, 1997",
    (*chapter2.ITEMS, *chapter4.ITEMS, *chapter5.ITEMS),
)
