"""What a push map leaves behind: tables and figures of it, and of what it is compared with."""

from collections.abc import Mapping
from pathlib import Path

from rich.text import Text

from experiments.cli.file_names import PUSH_MAP
from experiments.cli.terminal import terminal
from experiments.studies.threshold.findings import Findings, compare
from experiments.studies.threshold.push_map_names import direction_of
from experiments.visualization.studies.push_map_figure import Ring, draw_map, draw_maps, rings_of
from experiments.visualization.studies.threshold_output import print_changes, print_findings, write_tables


def show_map(findings: Findings, folder: Path, others: Mapping[str, Findings], *, draw: bool) -> list[Path]:
    """Print and write a map and its comparison.

    Args:
        findings: the map.
        folder: where it goes; its name is the map's.
        others: maps to compare with, by name.
        draw: whether to draw figures.

    Returns:
        The files.

    Raises:
        OSError: a file cannot be written.
        InputError: the maps cannot be compared.
    """
    print_findings(findings, "Push map", direction_of)
    terminal().print(Text(_weakest(findings), style="green"))
    files = write_tables(findings, folder, PUSH_MAP)
    rings = rings_of(findings)
    if draw:
        files.append(_draw(rings, folder / f"{PUSH_MAP}.png"))
    for place, (name, other) in enumerate(others.items()):
        changes = compare(other, findings)
        print_changes(changes, folder.name, name, direction_of)
        if draw and place == 0 and len(rings) == 1:
            all_rings = [Ring(key, rings_of(found)[0].findings) for key, found in others.items()]
            path = folder / f"{PUSH_MAP}-compared.png"
            files.append(draw_maps([*all_rings, Ring(folder.name, rings[0].findings)], path, "Push maps", changes))
    return files


def _draw(rings: list[Ring], path: Path) -> Path:
    title = "Push map: where a push drives the human, and how hard it may be"
    return draw_map(rings[0], path, title) if len(rings) == 1 else draw_maps(rings, path, title)


def _weakest(findings: Findings) -> str:
    """The directions with the least and the greatest median."""
    ends = [choose(findings.conditions, key=lambda f: f.estimate.median.value) for choose in (min, max)]
    texts = [f"{' '.join(direction_of(f).split())}: {f.estimate.median.value:.3g} {findings.plan.unit}" for f in ends]
    return f"weakest towards {texts[0]}; strongest towards {texts[1]}"
