"""The colours of engines, the same in all figures; what an engine has for smooth motion is dashed in its colour."""

from collections.abc import Sequence

from experiments.benchmarks.comparison.backends import Backend
from experiments.visualization.figures import style

#: In the order of backends.
COLORS = (style.BLUE, style.RED, style.GREEN, style.PURPLE, style.ORANGE, style.SKY, style.GREY)


def colors_of(backends: Sequence[Backend]) -> dict[str, str]:
    """By label, those for smooth motion included."""
    found = {one.label: COLORS[k % len(COLORS)] for k, one in enumerate(backends)}
    for one in backends:
        for other in one.smooth:
            found.setdefault(other.label, found[one.label])
    return found
