"""Self-contained pages: one HTML file with its tables and figures, which needs no network."""

from experiments.visualization.pages.blocks import Block, Bullets, Chart, Code, Image, Prose, Table
from experiments.visualization.pages.page import Page, Section, render, write_page

__all__ = [
    "Block", "Bullets", "Chart", "Code", "Image", "Page", "Prose", "Section", "Table", "render", "write_page",
]  # fmt: skip
