"""Thresholds as texts: names of conditions, numbers, intervals, and remarks."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from experiments.cli.names import MAPS
from experiments.studies.threshold.directions import word_of
from experiments.studies.threshold.findings import Finding, Findings
from experiments.studies.threshold.threshold import Threshold
from experiments.studies.trial import Label


def name_of(finding: Finding) -> str:
    """Return the name of a condition: its labels; for a push map, the direction in degrees and words."""
    labels = finding.condition.labels
    if finding.plan.kind not in MAPS:
        texts = [f"{name} {value:g}" if isinstance(value, float) else f"{value}" for name, value in labels.items()]
        return ", ".join(texts)
    azimuth = float(labels["direction"])
    map_name = ring_name(labels)
    word = f"  {word_of(azimuth)}" if azimuth % 45.0 == 0.0 else ""
    return f"{map_name}{'  ' if map_name else ''}{azimuth:5.4g}°{word}"


def ring_name(labels: Mapping[str, Label]) -> str:
    """Return the name of a condition's map, if there are several: all labels but the direction."""
    rest = {name: value for name, value in labels.items() if name != "direction"}
    return " ".join(f"{value:g} m" if name == "height" else str(value) for name, value in rest.items())


def label_of(plan: Threshold) -> str:
    return f"{plan.label} [{plan.unit}]" if plan.unit else plan.label


def number_text(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.4g}" if math.isfinite(value) else "−∞" if value < 0.0 else "∞"


def interval_text(low: float, high: float) -> str:
    return f"{number_text(low)} … {number_text(high)}"


def median_text(finding: Finding) -> str:
    """Return a condition's median, with < or ≥ if it is below or above all tried values."""
    estimate = finding.estimate
    if math.isnan(estimate.median.value):
        return "none"
    if estimate.median.value == -math.inf:
        return f"< {finding.plan.grid.start:g}"
    beyond = 2 * estimate.above >= estimate.replicas
    return f"≥ {number_text(estimate.median.value)}" if beyond else number_text(estimate.median.value)


def estimate_texts(finding: Finding) -> list[str]:
    """Return a condition's median, its interval, and the 10 % and 90 % quantiles of the replicas."""
    estimate = finding.estimate
    if math.isnan(estimate.median.value):
        return ["none", "–", "–", "–"]
    interval = interval_text(estimate.median.low, estimate.median.high)
    return [median_text(finding), interval, number_text(estimate.low), number_text(estimate.high)]


def limit_texts(finding: Finding) -> list[str]:
    """Return the pendulum's limit with the controller's strategies, and median / limit; a dash if not available."""
    if finding.limit is None:
        return ["–", "–"]
    if finding.share is None:
        return [number_text(finding.limit.applicable), "–"]
    return [number_text(finding.limit.applicable), f"{finding.share:.0%}"]


def reached_text(limited: Sequence[Finding]) -> str:
    """Return the range of median / limit in words; empty if no limit is comparable."""
    limited = [finding for finding in limited if finding.share is not None]
    if not limited:
        return ""
    ends = [choose(limited, key=lambda f: f.share or 0.0) for choose in (min, max)]
    texts = [limit_texts(finding)[1] for finding in ends]
    names = {finding.limit.applicable_name for finding in limited if finding.limit is not None}
    whose = f"the {names.pop()}" if len(names) == 1 else "their limits"
    return f"of {whose}: {texts[0]} at least, {texts[1]} at most"


def shares_of(findings: Iterable[Finding]) -> dict[str, float]:
    """Return the share of each verdict at the thresholds of all these replicas, the most frequent first."""
    counts: Counter[str] = Counter()
    for finding in findings:
        counts.update(finding.limits)
    return {word: count / counts.total() for word, count in counts.most_common()}


def limits_text(finding: Finding) -> str:
    """Return the verdicts at the replicas' thresholds with their counts, the most frequent first."""
    return ", ".join(f"{word} {count}" for word, count in finding.limits.items()) or "–"


def remarks(findings: Findings) -> Iterator[str]:
    """Yield necessary remarks: too few replicas, thresholds out of range, non-monotonic thresholds."""
    plan = findings.plan
    estimates = [finding.estimate for finding in findings.conditions]
    reached = estimates[0].median.confidence
    if reached < plan.confidence:
        yield f"{plan.replicas} replicas allow intervals of {100.0 * reached:.1f} %, not {100.0 * plan.confidence:g} %."
    odd, unknown = (sum(getattr(e, name) for e in estimates) for name in ("non_monotone", "unknown"))
    never = Counter(word for finding in findings.conditions for word in finding.never_recovered)
    if never:
        ended = ", ".join(f"{count} {word}" for word, count in never.most_common())
        yield (
            f"{never.total()} replicas recovered from no value tried; at the least, {plan.grid.start:g} {plan.unit}: "
            f"{ended}. Of their thresholds, {unknown} are unknown, the others are below this value."
        )
    gaps = [gap for finding in findings.conditions for gap in finding.gaps]
    if gaps:
        words = ", ".join(f"{count} {word}" for word, count in sum(gaps, Counter[str]()).most_common())
        yield (
            f"{len(gaps)} thresholds may be far above the value given: the trials up to the next loss are neither "
            f"recoveries nor losses ({words}); a longer run.duration may decide the undecided ones."
        )
    above = sum(
        b.low == max(tried) for f in findings.conditions for b, tried in zip(f.brackets, f.outcomes, strict=True)
    )
    if above:
        yield f"{above} thresholds are above the largest value tried, {plan.grid.limit:g} {plan.unit}."
    if odd:
        yield (
            f"{odd} of {sum(e.replicas for e in estimates)} searches found a recovery above a loss: "
            "a threshold is the first loss, and later recoveries do not count; a finer grid (--by) would find more."
        )
