"""Parameters of an experiment's controller: any controller by name, with its fields as ``controller.…``."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from biped.control.controller import Controller
from biped.errors import InputError
from biped.inputs.modules import digest_of
from controllers.policy.networks import SUFFIXES
from experiments.catalogue.parameters.fields import field_parameters, object_from
from experiments.catalogue.parameters.initial import OURS
from experiments.catalogue.parameters.parameter import Parameter, Value, Values, with_group
from experiments.catalogue.parameters.robots import HUMAN
from experiments.catalogue.parameters.robots import NAME as ROBOT
from experiments.lookup.open_registry import Entry, OpenRegistry, made_from

GROUP = "controller"
NAME = f"{GROUP}.name"
WORKSPACE, PERSON = "workspace", "person"
#: Set point of the root in an experiment, given to any controller with fields of these names.
SET_POINT = (f"{GROUP}.target_position", f"{GROUP}.target_orientation")

#: Defaults of stance and muscles under the controller person (docs/person.md).
OF_PERSON: Mapping[str, Value] = MappingProxyType({
    "initial.stance": "upright", "initial.width": 0.185, "initial.foot_angle": 0.2, "initial.settle": 3.0,
    "actuators.time_constant": 0.01, "actuators.stiffness": 220.0, "actuators.damping": 22.0,
})  # fmt: skip


def _is_controller(thing: Any) -> bool:
    return isinstance(thing, Controller) or (
        isinstance(thing, type) and issubclass(thing, Controller) and thing is not Controller
    )


class Controllers(OpenRegistry):
    """Registry of controllers, which also finds trained policies by the TOML files that describe them."""

    def find(self, name: str) -> Entry:
        if name.endswith(SUFFIXES):
            raise InputError(f"controller {name!r} is a network: name the TOML file that describes it")
        if not name.endswith(".toml"):
            return super().find(name)
        from controllers.policy import Policy

        path = Path(name).resolve()
        if not path.is_file():
            raise InputError(f"controller {name!r}: this file does not exist")
        return Entry(str(path), Policy(str(path)), str(path), path, digest_of(path))


CONTROLLERS = Controllers(
    "controller",
    {
        WORKSPACE: "controllers.workspace:WorkspaceController",
        "cone-workspace": "controllers.cone_workspace:ConeWorkspaceController",
        "whole-body": "controllers.whole_body:WholeBodyController",
        "joint-pd": "controllers.joint_pd:JointPD",
        "joint-impedance": "controllers.impedance:JointImpedance",
        "computed-torque": "controllers.computed_torque:ComputedTorque",
        "lqr": "controllers.lqr:LQR",
        "postural": "controllers.postural:Postural",
        "reweighting": "controllers.reweighting:Reweighting",
        "stepping": "controllers.stepping:Stepping",
        PERSON: "controllers.person:Person",
    },
    _is_controller,
    "a class that derives from biped.Controller, or an object of one",
)


class ControllerName(Parameter):
    """Parameter that names a controller; files have their whole path, which is valid in any process."""

    def _word(self, value: Any) -> str:
        return CONTROLLERS.find(super()._word(value)).name


def controller_parameters(
    name: str, given: Mapping[str, Parameter] | None = None, *, hidden: bool = False
) -> tuple[Parameter, ...]:
    """Return the parameters ``controller.…`` of the controller with this name.

    ``given`` contains parameters, by name, whose defaults and sources replace those of the controller. ``hidden`` is
    True to include the parameters without effect on the human.

    Raises:
        InputError: there is no such controller, it cannot be made, or it has a field ``name``.
    """
    entry = CONTROLLERS.find(name)
    source = OURS if entry.name in CONTROLLERS.builtin else entry.name.rpartition("/")[2]
    made = made_from("controller", entry, lambda: object_from(entry.thing, {}))
    parameters = {parameter.name: parameter for parameter in field_parameters(made, GROUP, source, hidden=hidden)}
    if NAME in parameters:
        raise InputError(f"controller {name!r}: rename its field `name`, because {NAME} chooses the controller")
    for parameter in (given or {}).values():
        field = parameters.get(parameter.name)
        if field is not None and _kind(field) == _kind(parameter):
            parameters[field.name] = replace(field, default=parameter.default, source=parameter.source)
    meaning = f"Controller: {', '.join(CONTROLLERS.builtin)}, FILE.py:NAME, MODULE:NAME or POLICY.toml"
    return (ControllerName(NAME, entry.name, "", meaning, OURS), *parameters.values())


def with_controller(parameters: tuple[Parameter, ...], name: str) -> tuple[Parameter, ...]:
    """Return an experiment's parameters, with those of another controller instead of the present one."""
    set_point = {p.name: p for p in parameters if p.name in SET_POINT}
    hidden = any(parameter.name == ROBOT and parameter.default != HUMAN for parameter in parameters)
    return with_group(parameters, GROUP, controller_parameters(name, set_point, hidden=hidden))


def defaults_of_person(controller: str | None, defaults: Mapping[str, Value]) -> dict[str, Value]:
    """Return the defaults that ``person`` changes, for a body with the legs of the human."""
    return dict(OF_PERSON) if controller == PERSON and OF_PERSON.keys() <= defaults.keys() else {}


def controller_from(values: Values) -> Controller:
    """Return the controller that has these values; a user's controller, which may have a state, is made anew each time.

    Raises:
        InputError: a value is not allowed, or a file of the controller does not exist.
    """
    name = values.word(NAME)
    return (
        _made_once(name, values.items_of(GROUP)) if name in CONTROLLERS.builtin else _made(name, values.items_of(GROUP))
    )


def _made(name: str, values: tuple[tuple[str, Value], ...]) -> Controller:
    entry = CONTROLLERS.find(name)
    controller: Controller = made_from("controller", entry, lambda: object_from(entry.thing, dict(values)))
    for file in controller.files:
        if not Path(file).is_file():
            raise InputError(f"controller {entry.name!r}: the file {file} in its attribute `files` does not exist")
    return controller


#: The project's controllers are immutable, and cached for the trials of a study.
_made_once = lru_cache(maxsize=64)(_made)


def _kind(parameter: Parameter) -> tuple[type, int]:
    default: Value = parameter.default
    return type(default), len(default) if isinstance(default, tuple) else 1
