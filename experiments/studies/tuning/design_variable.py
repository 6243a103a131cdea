"""Design variables: each one sets one or several numbers of an experiment's parameters."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from biped.errors import InputError
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value, assembled, split_name
from experiments.studies.bounded import Bounded

_DAMPING = re.compile(r"controller\.kd_(?P<what>position|orientation)(\[\d+\])?")


def stiffness_of(damping: str) -> str:
    """Return the name of the stiffness that belongs to a damping gain of the workspace controller."""
    if _DAMPING.fullmatch(damping) is None:
        raise InputError(f"a damping ratio sets controller.kd_position or controller.kd_orientation, not {damping}")
    return damping.replace("kd_", "kp_")


def critical_damping(damping: str, stiffness: float) -> float:
    """Return the critical value [1/s] of a damping gain, given by name, for a ``stiffness`` kp [1/s²].

    Along x, y, z the error obeys e'' + kd e' + kp e = 0 (Wendlandt 1997, 4.12), which is critically damped at
    kd = 2 √kp. For rotations, kp multiplies the vector part of the error quaternion (4.17, 4.24), the sine of half the
    angle: for small angles the stiffness is kp / 2. The gains of Wendlandt's thesis have ratios of 0.5 and 0.707.
    """
    return 2.0 * math.sqrt(stiffness / 2.0 if "orientation" in damping else stiffness)


def number_at(name: str, values: Mapping[str, Value]) -> float | None:
    """Return the number with this name; for the name of a tuple, the common number, or None if they differ."""
    owner, place = split_name(name)
    value = values[owner]
    if not isinstance(value, tuple):
        assert isinstance(value, (int, float)), name
        return float(value)
    if place is not None:
        return value[int(place)]
    return value[0] if len(set(value)) == 1 else None


@dataclass(frozen=True)
class DesignVariable(Bounded):
    """A number to vary, and the parameters that it sets."""

    #: names of the numbers to set: ``controller.kp_position[2]``, or ``controller.kp_position`` for all of a tuple
    targets: tuple[str, ...] = ()
    is_ratio: bool = False  # True for a damping ratio: a damping gain is this times its critical value

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.targets:
            raise InputError(f"parameter {self.name!r} sets nothing: name one or more parameters in its key sets")
        for target in self.targets if self.is_ratio else ():
            stiffness_of(target)

    def read(self, values: Mapping[str, Value]) -> float | None:
        """Return the variable's value under these parameter values; None if the numbers that it sets differ."""
        numbers = {self._read(target, values) for target in self.targets}
        return numbers.pop() if len(numbers) == 1 else None

    def _read(self, target: str, values: Mapping[str, Value]) -> float | None:
        number = number_at(target, values)
        if number is None or not self.is_ratio:
            return number
        stiffness = number_at(stiffness_of(target), values)
        return number / critical_damping(target, stiffness) if stiffness else None

    def changes(self, number: float, values: Mapping[str, Value]) -> dict[str, Value]:
        """Return the changes of parameters that set a value; a damping ratio uses the stiffnesses in ``values``."""
        return {target: self._changed(target, number, values) for target in self.targets}

    def _changed(self, target: str, number: float, values: Mapping[str, Value]) -> Value:
        if self.is_ratio:
            stiffness = number_at(stiffness_of(target), values)
            if stiffness is None:
                stiffnesses = f"the stiffnesses {stiffness_of(target)} differ"
                raise InputError(f"parameter {self.name!r}: {stiffnesses}: set one damping gain, such as {target}[0]")
            number *= critical_damping(target, stiffness)
        old = values[split_name(target)[0]]
        return (number,) * len(old) if isinstance(old, tuple) and split_name(target)[1] is None else number


def check_variables(variables: Sequence[DesignVariable], experiment: Experiment) -> None:
    """Raise InputError if a number does not exist, is set by two variables, or two variables have the same name."""
    if not variables:
        raise InputError("nothing is varied: add a [[parameter]] with the keys sets, from and to")
    owners: dict[str, str] = {}
    names = [variable.name for variable in variables]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two parameters are called {name!r}: give them different names")
    for variable in variables:
        for target in variable.targets:
            for number in _numbers(target, experiment):
                if number in owners:
                    raise InputError(f"{target} is set by both {owners[number]!r} and {variable.name!r}: leave one out")
                owners[number] = variable.name


def _numbers(target: str, experiment: Experiment) -> list[str]:
    """Return the names of the single numbers of a target; raises InputError unless they are real numbers."""
    parameter = experiment.parameter(target)
    if isinstance(parameter.default, tuple):
        if not parameter.repeats:
            raise InputError(f"{target} has {len(parameter.default)} numbers: name one, such as {target}[0]")
        return [f"{target}[{entry}]" for entry in range(len(parameter.default))]
    if not isinstance(parameter.default, float):
        raise InputError(f"{target} = {parameter.default!r} cannot be varied: it must be a real number")
    return [parameter.name]


def changes_of(
    variables: Sequence[DesignVariable], point: Mapping[str, float], base: Mapping[str, Value]
) -> dict[str, Value]:
    """Return changes of ``base``, the values of all parameters, that set the variables (stiffnesses before ratios)."""
    changes: dict[str, Value] = {}
    for variable in sorted(variables, key=lambda variable: variable.is_ratio):
        changes |= variable.changes(point[variable.name], {**base, **assembled(changes, base)})
    return {target: changes[target] for variable in variables for target in variable.targets}


def point_of(variables: Sequence[DesignVariable], values: Mapping[str, Value]) -> dict[str, float] | None:
    """Return the variables' values under these parameter values; None if one is out of its range or undefined."""
    point: dict[str, float] = {}
    for variable in variables:
        number = variable.read(values)
        if number is None or not variable.low <= number <= variable.high:
            return None
        point[variable.name] = number
    return point
