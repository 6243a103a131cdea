"""A sentence a subject: who does best, by the numbers, and by how much.

Nobody is favoured: a subject is won by the least number, whoever has it. What differs by less than noise is a tie, and
whoever fell, or did not get to the end, wins nothing that is about precision. Nor does who is alone.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from experiments.benchmarks.comparison.cost import Cost, finished, interval, ratios
from experiments.benchmarks.comparison.flight import FlightRow
from experiments.benchmarks.comparison.outcome import FELL, REFUSED, Outcome
from experiments.benchmarks.comparison.standing import FORCE, Creep
from experiments.benchmarks.comparison.step_refinement import ROUNDING, Convergence, Rung
from experiments.benchmarks.work_precision.advice import advice, winners
from experiments.benchmarks.work_precision.step_sizes import Comparison
from experiments.cli.terminal import length

#: Numbers that are closer than this factor are a tie.
CLOSE = 1.15
#: Below these, numbers are told apart by rounding only: [m], [J], relative energy, relative spin, [N·s].
CREEP, JOULES, ENERGY, SPIN, MOMENTUM = 1e-6, 1e-4, 1e-11, 1e-9, 1e-9

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Titles = Mapping[str, str]


@dataclass(frozen=True)
class Verdict:
    """Who does best at something.

    Attributes:
        subject: a few words.
        winners: their labels; several are a tie, none is nobody.
        sentence: with the numbers.
    """

    subject: str
    winners: tuple[str, ...]
    sentence: str


@dataclass(frozen=True)
class Measure:
    """How the numbers of a subject are told.

    Attributes:
        subject: a few words.
        floor: numbers below it are equal.
        show: a number with its unit.
        what: what the least number is of; after the winner's, in its sentence.
        none: the sentence where nobody has a number.
        below: what is said of numbers below the floor; the floor itself if empty.
    """

    subject: str
    floor: float
    show: Callable[[float], str]
    what: str
    none: str
    below: str = ""


def least(
    measure: Measure, values: Mapping[str, float | None], titles: Titles, out: Mapping[str, str] | None = None
) -> Verdict:
    """The verdict where the least number wins.

    Args:
        measure: the subject.
        values: by label; those without a number win nothing, and are told.
        titles: by label.
        out: by label, why someone is out of it.
    """
    out = dict(out or {})
    found = {
        name: abs(value)
        for name, value in values.items()
        if value is not None and math.isfinite(value) and name not in out
    }
    excluded = [f"{titles[name]} {out.get(name, 'has no number')}" for name in (*values, *out) if name not in found]
    excluded = list(dict.fromkeys(excluded))
    if not found:
        return Verdict(measure.subject, (), _sentence([measure.none, *(f"{titles[name]} {out[name]}" for name in out)]))
    if len({**values, **out}) == 1:
        ((name, value),) = found.items()
        return Verdict(
            measure.subject, (), _sentence([f"{titles[name]} alone: {_told(measure, value)} {measure.what}"])
        )
    best = max(min(found.values()), measure.floor)
    first = tuple(name for name, value in found.items() if max(value, measure.floor) <= CLOSE * best)
    others = sorted((name for name in found if name not in first), key=lambda name: found[name])
    beyond = "at least " if min(found.values()) < measure.floor else ""
    told = [f"{titles[name]} {measure.show(found[name])} ({beyond}{_times(found[name] / best)})" for name in others]
    numbers = " and ".join(dict.fromkeys(_told(measure, found[name]) for name in first))
    head = (
        f"{joined([titles[name] for name in first])} {'wins' if len(first) == 1 else 'tie'}: {numbers} {measure.what}"
    )
    return Verdict(measure.subject, first, _sentence([head.rstrip(), *told, *excluded]))


def _sentence(parts: Sequence[str]) -> str:
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _told(measure: Measure, value: float) -> str:
    below = measure.below or f"below {measure.show(measure.floor)}"
    return below if value < measure.floor else measure.show(value)


def _times(ratio: float) -> str:
    return f"{float(f'{ratio:.2g}'):,.4g} times as much" if ratio < 1e4 else f"{scientific(ratio, 0)} times as much"


def scientific(value: float, digits: int = 1) -> str:
    """A number as people write it: 2.1×10⁻⁹."""
    mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
    return f"{mantissa}×10{str(int(exponent)).translate(_RAISED)}".replace("-", "−")


def joined(parts: Sequence[str]) -> str:
    """Words with commas and an "and"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def standing_verdict(rows: Sequence[Outcome], titles: Titles, words: str) -> Verdict:
    """Who gets to the end without a fall; ``words`` say at which settings."""
    up = tuple(row.engine for row in rows if row.stood)
    parts = [f"{joined([titles[name] for name in up])} {'gets' if len(up) == 1 else 'get'} to the end"] if up else []
    parts += [f"{titles[row.engine]} {'falls' if row.outcome == 'fell' else 'fails'} at {row.simulated:.3g} s"
              for row in rows if not row.stood]  # fmt: skip
    return Verdict(
        f"Outcome, {words}", up if len(rows) > 1 else (), _sentence(parts or ["No engine ran the experiment"])
    )


