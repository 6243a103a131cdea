"""The colours of engines, the same in all figures; what an engine has for smooth motion is dashed in its colour."""

from collections.abc import Sequence

from experiments.benchmarks.comparison.backends import Contestant
from experiments.visualization.figures import style

#: In the order of contestants.
COLORS = (style.BLUE, style.RED, style.GREEN, style.PURPLE, style.ORANGE, style.SKY, style.GREY)


def colors_of(contestants: Sequence[Contestant]) -> dict[str, str]:
    """By label, those for smooth motion included."""
    found: dict[str, str] = {}
    for k, one in enumerate(contestants):
        found[one.label] = COLORS[k % len(COLORS)]
    for one in contestants:
        for other in one.smooth:
            found.setdefault(other.label, found[one.label])
    return found


def is_smooth(label: str, contestants: Sequence[Contestant]) -> bool:
    """Whether it is no contestant itself, but what one has for smooth motion."""
    return all(one.label != label for one in contestants)
