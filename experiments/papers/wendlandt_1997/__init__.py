"""J. M. Wendlandt, Control and Simulation of Multibody Systems, 1997: its tables and figures."""

from dataclasses import replace

from experiments.papers.item import Item, Paper
from experiments.papers.wendlandt_1997 import chapter4, chapter5, claims, pendulum_items, rigid_body

#: Tables 2.1 and 2.2, and figures 2.2 to 2.12: all are of Lagrangian systems.
CHAPTER_2: tuple[Item, ...] = tuple(
    replace(item, packages=("sympy",)) for item in (*rigid_body.ITEMS, *pendulum_items.ITEMS)
)
PAPER = Paper(
    "wendlandt-1997",
    "J. M. Wendlandt, Control and Simulation of Multibody Systems, PhD thesis, UC Berkeley, 1997",
    (*CHAPTER_2, *chapter4.ITEMS, *chapter5.ITEMS, *claims.ITEMS),
)
