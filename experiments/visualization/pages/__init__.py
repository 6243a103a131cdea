"""Self-contained pages: one file of HTML with its tables and figures in it, and nothing from the network."""

from experiments.visualization.pages.blocks import Block, Bullets, Chart, Code, Image, Prose, Table
from experiments.visualization.pages.page import Page, Section, render, write_page

__all__ = [
    "Block", "Bullets", "Chart", "Code", "Image", "Page", "Prose", "Section", "Table", "render", "write_page",
]  # fmt: skip
