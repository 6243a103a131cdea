"""Findings of an identification for the terminal, tables, a Bode plot and a fit in files, and its page."""

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biped.identification import FrequencyResponse
from biped.identification.response import unwrapped
from experiments.cli.quantities import unit_text
from experiments.studies.identification.identification import Identification, Identified
from experiments.studies.identification.model_fit import ModelFit
from experiments.visualization.document import Document
from experiments.visualization.look import style
from experiments.visualization.pages import Chart, Prose, Section, Table
from experiments.visualization.panels.panel import Area, Axis, Item, Panel, Points
from experiments.visualization.panels.with_matplotlib import write_panels

RESPONSE, REMNANT, FIT, FIGURE = "response.csv", "remnant.csv", "fit.json", "response.png"
#: [inch] size of the figure.
_SIZE = (style.SIZE[0], 10.8)
#: Number of frequencies of a fitted model's curve.
_CURVE = 200
#: Factor by which the frequency axis extends beyond the first and the last frequency.
_BEYOND = 1.15


def _cycles(plan: Identification) -> str:
    return "cycles" if plan.recorded is None or plan.recorded.spectra[0].is_periodic else "windows"


def document(plan: Identification, result: Identified, _: Path) -> Document:
    """Return a document: frequency response with its intervals, remnant, and fitted model."""
    response, fit, panels = result.response, result.fit, panels_of(result)
    files = () if plan.recorded is None else plan.recorded.files
    of = f"{len(files)} records: {', '.join(files)}" if files else f"{result.trials - result.left_out} trials"
    lead = [Prose(f"{warning[0].upper()}{warning[1:]}.", "bad") for warning in result.warnings]
    lead.append(Prose(f"{response.cycles} {_cycles(plan)} of {of} are averaged."))
    if result.left_out:
        lead.append(Prose(f"{result.left_out} of {result.trials} trials fell or failed, and are left out.", "bad"))
    averaging = plan.averaging
    text = (
        f"Gain, phase and coherence, with their intervals at {100.0 * averaging.confidence:.4g} % by a bootstrap over "
        f"{averaging.over}; lines are the fitted model. The remnant is the sway that varies from cycle to cycle."
    )
    numbers = Table("", ("response", "frequency [Hz]", *_headings(response.frame)), tuple(_rows(response.frame)))
    sections = [Section("response", "Frequency response", blocks=(Chart(panels, text, "response"), numbers))]
    if fit is not None:
        lead += [Prose(f"{note}.") for note in fit.notes]
        table = Table("Parameters", ("parameter", "value", "95 % interval", "unit"), tuple(_fit_rows(fit)), fold=False)
        known = tuple((name, f"{v:.4g}", unit_text(fit.model.unit(name))) for name, v in fit.model.known.items())
        of_body = Table("Known parameters, not fitted", ("parameter", "value", "unit"), known, fold=False)
        title = f"Fit of {fit.model.name}"
        sections.append(Section("fit", title, f"{_left(fit).capitalize()}.", blocks=(table, of_body)))
    data = {
        "cycles": response.cycles,
        "left_out": result.left_out,
        "warnings": list(result.warnings),
        "units": response.frame.attrs["units"],
        "response": response.frame,
        "fit": None if fit is None else fit.as_json,
    }
    tables = {RESPONSE: response.frame, REMNANT: response.remnant, FIT: data["fit"]}
    return Document(lead, sections, data, tables, {FIGURE: partial(write_panels, panels=panels, size=_SIZE)})


