"""Chapter 2 of Wendlandt 1997: tables 2.1 and 2.2, and figures 2.2 to 2.12."""

from dataclasses import replace

from experiments.papers.item import Item
from experiments.papers.wendlandt_1997 import pendulum_items, rigid_body_items

#: All are of Lagrangian systems.
ITEMS: tuple[Item, ...] = tuple(
    replace(item, packages=("sympy",)) for item in (*rigid_body_items.ITEMS, *pendulum_items.ITEMS)
)
