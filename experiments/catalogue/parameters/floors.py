"""Parameters of an experiment's floor: a contact law by name, with its fields as ``floor.…``."""

from functools import lru_cache
from typing import Any

from contact import Floor
from experiments.catalogue.parameters.fields import field_parameters, object_from
from experiments.catalogue.parameters.parameter import Parameter, Value, Values, with_group
from experiments.lookup.open_registry import PROJECT, OpenRegistry, made_from

GROUP = "floor"
NAME = f"{GROUP}.law"
SPRING_DAMPER = "spring-damper"


def _is_law(thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, Floor)


LAWS = OpenRegistry(
    "law",
    {SPRING_DAMPER: "contact.floor:Floor", "hunt-crossley": "contact.hunt_crossley:HuntCrossley"},
    _is_law,
    "a class that derives from contact.Floor",
)


class LawName(Parameter):
    """Parameter that names a contact law; files have their whole path, which is valid in any process."""

    def _word(self, value: Any) -> str:
        return LAWS.find(super()._word(value)).name


def floor_parameters(floor: Floor, friction_source: str, law: str = SPRING_DAMPER) -> tuple[Parameter, ...]:
    """Return the parameters of a floor with the contact law of this name."""
    meaning = f"Contact law: {', '.join(LAWS.builtin)}, FILE.py:NAME or MODULE:NAME"
    return (LawName(NAME, law, "", meaning, PROJECT), *field_parameters(floor, GROUP, friction_source))


def with_law(parameters: tuple[Parameter, ...], name: str) -> tuple[Parameter, ...]:
    """Return the parameters of an experiment with another contact law; parameters of both laws keep their defaults.

    Raises:
        InputError: there is no such law, or no floor of it can be made.
    """
    entry = LAWS.find(name)
    source = PROJECT if entry.name in LAWS.builtin else entry.name.rpartition("/")[2]
    before = {(parameter.name, parameter.unit, parameter.meaning): parameter for parameter in parameters}
    law, *fields = floor_parameters(made_from("law", entry, entry.thing), source, entry.name)
    shared = [before.get((parameter.name, parameter.unit, parameter.meaning), parameter) for parameter in fields]
    return with_group(parameters, GROUP, [law, *shared])


def floor_from(values: Values) -> Floor:
    """Return the immutable floor of these values, cached for the trials of a study.

    Raises:
        FloorError: a value is impossible.
    """
    return _floor(values.items_of(GROUP))


@lru_cache(maxsize=64)
def _floor(items: tuple[tuple[str, Value], ...]) -> Floor:
    values = dict(items)
    entry = LAWS.find(str(values.pop("law", SPRING_DAMPER)))
    floor: Floor = made_from("law", entry, lambda: object_from(entry.thing, values))
    return floor