def panels_of(result: Identified) -> list[Panel]:
    """Return gain, phase, coherence and remnant over frequency: estimates with bands, and the fitted model's curves."""
    frame, units = result.response.frame, result.response.frame.attrs["units"]
    columns = {"gain": (1.0, f"gain [{unit_text(units['gain']) or '–'}]"), "phase": (180.0 / np.pi, "phase [°]")}
    columns["coherence"] = (1.0, "coherence [–]")
    curves, x_axis = _curves(result), _frequency_axis(result.response)
    panels = []
    for column, (factor, label) in columns.items():
        items: list[Item] = []
        for k, name in enumerate(result.response.values):
            rows = frame[frame["response"] == name]
            x, color = rows["frequency"].to_numpy(), style.LINES[k]
            if f"{column}_low" in rows:
                items.append(Area.between(x, factor * rows[f"{column}_low"], factor * rows[f"{column}_high"], color))
            items.append(Points(x, factor * rows[column].to_numpy(), name, color, "circle"))
            if column != "coherence" and name in curves:
                frequencies, values = curves[name]
                line = np.abs(values) if column == "gain" else _phase(values, frequencies, result.response, name)
                items.append(Points(frequencies, factor * line, f"{name}: model", color, dash="solid"))
        low, high = (0.0, 1.02) if column == "coherence" else (None, None)
        y = Axis(label, low, high, log=column == "gain")
        panels.append(Panel(tuple(items), x_axis, y, legend="best" if column == "gain" else ""))
    panels += _remnant_panels(result.response, x_axis)
    panels[-1] = replace(panels[-1], x=replace(x_axis, label="frequency [Hz]"))
    return panels


def _remnant_panels(response: FrequencyResponse, x_axis: Axis) -> list[Panel]:
    """Return a panel of the remnant; none for a single cycle, which has no remnant."""
    if response.remnant is None:
        return []
    items = []
    for k, name in enumerate(response.values):
        rows = response.remnant[response.remnant["response"] == name]
        x, y = rows["frequency"].to_numpy(), rows["power"].to_numpy()
        items.append(Points(x, y, "", style.LINES[k], dash="solid"))
    unit = unit_text(response.remnant.attrs["units"]["power"])
    return [Panel(tuple(items), x_axis, Axis(f"remnant [{unit}]", log=True, powers=True))]


def _frequency_axis(response: FrequencyResponse) -> Axis:
    """Return a logarithmic axis with labels at 1, 2 and 5 in each decade."""
    low, high = response.excited[0] / _BEYOND, response.excited[-1] * _BEYOND
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)))
    named = {value: f"{value:g}" for decade in decades for value in (k * 10.0**decade for k in (1, 2, 5))}
    return Axis("", low, high, log=True, ticks={k: text for k, text in named.items() if low <= k <= high})


def _curves(result: Identified) -> dict[str, tuple[Any, Any]]:
    if result.fit is None:
        return {}
    ends = result.response.excited[[0, -1]]
    frequencies = np.geomspace(ends[0], ends[1], _CURVE)
    return {name: (frequencies, values) for name, values in result.fit.values(frequencies).items()}


def _phase(values: Any, frequencies: Any, response: FrequencyResponse, name: str) -> Any:
    """Return the phase [rad] of a curve, shifted by whole turns to be nearest to the points."""
    phase = unwrapped(values)
    points = unwrapped(response.values[name])
    at = np.interp(response.frequencies, frequencies, phase)
    return phase + 2.0 * np.pi * np.round(np.median(points - at) / (2.0 * np.pi))


def _headings(frame: pd.DataFrame) -> tuple[str, str, str]:
    unit = unit_text(frame.attrs["units"]["gain"])
    return f"gain{f' [{unit}]' if unit else ''}", "phase [°]", "coherence"


def _rows(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    cells = {"gain": (1.0, ".3g"), "phase": (180.0 / np.pi, ".0f"), "coherence": (1.0, ".2f")}
    return [
        (str(row["response"]), f"{row['frequency']:.3g}", *(_cell(row, name, *cells[name]) for name in cells))
        for row in frame.to_dict("records")
    ]


def _cell(row: Any, name: str, factor: float, form: str) -> str:
    text = f"{factor * row[name]:{form}}"
    if f"{name}_low" not in row:
        return text
    return f"{text} [{factor * row[f'{name}_low']:{form}}, {factor * row[f'{name}_high']:{form}}]"


def _left(fit: ModelFit) -> str:
    """Return the RMS weighted residual of a fit in words."""
    left, what = fit.as_json["residual_deviation"], {
        "deviation": "standard deviations over cycles, about 1 if the model fits",
        "relative": "of the responses",
        "log": "of their logarithms",
    }  # fmt: skip
    return f"RMS residual: {left:.3g} {what[fit.error]}"


def _fit_rows(fit: ModelFit) -> list[tuple[str, ...]]:
    return [
        (row["parameter"], f"{row['value']:.4g}", f"[{row['low']:.4g}, {row['high']:.4g}]", unit_text(row["unit"]))
        for row in fit.as_json["parameters"]
    ]
