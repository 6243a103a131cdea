"""Parameters of all disturbances of a standing model, and the disturbances that they set up.

Each group is off by default. Directions are angles in top view: 0 is forward (−x for the human), π/2 to the left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from biped.disturbances import Disturbance
from biped.disturbances.disturbance import ParameterGroup, Place, groups
from biped.disturbances.floor import left_foot_of
from biped.errors import InputError
from biped.model import Model, human
from biped.model.geometry import Vector3
from biped.model.strength import NO_PRESET
from experiments.catalogue.parameters.fields import field_parameters, object_from
from experiments.catalogue.parameters.floors import floor_from
from experiments.catalogue.parameters.initial import OURS
from experiments.catalogue.parameters.parameter import Parameter, Value, Values


def disturbance_parameters(model: Model, strength: str = NO_PRESET) -> tuple[Parameter, ...]:
    """Return the parameters of all disturbances, off except ``strength``; the default body is the root."""
    foot = left_foot_of(model)
    stands = "" if foot is None else f"; the left foot stands at {foot:g}".replace("-", "−")
    defaults = {"actuators.strength": strength}

    def worded(parameter: Parameter, unit: str) -> Parameter:
        words = {"root": model.root.name, "stands": stands, "unit": unit}
        default = defaults.get(parameter.name, parameter.default)
        return replace(
            parameter,
            default=default.format(**words) if isinstance(default, str) else default,
            unit=parameter.unit.format(**words),
            meaning=parameter.meaning.format(**words),
        )

    return tuple(
        worded(parameter, group.unit)
        for name, group in groups().items()
        for parameter in field_parameters(group.usual(model), name, OURS)
    )


def disturbances_from(values: Values, root: Vector3, model: Model) -> tuple[Disturbance, ...]:
    """Return the disturbances of these values, for a robot whose root has its centre of mass at ``root`` [m]."""
    place = Place(model, root, floor_from(values))
    for body in (values[f"{name}.body"] for name in groups() if f"{name}.body" in values):
        model.body_index(str(body))  # a wrong name is an error even if the disturbance is off
    return tuple(disturbance for name in groups() for disturbance in _of_group(name, values, place))


def _of_group(name: str, values: Values, place: Place) -> Sequence[Disturbance]:
    """Return the disturbances of a group; errors name its parameters."""
    try:
        return _group(name, values.items_of(name)).disturbances(place)
    except InputError as error:
        message = str(error).removeprefix("throw.")  # a block is a Throw
        if not message.startswith(name):
            message = f"{name}.{message}" if " = " in message.partition(":")[0] else f"{name}: {message}"
        raise InputError(message) from None


@lru_cache(maxsize=256)
def _group(name: str, values: tuple[tuple[str, Value], ...]) -> ParameterGroup:
    made: ParameterGroup = object_from(groups()[name].usual(human()), dict(values))
    return made


@cache
def switches() -> dict[str, dict[str, Value]]:
    """Return, for each group, the parameters that switch it on, with the values that mean off."""
    off = {parameter.name: parameter.default for parameter in disturbance_parameters(human())}
    return {
        name: {f"{name}.{switch}": off[f"{name}.{switch}"] for switch in group.switches}
        for name, group in groups().items()
        if group.switches
    }


def idle(values: Mapping[str, Value], changed: Mapping[str, Value]) -> list[str]:
    """Return a sentence for each group that is off although its parameters were set, and for an ignored floor.

    Args:
        values: values of all parameters; random disturbances suppress the sentences.
        changed: names of the parameters that were set.
    """
    sentences = []
    for group, off in switches().items():
        names = [name for name in changed if name.startswith(f"{group}.") and name not in off]
        if names and not values.get("random.seed") and all(values.get(name) == value for name, value in off.items()):
            while_off = " and ".join(f"{n} = {v:g}" if isinstance(v, float) else f"{n} = {v}" for n, v in off.items())
            sentences.append(f"{', '.join(names)}: without effect while {while_off}")
    ours = [name for name in changed if name.startswith("floor.") and name not in ("floor.mu_s", "floor.friction")]
    if ours and str(scene := values.get("integrator.name")).endswith(".xml"):
        sentences.append(f"{', '.join(ours)}: without effect, since contacts are those of {scene}")
    return sentences
