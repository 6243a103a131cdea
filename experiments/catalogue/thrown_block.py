"""Experiment 2 of Wendlandt 1997, section 4.3: rise, and be hit by a block."""

from biped.disturbances import Throw
from biped.errors import InputError
from biped.simulation.scene import Scene
from experiments.catalogue import balancing
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Parameter, Values

# 15° about −Y, as the text says; the quaternion printed beside it is that of experiment 1 again.
ORIENTATION = (0.99144486, 0.0, -0.13052619, 0.0)

# The block's size is not printed. Section 4.1 takes masses from volumes and the density of water: 1.8 kg of
# it are a cube of this edge [m].
EDGE = 0.1216


def block_parameters() -> tuple[Parameter, ...]:
    source = balancing.SOURCE
    return (
        Parameter("block.mass", 1.8, "kg", "mass of the block", source),
        Parameter("block.size", (EDGE, EDGE, EDGE), "m", "its edges", "a cube as dense as water (4.1)", repeats=True),
        Parameter("block.position", (0.50, 0.10, 1.20), "m", "its centre at the start", source),
        Parameter("block.velocity", (-4.5, 0.0, 0.2), "m/s", "its velocity at the start", source),
        Parameter("block.target", "trunk", "", "the body that it may hit, or all", source),
        Parameter("block.restitution", 0.2, "", "of its collisions", source),
        Parameter("block.friction", 0.3, "", "coefficient of friction of its collisions", source),
    )


def set_up(values: Values) -> Scene:
    return balancing.set_up(values, (block_from(values),))


def block_from(values: Values) -> Throw:
    try:
        return Throw(**values.group("block"))
    except InputError as error:
        raise InputError(str(error).replace("throw.", "block.")) from None


EXPERIMENT = Experiment(
    name="thrown-block",
    title="the human rises from a crouch while a block of 1.8 kg is thrown at its back",
    source="Wendlandt 1997, 4.3, experiment 2",
    parameters=(
        *balancing.parameters((-0.01, 0.0, 1.14), ORIENTATION, "15° about −Y (misprinted in Wendlandt 1997, 4.3)"),
        *block_parameters(),
    ),
    set_up=set_up,
    figures=balancing.figures(first=12),
)
