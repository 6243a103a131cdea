"""What a run amounts to on the terminal, at its widths."""

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from biped.disturbances.disturbance import direction_in_words
from biped.runs.contact_changes import lasting_changes
from experiments.catalogue.registry import experiment_named
from experiments.cli.quantities import length
from experiments.cli.terminal import print_table
from experiments.visualization.report.run_facts import effects, headline, print_report, run_sections

WIDTHS = (60, 80, 120)


def words_of(text):
    """All of them, whatever line and column they stand in."""
    return sorted(re.findall(r"[\w.-]+", text))


def test_the_facts_of_a_run_are_its_metrics():
    run = experiment_named("balance").run({"push.impulse": 8.0, "run.duration": 1.0})
    assert headline(run).text.startswith("recovered in place (a push of 8 N·s forwards at 0.5 s, for 0.1 s")
    facts = dict(effects(run))
    assert 7.0 < 1e3 * run.metrics["com_excursion"] < 10.0
    assert facts["peak excursion of the centre of mass"] == length(run.metrics["com_excursion"])
    assert facts["peak joint torque"].startswith(f"{run.metrics['peak_torque']:.3g} N·m, ")
    hard = experiment_named("balance").run({"push.impulse": 5.5, "push.azimuth": 1.5708})
    told = [text for name, text in effects(hard) if name == "warning"]
    assert any("a strong human exerts" in text for text in told)  # the ankle takes more torque than a human has
    assert headline(experiment_named("balance").run({"run.duration": 0.1})).text.endswith("(undisturbed)")


def test_the_tables_of_a_run_are_its_events_and_checks(runs):
    run = runs["thrown-block"]
    torques, feet, impacts, checks = run_sections(run)[0].blocks
    peaks = run.by_joint("peak_torque")
    for name, peak in torques.rows:
        assert float(peak) == pytest.approx(peaks[name.replace(" ", "_")], abs=0.06)
    kept, hidden = lasting_changes(run.summary["events"]["edges"])
    assert [row[2] for row in feet.rows] == [change.change for change in kept]
    assert f"{hidden} changes" in feet.caption
    for row, impact in zip(impacts.rows, run.summary["events"]["impacts"], strict=True):
        x, y, z = impact["impulse"]
        assert [float(cell) for cell in row[3:6]] == pytest.approx((-x, y, z), rel=1e-5)  # AP, ML; the human faces −x
    assert [row[0] for row in checks.rows] == [check.name for check in run.trust]


@pytest.mark.parametrize("name", ["thrown-block", "box-drop"])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_report_keeps_within_the_terminal(runs, name, width, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    print_report(runs[name], "title", verbose=True)
    assert max(map(cell_len, capsys.readouterr().out.splitlines())) <= width


@pytest.mark.parametrize(
    ("direction", "words"),
    [
        ((-1.0, 0.0, 0.0), "forwards"), ((0.0, -1.0, 0.0), "to the left"), ((1.0, 1.0, 0.0), "backwards and right"),
        ((0.0, 0.1, -1.0), "downwards"), ((-1.0, -0.5773, 0.0), "at 30° from forwards to the left"),
    ],
)  # fmt: skip
def test_directions_are_those_of_the_human(person, direction, words):
    assert direction_in_words(direction, person.facing) == words


def test_lasting_changes():
    def edge(time, change, lasted, name="left_heel"):
        return {"time": time, "edge": name, "change": change, "lasted": lasted}

    bounce = [edge(0.0, "down", 0.001), edge(0.001, "up", 0.002), edge(0.003, "down", 0.5), edge(0.503, "up", None)]
    kept, hidden = lasting_changes(bounce)
    assert [(change.time, change.change) for change in kept] == [(0.003, "down"), (0.503, "up")]
    assert hidden == 2
    short = [edge(0.0, "down", 0.5), edge(0.5, "up", 0.003), edge(0.503, "down", None)]
    kept, hidden = lasting_changes(short)
    assert [change.time for change in kept] == [0.0]
    assert hidden == 2
    assert lasting_changes([]) == ([], 0)


@pytest.mark.parametrize(
    ("metres", "text"), [(1.5, "1.5 m"), (0.0123, "12.3 mm"), (2.7e-7, "< 1 µm"), (4e-6, "4 µm"), (0.0, "0 m")]
)
def test_lengths(metres, text):
    assert length(metres) == text


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (60, ["speed [m/s]    90 % interval", "          4          3 … 4.5"]),
        (26, ["speed        90 %", "[m/s]    interval", "    4     3 … 4.5"]),
        (15, ["speed  90 %", "[m/s]  interval", "  4  3 … 4.5"]),
    ],
)
def test_a_table_keeps_its_words_whole(width, expected):
    """Headings break before cells do."""
    lines = table_of([["4", "3 … 4.5"]], width)
    assert [line.split() for line in lines] == [line.split() for line in expected]


def test_what_is_too_wide_for_a_table_is_printed_as_blocks():
    wide = "3.1234567 … 4.51234567 of all that there is"
    lines = table_of([["4", wide]], 45)
    assert lines[0] == "speed [m/s] 4"
    assert " ".join(" ".join(lines[1:]).split()).startswith("90 % interval 3.1234567 … 4.51234567")


def table_of(rows, width):
    console = Console(file=io.StringIO(), width=width)
    print_table(["speed [m/s]", "90 % interval"], rows, console=console)
    return console.file.getvalue().replace("\N{NO-BREAK SPACE}", " ").splitlines()
