"""What a reproduction is made of: items of a paper, and what came out of recomputing one."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd
from matplotlib.figure import Figure

#: Called with the fraction of an item that is done.
Progress = Callable[[float], None]


@dataclass(frozen=True)
class Finding:
    """One thing that a paper states, against ours.

    Attributes:
        quantity: what it is, with its unit.
        published: as printed.
        ours: as computed.
        criterion: what counts as agreement, in words: "within 2%", "slope 2.00 ± 0.05".
        agrees: whether it does.
        note: where and why not, or what was assumed.
        fitted: a choice was made by this statement, so that it is no evidence.
    """

    quantity: str
    published: float | str
    ours: float | str
    criterion: str
    agrees: bool
    note: str = ""
    fitted: bool = False


@dataclass(frozen=True)
class Outcome:
    """What came out of recomputing one table or figure.

    Attributes:
        findings: statements compared, in the paper's order.
        assumptions: what the paper leaves open, and what was taken for it.
        tables: by title; columns are named with their units.
        figures: by file name without its ending.
    """

    findings: tuple[Finding, ...]
    assumptions: tuple[str, ...] = ()
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True)
class Item:
    """A table or a figure of a paper.

    Attributes:
        name: as on the command line, such as ``table-2.1``.
        title: one line.
        source: paper, section, page or equation.
        produce: recomputes it; ``quick`` takes a short version that still checks the same statements.
        packages: optional ones that it needs, by the names by which they are imported.
    """

    name: str
    title: str
    source: str
    produce: Callable[[bool, Progress], Outcome]
    packages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper and those of its tables and figures that are recomputed here."""

    name: str
    citation: str
    items: tuple[Item, ...]