def agreement_verdict(rows: Sequence[Outcome], titles: Titles, root: str) -> Verdict:
    """How far the paths of the root body of this name are apart; nobody wins it."""
    parts = [f"{titles[row.engine]} {length(row.apart)}" for row in rows if row.apart is not None]
    if not parts:
        return Verdict("Agreement", (), "There is nothing to compare with.")
    first = titles[rows[0].engine]
    return Verdict(
        "Agreement",
        (),
        f"Greatest distance of the {root.replace('_', ' ')}'s path from that of {first}: {joined(parts)}.",
    )


def _fallen(rows: Sequence[Outcome]) -> dict[str, str]:
    return {row.engine: row.outcome for row in rows if not row.stood}


def books_verdicts(rows: Sequence[Outcome], titles: Titles) -> list[Verdict]:
    """Energy and momentum that nothing accounts for, in the experiment."""
    energy = Measure(
        "Energy books in the experiment", JOULES, lambda x: f"{x:.2g} J", "that no work accounts for, at most",
        "No engine got to the end",
    )  # fmt: skip
    momentum = Measure(
        "Momentum books in the experiment", MOMENTUM, lambda x: f"{scientific(x)} N·s",
        "that no impulse accounts for, at most", "No engine got to the end",
    )  # fmt: skip
    out = _fallen(rows)
    return [
        least(energy, {row.engine: row.energy_residual for row in rows}, titles, out),
        least(momentum, {row.engine: row.momentum_defect for row in rows}, titles, out),
    ]


def creep_verdict(rows: Sequence[Creep], titles: Titles, words: str) -> Verdict:
    """Whose feet creep least; ``words`` say at which settings."""
    span = max(row.measured for row in rows)
    measure = Measure(
        f"Creep in stance, {words}", CREEP, length, f"in {span:.3g} s under {FORCE:g} N", "No engine stood",
    )  # fmt: skip
    refused = f"does not take it, {words}"
    out = {row.engine: refused if row.outcome == REFUSED else row.outcome for row in rows if row.creep is None}
    return least(measure, {row.engine: row.creep for row in rows}, titles, out)


def flight_verdicts(rows: Sequence[FlightRow], motion: str, titles: Titles) -> list[Verdict]:
    """Who keeps energy and angular momentum in free flight."""
    mine = [row for row in rows if row.motion == motion]
    if not mine:
        return []
    out = {
        row.engine: f"is off by more than all its energy from {row.lost_after:.3g} s on"
        for row in mine
        if row.lost_after is not None
    }
    out |= {row.engine: f"failed ({row.failure})" for row in mine if row.failure}
    span = f"of what there is, in {mine[0].duration:g} s"
    none = "No engine got to the end"

    subjects = (
        ("Energy error", ENERGY, {row.engine: row.energy_worst_in_phase for row in mine}),
        ("Energy drift", ENERGY, {row.engine: row.energy_drift_in_phase for row in mine}),
        ("Angular momentum error", SPIN, {row.engine: row.spin_change_in_phase for row in mine}),
    )
    return [
        least(Measure(f"{what}, {motion} flight", floor, scientific, span, none), values, titles, out)
        for what, floor, values in subjects
    ]


