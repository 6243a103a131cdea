"""Formulas as MathML, which browsers display without scripts and network."""

import re

from docutils.nodes import Element, SkipNode, math, math_block
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

TAG = re.compile(r"\\tag\{(\w+)\}")


def visit_math(self: HTML5Translator, node: math) -> None:
    self.body.append(convert(node.astext()))
    raise SkipNode


def visit_math_block(self: HTML5Translator, node: math_block) -> None:
    formula = TAG.sub(r"\\qquad\\text{(\1)}", node.astext())
    self.body.append(f'<div class="formula">{convert(formula, display="block")}</div>')
    raise SkipNode


def depart(self: HTML5Translator, node: Element) -> None:
    """Do nothing: this is never called, because the visit skips the rest of the node."""


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_math, depart), (visit_math_block, depart))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
