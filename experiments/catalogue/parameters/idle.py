"""Parameters that were set of a disturbance that is off: whoever sets a platform's size means it to move."""

from collections.abc import Mapping

from experiments.catalogue.parameters.parameter import Value

#: Of each group the parameters that switch it on, and what they are while it is off.
SWITCHES: dict[str, dict[str, Value]] = {
    "push": {"push.impulse": 0.0},
    "force": {"force.size": 0.0, "force.noise": 0.0, "force.file": "none"},
    "platform": {"platform.motion": "none"},
    "patch": {"patch.present": 0},
    "load": {"load.mass": 0.0},
    "block": {"block.speed": 0.0},
}


def idle(values: Mapping[str, Value], changed: Mapping[str, Value]) -> list[str]:
    """A sentence for each group that is off although some of it was set; none where disturbances are drawn at random.

    Args:
        values: of all parameters.
        changed: those that were set.
    """
    if values.get("random.seed"):
        return []
    told = []
    for group, switches in SWITCHES.items():
        others = [name for name in changed if name.startswith(f"{group}.") and name not in switches]
        if others and all(values.get(name) == off for name, off in switches.items()):
            while_off = " and ".join(f"{name} = {off:g}" if isinstance(off, float) else f"{name} = {off}"
                                     for name, off in switches.items())  # fmt: skip
            told.append(f"{', '.join(others)}: without effect while {while_off}")
    return told
