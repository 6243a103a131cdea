"""What the conditions of a push map are called."""

from experiments.studies.threshold.directions import word_of
from experiments.studies.threshold.findings import Finding
from experiments.studies.threshold.plan import Plan


def direction_of(finding: Finding) -> str:
    """A condition's direction in degrees and words, and its height if it has one."""
    labels = finding.condition.labels
    azimuth = float(labels["direction"])
    height = f"{labels['height']:g} m  " if "height" in labels else ""
    word = f"  {word_of(azimuth)}" if azimuth % 45.0 == 0.0 else ""
    return f"{height}{azimuth:5.4g}°{word}"


def heights_of(plan: Plan) -> list[float]:
    """[m] the heights of a map's pushes, each once; none where all are where ``push.point`` says."""
    found = dict.fromkeys(condition.labels.get("height") for condition in plan.conditions)
    return [float(height) for height in found if height is not None]