def convergence_verdict(orders: Sequence[Convergence], rungs: Sequence[Rung], step: float, titles: Titles) -> Verdict:
    """Who is closest to its own finest step at a common step [s]; and, apart from that, who has an order."""
    subject = f"Convergence: error at {1e3 * step:g} ms"
    at_step = {rung.engine: rung for rung in rungs if math.isclose(rung.step, step)}
    values = {one.engine: at_step[one.engine].peak if one.engine in at_step else None for one in orders}
    out = {name: _ended(rung) for name, rung in at_step.items() if name in values and not rung.stood}
    measure = Measure(
        subject, ROUNDING, small_length, "from its own finest step", "No engine has a number",
        f"exact to rounding, less than {scientific(ROUNDING, 0)} m",
    )  # fmt: skip
    found = least(measure, values, titles, out)
    told = "; ".join(f"{titles[one.engine]}: {one.words}" for one in orders)
    return Verdict(subject, found.winners, f"{found.sentence} Order: {told}.")


def small_length(metres: float) -> str:
    """A length, also one below a nanometre."""
    return length(metres) if metres >= 1e-9 else f"{scientific(metres)} m"


def _ended(rung: Rung) -> str:
    return {FELL: "falls there", REFUSED: "cannot be run there"}.get(rung.outcome, "fails there")


def cost_verdict(costs: Sequence[Cost], titles: Titles, refused: Titles | None = None) -> Verdict:
    """Whose step is the cheapest; a tie where one is at times the cheaper and at times the dearer.

    Args:
        costs: the rows.
        titles: by label.
        refused: by label, why someone was not timed.
    """
    subject = "Cost of a step of the experiment"
    refused = refused or {}
    able = [cost for cost in costs if finished(cost) and math.isfinite(cost.per_step)]
    excluded = [f"{titles[cost.engine]} {cost.outcome}" for cost in costs if not finished(cost)]
    excluded += [f"{titles[cost.engine]} has no number" for cost in costs if finished(cost) and cost not in able]
    excluded += [f"{titles[name]} {why}" for name, why in refused.items()]
    if not able:
        return Verdict(subject, (), _sentence(["No engine got to the end", *excluded]))
    best = min(able, key=lambda cost: cost.per_step)
    against = {cost.engine: ratios(cost.samples, best.samples) for cost in able}
    first = tuple(cost.engine for cost in able if cost is best or interval(against[cost.engine])[0] <= 1.0)
    parts = []
    for cost in sorted(able, key=lambda cost: cost.per_step):
        low, high = interval(against[cost.engine])
        text = f"{titles[cost.engine]} {1e6 * cost.per_step:.3g} µs"
        if cost is not best:
            text += f" ({median(against[cost.engine]):.3g} times, {low:.3g} … {high:.3g})"
        parts.append(text)
    if len(costs) + len(refused) == 1:
        return Verdict(subject, (), _sentence([f"{titles[best.engine]} alone: {1e6 * best.per_step:.3g} µs"]))
    head = f"{joined([titles[name] for name in first])} {'wins' if len(first) == 1 else 'tie within noise'}"
    return Verdict(subject, first, _sentence([f"{head}: {parts[0]}", *parts[1:], *excluded]))


def precision_verdict(comparison: Comparison, titles: Titles) -> Verdict:
    """Which engine is the cheapest for an accuracy in flight."""
    chosen = tuple(dict.fromkeys(winner.method for winner in winners(comparison.curves)))
    named = [replace(curve, method=titles[curve.method]) for curve in comparison.curves]
    alone = len(comparison.curves) + len(comparison.refusals) == 1
    refused = [f"{titles[name]} does not take it: {why}." for name, why in comparison.refusals.items()]
    sentence = "Nothing to compare: one engine alone." if alone else " ".join([advice(named), *refused])
    return Verdict("Work and precision in flight", () if alone else chosen, sentence)
