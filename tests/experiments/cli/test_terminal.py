"""The report of a run on the terminal, and tables at its widths."""

import io
import math
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from biped.disturbances.disturbance import direction_in_words
from biped.runs.contact_changes import lasting_changes
from experiments.catalogue.registry import experiment_named
from experiments.cli.quantities import length
from experiments.cli.run_report import effects, print_report
from experiments.cli.terminal import print_table, ruled_table


def printed(run, width=140, *, verbose=True):
    console = Console(file=io.StringIO(), width=width)
    print_report(run, "title", console=console, verbose=verbose)
    return console.file.getvalue()


def words_of(text):
    """All of them, whatever line and column they stand in."""
    return sorted(re.findall(r"[\w.-]+", text))


def test_effects_are_the_metrics_of_the_run():
    run = experiment_named("balance").run({"push.impulse": 8.0, "run.duration": 1.0})
    found, metrics = dict(effects(run)), run.metrics
    assert found["peak excursion of the centre of mass"] == length(metrics["com_excursion"])
    assert found["peak sway angle"] == f"{math.degrees(metrics['sway_angle_max']):.2g}°"
    assert length(metrics["margin_of_stability_min"]) in found["margin of stability"]
    assert f"{metrics['settling_time']:.3g} s" in found["time to recover"]
    assert found["trust"].startswith(f"all {len(run.trust)} checks passed")


def test_a_check_that_is_not_passed_is_reported():
    """The ankle is flung by more torque than a human has."""
    found = dict(effects(experiment_named("balance").run({"push.impulse": 5.5, "push.azimuth": 1.5708})))
    assert re.search(r"the left ankle roll exerted \d+ N·m", found["warning"])
    assert "trust" not in found


@pytest.mark.parametrize(
    ("direction", "words"),
    [
        ((-1.0, 0.0, 0.0), "forwards"), ((0.0, -1.0, 0.0), "to the left"), ((1.0, 1.0, 0.0), "backwards and right"),
        ((0.0, 0.1, -1.0), "downwards"), ((-1.0, -0.5773, 0.0), "at 30° from forwards to the left"),
    ],
)  # fmt: skip
def test_directions_are_those_of_the_human(person, direction, words):
    assert direction_in_words(direction, person.facing) == words


@pytest.mark.parametrize("name", ["thrown-block", "box-drop"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_report_keeps_within_the_terminal_and_breaks_no_word(runs, name, width):
    text = printed(runs[name], width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert words_of(text) == words_of(printed(runs[name], 200))


def test_a_report_has_what_applies_to_its_run(runs):
    fall = experiment_named("thrown-block").run({"block.velocity": (-9.0, 0.0, 0.2)})
    text = printed(fall)
    assert text.startswith(fall.verdict_line)
    assert "not settled" in text
    assert "steady-state" not in text
    assert "steady-state error" in printed(runs["thrown-block"])
    assert "torque" not in printed(runs["box-drop"])
    edges = runs["thrown-block"].summary["events"]["edges"]
    kept, hidden = lasting_changes(edges)
    assert len(kept) + hidden == len(edges)
    assert ("less than 10 ms not shown" in printed(runs["thrown-block"])) == (hidden > 0)


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


def table_of(rows, width):
    console = Console(file=io.StringIO(), width=width)
    print_table(["speed [m/s]", "90 % interval"], rows, "right", console)
    return [line.split() for line in console.file.getvalue().replace("\N{NO-BREAK SPACE}", " ").splitlines()]


@pytest.mark.parametrize(
    ("cell", "width", "expected"),
    [
        ("3 … 4.5", 60, ["speed [m/s]    90 % interval", "          4          3 … 4.5"]),
        ("3 … 4.5", 26, ["speed        90 %", "[m/s]    interval", "    4     3 … 4.5"]),
        ("3 … 4.5", 15, ["speed  90 %", "[m/s]  interval", "  4  3 … 4.5"]),
        ("from three to four and a half", 30, ["speed [m/s] 4", "90 % from three to", "interval four and a half"]),
    ],
)
def test_headings_break_before_cells_do_and_what_is_too_wide_is_printed_as_blocks(cell, width, expected):
    assert table_of([["4", cell]], width) == [line.split() for line in expected]


def test_a_unit_in_brackets_is_no_markup():
    console = Console(file=io.StringIO(), width=80)
    console.print(ruled_table("Limits", ["direction", "to the edge [m]"], [["0° [front]", "0.11"]], ["text", "number"]))
    assert {"to the edge [m]", "0° [front]"} <= {
        cell.strip() for line in console.file.getvalue().splitlines() for cell in line.split("   ")
    }
