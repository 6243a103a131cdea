"""Sway on a tilting floor at five amplitudes and five frequencies, compared with the model fitted to people.

The model was fitted anew at each amplitude (Peterka 2002): people rely less on the floor at larger tilts. Here one
controller with one set of parameters covers all amplitudes.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from biped.identification import IndependentChannels
from controllers import Postural
from experiments.papers.figures import plotted
from experiments.papers.item import Finding, Outcome, Progress
from experiments.papers.people.person import ANKLES, BY_ANKLES, LATE, PERSON, PERSON_TEXT, WEIGHT, compared, ends
from experiments.studies.mean import Mean, mean_of
from experiments.studies.sweep.sweep import sweep

#: Frequencies of the floor's motion [Hz].
FREQUENCIES = (0.05, 0.15, 0.35, 0.65, 1.15)
#: Fitted to people, by peak-to-peak tilt [°]: stiffness [N·m/°], delay [s], proprioceptive weight.
FITTED = {
    0.5: (17.0, 0.20, 0.70), 1.0: (18.0, 0.19, 0.60), 2.0: (19.0, 0.18, 0.50), 4.0: (20.0, 0.13, 0.40),
    8.0: (21.0, 0.11, 0.22),
}  # fmt: skip
#: Fitted to people, for all tilts: inertia [kg·m²], m g h [N·m/rad], damping [N·m·s/°], torque feedback [°/(N·m)].
INERTIA, TOPPLING, DAMPING, TORQUE_FEEDBACK = 70.6, 634.0, 5.0, 0.01
#: Allowed relative difference of the gain, and difference [°] of the phase, as no spread is known.
PART, TURN = 0.2, 15.0
_CYCLE, _RISE = 20.0, 10.0  # [s] period of the floor's motion, and time to fade it in
_FELL = "the person sways more than people, who rely less on the floor at large tilts, and falls without a step"
#: Reasons for values below and above people's; a lag is a negative phase.
_GAIN = (
    "the sensory delay is shorter than people's at small tilts, which damps their resonance near 0.65 Hz, and soles "
    "that sink into rubber reduce the effect of the ankle torque",
    "passive ankles and a constant weight follow the floor equally at all tilts; people rely less on it at large tilts",
)
_PHASE = (
    "the shorter delay adds damping, and rubber lowers the resonance, so that sway lags more below the resonance",
    "the sensory delay is shorter than people's at small tilts, and adds less lag above the resonance",
)


class Response(NamedTuple):
    """Ratio of sway to tilt at an amplitude and a frequency."""

    tilt: float  # [°] peak to peak
    frequency: float  # [Hz]
    people: tuple[float, float]  # gain, and phase [°], of the model fitted to people
    gain: Mean  # our gain
    phase: Mean  # [°] our phase
    fell: int  # number of trials with a fall


def fitted(tilt: float) -> NDArray[np.complex128]:
    """Return sway over tilt (5,) of the model fitted to people, for a peak-to-peak tilt in degrees."""
    stiffness, delay, weight = FITTED[tilt]
    in_space = math.degrees(1.0) / TOPPLING
    model = IndependentChannels(
        INERTIA, TOPPLING, stiffness=stiffness * in_space, damping=DAMPING * in_space, weight=weight, delay=delay,
        passive_stiffness=0.0, passive_damping=0.0, torque_feedback=TORQUE_FEEDBACK / in_space,
    )  # fmt: skip
    return model.response(FREQUENCIES)


def phase_near(angles: NDArray[np.float64], lag: float) -> Mean:
    """Return the circular mean [°] of angles [rad], shifted by whole turns to be near a lag [°]."""
    direction = np.angle(np.exp(1j * angles).sum())
    apart = np.degrees(np.angle(np.exp(1j * (angles - direction))))
    turns = round((lag - math.degrees(direction)) / 360.0)
    return mean_of(math.degrees(direction) + 360.0 * turns + apart)


def simulated(replicas: int, cycles: int, progress: Progress) -> pd.DataFrame:
    """Return a row per trial: ``tilt`` [° peak to peak], ``verdict``, sway gain and phase [rad] at frequency 1, 2, …"""
    turns = 2.0 * math.pi * np.outer(np.arange(0.0, _CYCLE, 0.01), FREQUENCIES)
    span = np.ptp(np.sin(turns).sum(axis=1))  # range of a sum of sines of amplitude one
    sizes = [math.radians(tilt) / span for tilt in FITTED]
    floor = {
        "platform.axis": "pitch", "platform.motion": "sum-of-sines", "platform.start": 0.0, "platform.rise": _RISE,
        "platform.frequencies": " ".join(map(str, FREQUENCIES)), "platform.duration": 2.0 * _RISE + cycles * _CYCLE,
        "run.duration": _RISE + cycles * _CYCLE,
    }  # fmt: skip
    table = sweep(
        "balance", {"platform.size": sizes}, {**PERSON, **BY_ANKLES, **floor}, controller=ANKLES, replicas=replicas,
        metrics=["sway_gain_*", "sway_phase_*"], progress=lambda done: progress(done / (len(sizes) * replicas)),
    )  # fmt: skip
    return table.assign(tilt=np.repeat(list(FITTED), replicas))


def responses(table: pd.DataFrame) -> list[Response]:
    """Return the responses of trials without a fall, from the table of ``simulated``."""
    rows = []
    for tilt in FITTED:
        trials = table[table["tilt"] == tilt]
        stood = trials[trials["verdict"] == "recovered"]
        for number, (frequency, people) in enumerate(zip(FREQUENCIES, _unwrapped(tilt), strict=True), 1):
            phase = phase_near(stood[f"sway_phase_{number}"].to_numpy(dtype=float), people[1])
            gain = mean_of(stood[f"sway_gain_{number}"])
            rows.append(Response(tilt, frequency, people, gain, phase, len(trials) - len(stood)))
    return rows


def findings(rows: Sequence[Response]) -> tuple[Finding, ...]:
    """Compare all gains and phases with those of the model fitted to people."""
    stated = []
    for response in rows:
        where = f"at {response.frequency:g} Hz for a tilt of {response.tilt:g}° peak to peak"
        gain, phase = response.people
        ways = (
            (f"gain {where}", round(gain, 2), PART * gain, response.gain, _GAIN),
            (f"phase {where} [°]", float(round(phase)), TURN, response.phase, _PHASE),
        )
        for quantity, published, margin, ours, why in ways:
            because = _FELL if response.fell else why[ours.value > published]
            stated.append(compared(quantity, published, margin, ours, because, lost=response.fell))
    return tuple(stated)


def produce(quick: bool, progress: Progress) -> Outcome:
    replicas, cycles = (2, 1) if quick else (10, 3)
    rows = responses(simulated(replicas, cycles, progress))
    assumptions = (
        PERSON_TEXT,
        "published values are not measured responses, but the closed-form response of the independent-channel model "
        "with stiffness, delay and weight fitted to people at each amplitude (initial values of a laboratory's "
        f"toolbox), for a body of {INERTIA:g} kg·m² and {TOPPLING:g} N·m/rad, without passive ankles",
        f"agreement: our mean is within {100 * PART:g} % of the gain and {TURN:g}° of the phase; no spread is known",
        f"ours: means of {replicas} trials of {cycles} cycles of {_CYCLE:g} s, with 95 % intervals, on rubber",
    )
    tables = {"Responses": _frame(rows), "On a rigid floor, in closed form": _rigid()}
    return Outcome(findings(rows), assumptions, tables, {"tilts": _draw(rows)})


def _rigid() -> pd.DataFrame:
    """Return the closed-form response of the controller, with its delay and with the delay of people."""
    law = Postural(weight=WEIGHT)
    rows = []
    for delay in (LATE, FITTED[2.0][1]):
        model = IndependentChannels(
            INERTIA, TOPPLING, stiffness=law.stiffness, damping=law.damping, weight=law.weight, delay=delay,
            passive_stiffness=law.passive_stiffness, passive_damping=law.passive_damping, smoothing=law.smoothing,
        )  # fmt: skip
        response = model.response(FREQUENCIES)
        phases = np.degrees(np.unwrap(np.angle(response)))
        rows += list(zip([delay] * len(phases), FREQUENCIES, np.abs(response), phases, strict=True))
    return pd.DataFrame(rows, columns=["delay [s]", "frequency [Hz]", "gain", "phase [°]"])


def _frame(responses: Sequence[Response]) -> pd.DataFrame:
    columns = (
        "tilt [°]", "frequency [Hz]", "gain of people", "phase of people [°]", "gain", "gain from", "gain to",
        "phase [°]", "phase from [°]", "phase to [°]", "fell",
    )  # fmt: skip
    rows = [(r.tilt, r.frequency, *r.people, *ends(r.gain), *ends(r.phase), r.fell) for r in responses]
    return pd.DataFrame(rows, columns=columns)


def _unwrapped(tilt: float) -> list[tuple[float, float]]:
    """Return gain and phase [°] of the fitted model, by frequency."""
    response = fitted(tilt)
    return list(zip(np.abs(response).tolist(), np.degrees(np.unwrap(np.angle(response))).tolist(), strict=True))


def _draw(responses: Sequence[Response]) -> Figure:
    with plotted("Sway / tilt of the floor, by peak-to-peak tilt", "frequency [Hz]", "gain") as (figure, axes):
        for number, tilt in enumerate(FITTED):
            of_tilt = [response for response in responses if response.tilt == tilt]
            color = f"C{number}"
            axes.loglog(FREQUENCIES, [r.people[0] for r in of_tilt], "--", color=color, label=f"{tilt:g}°, people")
            if not any(r.fell for r in of_tilt):
                gains = [r.gain.value for r in of_tilt]
                axes.loglog(FREQUENCIES, gains, "o-", color=color, label=f"{tilt:g}°, ours")
        axes.set_ylim(0.05, 5.0)
        axes.legend(ncols=3, loc="lower left")
    return figure
