"""The public modules, and their table in ``docs/api.md``, which ``make modules`` writes from the modules' docstrings.

A test compares the table, and all imports in the documentation, with this list.
"""

import ast
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "api.md"
BLOCK = re.compile(r"(?<=<!-- modules -->\n).*(?=<!-- /modules -->)", re.DOTALL)

#: Modules for users. Names and meanings in all other modules may change without notice.
PUBLIC = (
    "biped",
    "formulations.assembly",
    "formulations.assembly.examples",
    "biped.capturability",
    "biped.derivatives.gradients",
    "biped.disturbances.sensors",
    "biped.gym",
    "biped.identification",
    "biped.kernels.tree.whole_body",
    "formulations.lagrangian",
    "biped.derivatives.linearization",
    "formulations.mechanism",
    "biped.metrics",
    "biped.records",
    "contact",
    "controllers",
    "experiments",
    "experiments.cli",
    "experiments.comparison",
    "experiments.engines",
    "experiments.statistics",
    "experiments.studies",
    "experiments.visualization",
)


def table() -> str:
    """Return a row for each public module: name and purpose."""
    rows = [f"| `{module}` | {summary_of(module)} |" for module in PUBLIC]
    return "\n".join(["", "| module | what is in it |", "|---|---|", *rows, "", ""])


def summary_of(module: str) -> str:
    """Return the first line of the module's docstring."""
    path = DOCS.parent.joinpath(*module.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].removesuffix(".").replace("``", "`")


def main() -> None:
    """Write the table."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda _: table(), page), encoding="utf-8")


if __name__ == "__main__":
    main()
