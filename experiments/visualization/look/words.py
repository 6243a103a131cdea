"""Names of metrics, parameters and units in words, for figures and pages."""

import re

from biped.disturbances import in_words
from biped.runs.run import Run
from experiments.cli.quantities import unit_text

#: Words for parts of names.
_WORDS = {
    "mu_s": "static friction",
    "mu_d": "dynamic friction",
    "k_n": "normal stiffness",
    "b_n": "normal damping",
    "k_t": "tangential stiffness",
    "b_t": "tangential damping",
    "kp": "stiffness of",
    "kd": "damping of",
    "com": "CoM",
    "cop": "CoP",
    "ap": "AP",
    "ml": "ML",
    "zmp": "ZMP",
    "grf": "GRF",
    "rms": "RMS",
    "hz": "Hz",
    "newton": "Newton iterations,",
    "max": "max",
    "ledger": "energy",
    "defect": "residual",
}
_AXES = "xyz"
#: Last parts of names that select one of several values; in words they follow a comma.
_ENDS = ("min", "max", "mean", "end")


def words_of(name: str) -> str:
    """Return a metric's or a parameter's name in words: ``margin_of_stability_min`` is "margin of stability, min".

    A name with a blank or a capital letter is returned unchanged.
    """
    if re.search(r"[A-Z ]", name):
        return name
    name, _, index = name.partition("[")
    group, _, last = name.rpartition(".")
    last = _spelt(last)
    axis = f" {_AXES[int(index[:-1])]}" if index[:-1].isdecimal() and int(index[:-1]) < len(_AXES) else ""
    return f"{_spelt(group)} {last}{axis}".strip()


def _spelt(name: str) -> str:
    if name in _WORDS:
        return _WORDS[name].removesuffix(" of")  # a controller with a single stiffness
    parts = name.split("_")
    last = f", {parts.pop()}" if len(parts) > 1 and parts[-1] in _ENDS and parts[0] != "newton" else ""
    side = next((k for k, part in enumerate(parts) if k and part in ("left", "right")), len(parts))
    text = " ".join(_WORDS.get(part, part) for part in parts[:side])
    joint = " ".join(parts[side:])
    return f"{text}{', ' if joint else ''}{joint}{last}"


def with_unit(name: str, unit: str) -> str:
    """Return a label for an axis: words and unit."""
    words, unit = words_of(name), unit_text(unit)
    return f"{words} [{unit}]" if unit else words


def disturbance_text(run: Run) -> str:
    """Return the disturbances in words; without any: "undisturbed" for a run with a set point, else an empty text."""
    done = "; ".join(in_words(run.disturbances, run.state.model.facing)) if run.world is None else ""
    return done or ("" if run.set_point is None else "undisturbed")
