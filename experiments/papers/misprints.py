"""Misprints of a paper, as an item of its page."""

from collections.abc import Sequence

import pandas as pd

from experiments.papers.item import Item, Outcome, Progress

COLUMNS = ("where", "printed", "right", "how one knows")


def misprints(source: str, rows: Sequence[tuple[str, str, str, str]]) -> Item:
    """Return the item of a list of misprints: place, printed, right, how one knows."""

    def produce(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - it is but a list
        progress(1.0)
        return Outcome((), tables={"Misprints": pd.DataFrame(rows, columns=COLUMNS)})

    return Item("misprints", "what is misprinted", source, produce)
