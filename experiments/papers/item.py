"""Items of a paper, and the outcome of recomputing an item."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import pandas as pd
from matplotlib.figure import Figure

from biped.errors import IntegrationError

#: Function that is called with the completed fraction of an item, 0 to 1.
Progress = Callable[[float], None]


#: Kinds of findings: ``evidence`` counts as agreement with the paper; ``chosen``: a value that the paper leaves open
#: was fitted to the statement; ``better``: our result is better than the paper's; ``ours``: not in the paper.
Kind = Literal["evidence", "chosen", "better", "ours"]
#: Parameters may be fitted to statements of the training half; the held-out half tests them. Empty: not divided.
Half = Literal["", "training", "held-out"]
Verdict = Literal["agrees", "better", "differs", "ours", "not so", "fitted"]
_VERDICTS: dict[Kind, Verdict] = {
    "evidence": "agrees", "chosen": "fitted", "better": "better", "ours": "ours",
}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """A statement of a paper, or an additional one, compared with our result."""

    quantity: str  # name of the quantity, with its unit
    published: float | str  # printed value
    ours: float | str  # computed value
    criterion: str  # criterion of agreement in words: "within 2%", "slope 2.00 ± 0.05"
    agrees: bool  # True if the criterion holds
    note: str = ""  # reason for a difference, or an assumption
    kind: Kind = "evidence"  # kind of the finding
    within_two_errors: bool | None = None  # True if ours is within two standard errors (SE) of the mean; None: unknown
    half: Half = ""  # half of a paper's statements that are divided for fitting

    @property
    def verdict(self) -> Verdict:
        """Verdict; a statement that is not in the paper is ``not so`` if it does not hold."""
        if self.agrees:
            return _VERDICTS[self.kind]
        return "not so" if self.kind == "ours" else "differs"


@dataclass(frozen=True)
class Outcome:
    """Outcome of recomputing an item: findings, assumptions, tables and figures."""

    findings: tuple[Finding, ...]  # statements compared, in the paper's order
    assumptions: tuple[str, ...] = ()  # choices where the paper leaves something open
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)  # tables by title; columns are named with their units
    figures: dict[str, Figure] = field(default_factory=dict)  # figures by file name without suffix


@dataclass(frozen=True)
class Item:
    """Table, figure or claim of a paper, with the function that recomputes it."""

    name: str  # name on the command line, such as ``table-2.1``
    title: str  # title in one line
    source: str  # paper, section, page or equation
    #: function of (quick, progress) that recomputes the item; quick: a shorter computation of the same statements
    produce: Callable[[bool, Progress], Outcome]
    packages: tuple[str, ...] = ()  # import names of optional packages that it needs


@dataclass(frozen=True)
class Paper:
    """A paper with its recomputed tables and figures."""

    name: str
    citation: str
    items: tuple[Item, ...]


def items_of(cited: str, rows: Sequence[tuple[Any, ...]]) -> tuple[Item, ...]:
    """Return an ``Item`` for each row: name, title, place in the paper ``cited``, ``produce``, packages (optional)."""
    before = f"{cited}, " if cited else ""
    return tuple(Item(name, title, f"{before}{where}", *rest) for name, title, where, *rest in rows)


def misprints(source: str, rows: Sequence[tuple[str, str, str, str]]) -> Item:
    """Return the item with the misprints in ``source``; a row has place, printed text, correction and evidence."""

    def produce(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - it is only a list
        progress(1.0)
        columns = ("where", "printed", "right", "how one knows")
        return Outcome((), tables={"Misprints": pd.DataFrame(rows, columns=columns)})

    return Item("misprints", "misprints of the paper", source, produce)


Row = dict[str, object]
#: Value of the column ``ended`` for a run that is complete; for other runs, the error message.
ENDED = "complete"
R = TypeVar("R")


def attempted(known: Row, simulate: Callable[[], R], measured: Callable[[R], Row]) -> Row:
    """Return a row of a table, completed by the results of a motion or by the reason for its failure."""
    try:
        motion = simulate()
    except IntegrationError as error:  # a failure is a result, too
        return known | {"ended": str(error)}
    return known | {"ended": ENDED} | measured(motion)


def tabulated(
    cases: Collection[tuple[Any, ...]], row: Callable[..., Mapping[str, object]], progress: Progress
) -> pd.DataFrame:
    """Return a table with one row for each case; cases are computed one after the other."""
    rows = []
    for case in cases:
        rows.append(row(*case))
        progress(len(rows) / len(cases))
    return pd.DataFrame(rows)
