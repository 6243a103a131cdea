"""Chapter 4 of Wendlandt 1997: the figures of the two balancing experiments, 4.3 to 4.19."""

from experiments.lookup.figure_names import BALANCING
from experiments.papers.item import Item
from experiments.papers.wendlandt_1997 import experiment1, experiment2
from experiments.papers.wendlandt_1997.simulated import Compare, simulated_figure

#: The thesis's names of the figures, in its order.
_TITLES = (
    "Joint Angles", "Joint Torques", "Body Position", "Body Orientation", "Body Position Error",
    "Body Orientation Error", "Desired Body Force", "Desired Body Torque",
)  # fmt: skip

_ASSUMPTIONS = (
    "The figures are known by what the text says about them: magnitudes bind within 5%, and times by the "
    "hundredths that are printed; the floor and the collisions are not those of the thesis's simulator (Impulse).",
    "Floor: springs and dampers (5.3's rubber) at four points of each sole; the thesis's soles collide by impulses.",
    "Both experiments on a rigid floor with the thesis's restitution: item other-floors-and-blocks.",
    "That the body comes to its set point counts once, with its errors: figures 4.7, 4.8, 4.16 and 4.17.",
)
_BLOCK = (
    "The block: a cube of water's density, as heavy as printed; its size is not printed.",
    "The set point's orientation: 15° about −Y, as the text says; the quaternion printed beside it is experiment 1's.",
)


def _figures(
    experiment: str, number: int, compare: dict[str, Compare], assumptions: tuple[str, ...]
) -> tuple[Item, ...]:
    return tuple(
        simulated_figure(
            experiment, kind, f"{title} for Experiment {number}", f"Wendlandt 1997, section 4.3, experiment {number}",
            compare[kind], assumptions,
        )
        for kind, title in zip(BALANCING, _TITLES, strict=True)
    )  # fmt: skip


ITEMS: tuple[Item, ...] = (
    *_figures("stand-tilted", 1, experiment1.COMPARE, _ASSUMPTIONS),
    experiment2.SCREEN_CAPTURE,
    *_figures("thrown-block", 2, experiment2.COMPARE, _ASSUMPTIONS + _BLOCK),
)
