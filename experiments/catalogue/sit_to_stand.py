"""The human gets up from the height of a chair. There is none: it starts at rest in a deep squat, on its feet alone."""

from biped.model import human
from biped.runs.postures import STANDING_TRUNK, standing_angles
from contact import RUBBER
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.tracking import tracking

#: [m] of the trunk's centre of mass: its hips are then at 0.48 m, as on a chair, and the body's weight over its feet.
SEATED = (0.05, 0.0, 0.75)
WAY = tuple(stands - sits for stands, sits in zip(STANDING_TRUNK, SEATED, strict=True))


def seated() -> dict[str, Value]:
    """Where it starts, and what it is to do there."""
    start: dict[str, Value] = {f"initial.body_{axis}": place for axis, place in zip("xyz", SEATED, strict=True)}
    for joint, angle in standing_angles(human(), RUBBER, SEATED).items():
        start |= {f"initial.{side}_{joint}": angle for side in ("left", "right")}
    return start | {"controller.target_position": SEATED}


EXPERIMENT = tracking(
    "sit-to-stand",
    "the human rises from a chair's height, without a chair: out of a deep squat, within 1.5 s",
    {"shape": "step", "displacement": WAY, "rise": 1.5},
    {"run.duration": 4.0} | seated(),
    any_robot=False,
)
