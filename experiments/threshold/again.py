"""The command that asks a plan's questions once more, from the plan alone."""

import shlex
from collections.abc import Mapping, Sequence

from experiments.parameter import Value
from experiments.threshold.plan import Plan


def command_of(name: str, plan: Plan, own: Sequence[str] = (), but: Sequence[str] = ()) -> str:
    """The command line of a preset.

    Args:
        name: of the command.
        plan: of the study.
        own: options that only this command has.
        but: parameters that the preset sets itself.
    """
    ladder = plan.ladder
    numbers = {"from": ladder.start, "to": ladder.stop, "by": ladder.by, "tolerance": ladder.tolerance}
    words = ["biped", name, *own]
    words += [f"--{option}={value!r}" for option, value in numbers.items()]
    words += [f"--replicas={plan.replicas}", f"--seed={plan.seed}", f"--confidence={plan.confidence!r}"]
    words += ["--count-stepping"] if plan.count_stepping else []
    words += [f"--set={key}={_exact(value)}" for key, value in plan.changes.items() if key not in but]
    return shlex.join(words)


def _exact(value: Value) -> str:
    """A value as ``--set`` reads it back, to the last bit."""
    return ",".join(map(_exact, value)) if isinstance(value, tuple) else str(value)


def configuration_of(plan: Plan) -> str:
    """The file of ``biped threshold`` that asks the same."""
    data = plan.as_json()
    lines = [f"{key} = {_toml(value)}" for key, value in data.items() if not isinstance(value, (dict, list))]
    for key, value in data.items():
        tables = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
        for table in tables:
            lines += ["", f"[[{key}]]" if isinstance(value, list) else f"[{key}]"]
            lines += [f"{_key(name)} = {_toml(item)}" for name, item in table.items()]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if name.replace("_", "").isalnum() else f'"{name}"'


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(name))} = {_toml(item)}" for name, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return repr(value)
