"""A linearization's files, and its page."""

from collections.abc import Sequence
from pathlib import Path

from biped.linearization import GainSensitivity, Linearization
from biped.runs.state import State
from experiments.visualization.modes import FIGURE, write_modes_figure
from experiments.visualization.pages import Page, Prose, Section, Table
from experiments.visualization.pages.page import write_page

#: Kinks that are worth a row.
KINKS = 10


def write_linearization(
    found: Linearization, state: State, gains: Sequence[GainSensitivity], folder: Path, title: str
) -> tuple[Path, ...]:
    """NumPy, MATLAB, JSON, the modes as a table and in a figure, and a page; the files.

    Raises:
        OSError: a file cannot be written.
    """
    files = [found.save(folder / f"linearization.{ending}") for ending in ("npz", "mat", "json")]
    table = folder / "modes.csv"
    found.table().to_csv(table, index=False)
    figures = write_modes_figure(found, state, folder / FIGURE) if found.mode_list else []
    page = linearization_page(found, gains, title)
    return (*files, table, *figures, write_page(page, folder / "linearization.html"))


def linearization_page(found: Linearization, gains: Sequence[GainSensitivity], title: str) -> Page:
    """The modes, what the gains do to the slowest, and how far the map is smooth."""
    stable = "small deviations die away" if found.is_stable else "small deviations grow"
    lost = len(found.kept) - found.controllability_rank
    lead = (
        Prose(
            f"{stable.capitalize()}: greatest |λ| {found.spectral_radius:.6f} over a period of {found.period:g} s, "
            f"margin {found.margin:.3g}."
        ),
        Prose(
            f"{len(found.states)} states, of which {len(found.kept)} move and act; {len(found.inputs)} inputs, which "
            + ("move all modes." if lost == 0 else f"move all modes but {lost}.")
        ),
        Prose(f"The state itself moves by at most {abs(found.moved).max():.3g} in the period."),
    )
    headings = ("λ", "|λ|", "decay [1/s]", "frequency [Hz]", "damping ratio", "what it is")
    rows = tuple(
        (
            f"{mode.eigenvalue:.6f}", f"{mode.size:.6f}", f"{mode.decay:.4g}", f"{mode.frequency:.4g}",
            f"{mode.damping:.3g}", mode.words,
        )
        for mode in found.mode_list
    )  # fmt: skip
    sections = [Section("modes", "Modes", "the slowest first", blocks=(Table("Modes", headings, rows, fold=False),))]
    if gains:
        heads = ("number", "value", "∂|λ|", "∂(decay) [1/s]")
        lines = tuple((one.name, f"{one.value:g}", f"{one.slope:.4g}", f"{one.decay:.4g}") for one in gains)
        block = Table("By one of each number", heads, lines, fold=False)
        sections.append(Section("gains", "What gains do to the slowest mode", blocks=(block,)))
    heads = ("point", "what happens", "away", "step")
    kinks = tuple((k.point, k.what, f"{k.value:+.4g} {k.unit}", str(k.step)) for k in found.kinks[:KINKS])
    block = Table("The nearest", heads, kinks, fold=False)
    sections.append(Section("kinks", "Where the map is not smooth", blocks=(block,)))
    return Page(
        title=f"Linearization: {title}", subtitle=repr(found).splitlines()[0], lead=lead, sections=tuple(sections)
    )
