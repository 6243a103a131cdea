"""The registry, the names that come out, and the documentation's table."""

import re
from pathlib import Path

import pytest

from biped.errors import InputError
from biped.metrics import METRICS, metric_named
from biped.metrics.metric import metric_names

PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"
ROW = re.compile(r"^\| `([\w]+)` \| ([^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$")


def test_names_come_in_the_order_of_the_registry(person):
    names = metric_names(person.joint_names, person.feet, 1)
    assert len(names) == len(set(names))
    stems = [metric_named(name).name for name in names]
    assert list(dict.fromkeys(stems)) == list(METRICS)
    assert stems.count("peak_torque_JOINT") == 12
    assert stems.count("peak_grf_FOOT") == 2


@pytest.mark.parametrize(("name", "metric"), [
    ("peak_torque", "peak_torque"),
    ("peak_torque_left_knee_pitch", "peak_torque_JOINT"),
    ("saturation_time_left_knee_pitch", "saturation_time_JOINT"),
    ("sway_gain_1", "sway_gain_FREQUENCY"),
])  # fmt: skip
def test_a_column_of_results_leads_to_its_metric(name, metric):
    assert metric_named(name).name == metric


def test_an_unknown_metric_is_refused():
    with pytest.raises(InputError, match="unknown metric 'wobble'"):
        metric_named("wobble")


def unit_of(metric):
    return metric.unit or "–"


def formula_of(metric):
    return metric.formula.replace("|", "∣")  # a bar would end the cell


def test_the_page_tells_of_every_metric_what_the_registry_does():
    rows = [match.groups() for line in PAGE.read_text(encoding="utf-8").splitlines() if (match := ROW.match(line))]
    table = {name: tuple(cell.strip() for cell in cells) for name, *cells in rows}
    assert list(table) == list(METRICS)
    for name, metric in METRICS.items():
        assert table[name] == (
            metric.unit or "–",
            metric.definition,
            metric.formula.replace("|", "∣"),
            metric.source,
        ), name
