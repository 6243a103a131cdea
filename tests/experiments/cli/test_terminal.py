"""What a run amounts to on the terminal, at its widths."""

import io
import re

import pytest
from rich.cells import cell_len
from rich.console import Console

from biped.disturbances.disturbance import direction_in_words
from biped.runs.contact_changes import lasting_changes
from experiments.catalogue.registry import experiment_named
from experiments.cli import main
from experiments.cli.quantities import length
from experiments.cli.run_report import Saved, print_report
from experiments.cli.terminal import print_table, ruled_table

WIDTHS = (60, 80, 120)
NOWHERE = Saved()


def printed(run, saved=NOWHERE, width=140, *, verbose=False):
    console = Console(file=io.StringIO(), width=width)
    print_report(run, "title", saved, console, verbose=verbose)
    return console.file.getvalue()


def words_of(text):
    """All of them, whatever line and column they stand in."""
    return sorted(re.findall(r"[\w.-]+", text))


def test_what_was_done_and_its_effects_come_first():
    run = experiment_named("balance").run({"push.impulse": 8.0, "run.duration": 1.0})
    first, *others = printed(run).splitlines()
    assert "a push of 8 N·s forwards at 0.5 s, for 0.1 s" in first
    names = [line.strip().rpartition("  ")[0].strip() for line in others[1:]]
    assert names == [
        "peak excursion of the centre of mass", "peak sway angle", "margin of stability",
        "excursion of the centre of pressure", "time to recover", "peak joint torque", "trust",
    ]  # fmt: skip
    assert first.startswith("recovered in place (")
    excursion = 1e3 * run.metrics["com_excursion"]
    assert 7.0 < excursion < 10.0
    assert f"{excursion:.3g} mm" in others[1]


def test_what_a_run_says_against_itself_is_told():
    """The ankle is flung by more torque than a human has."""
    text = printed(experiment_named("balance").run({"push.impulse": 5.5, "push.azimuth": 1.5708}))
    assert re.search(r"^  warning .* the left ankle roll exerted \d+ N·m, where a strong human's", text, re.MULTILINE)
    assert "checks passed" not in text


def test_a_run_in_which_nothing_happens_says_so():
    run = experiment_named("balance").run({"run.duration": 0.1})
    assert printed(run).splitlines()[0].endswith("(undisturbed)")


@pytest.mark.parametrize(
    ("direction", "words"),
    [
        ((-1.0, 0.0, 0.0), "forwards"), ((0.0, -1.0, 0.0), "to the left"), ((1.0, 1.0, 0.0), "backwards and right"),
        ((0.0, 0.1, -1.0), "downwards"), ((-1.0, -0.5773, 0.0), "at 30° from forwards to the left"),
    ],
)  # fmt: skip
def test_directions_are_those_of_the_human(person, direction, words):
    assert direction_in_words(direction, person.facing) == words


def test_all_of_a_balancing_run(runs, tmp_path):
    saved = Saved([tmp_path / "run.parquet"], "2026-01-02 03:04")
    text = printed(runs["thrown-block"], saved, verbose=True)
    for words in (
        "a block of 1.8 kg thrown forwards at 4.5 m/s", "time to recover", "steady-state error", "max foot slip",
        "creep", "Peak torque", "knee pitch", "left heel up", "right heel down", "Impacts", "impulse",
        "energy residual", "momentum residual", "Newton iterations", "retried", "times real time", str(tmp_path),
        "run.parquet", "replaced the run of 2026-01-02 03:04",
    ):  # fmt: skip
        assert words in text, words


@pytest.mark.parametrize("name", ["thrown-block", "box-drop"])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_report_keeps_within_the_terminal_and_breaks_no_word(runs, name, width):
    text = printed(runs[name], width=width, verbose=True)
    assert max(map(cell_len, text.splitlines())) <= width
    assert words_of(text) == words_of(printed(runs[name], width=200, verbose=True))


@pytest.mark.parametrize("command", [["show", "balance"], ["list"], ["integrators"]], ids=" ".join)
@pytest.mark.parametrize("width", WIDTHS)
def test_lists_keep_within_the_terminal_and_break_no_word(capsys, monkeypatch, command, width):
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(cell_len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)
    monkeypatch.setenv("COLUMNS", "150")
    main(command)
    assert words_of("\n".join(lines)) == words_of(capsys.readouterr().out)
    if command[0] == "show" and width == 80:
        parameters = [line for line in lines if re.match(r"[a-z_]+\.[a-z_.]+ ", line)]
        assert len(lines) < 2 * len(parameters)  # a name and its sentence, most on one line or two


def test_short_changes_are_counted_not_shown(runs):
    edges = runs["thrown-block"].summary["events"]["edges"]
    kept, hidden = lasting_changes(edges)
    assert len(kept) + hidden == len(edges)
    assert ("less than 10 ms not shown" in printed(runs["thrown-block"], verbose=True)) == (hidden > 0)


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


def test_a_box(runs):
    text = printed(runs["box-drop"], verbose=True)
    assert "box_3  never down" in text
    assert "ends in sticking" in text
    assert "torque" not in text
    assert "recover" not in text


def test_a_fall():
    run = experiment_named("thrown-block").run({"block.velocity": (-9.0, 0.0, 0.2)})
    text = printed(run, verbose=True)
    assert text.startswith(run.verdict_line)
    assert text.split(":")[0] in ("fell", "lost control")
    assert "not settled" in text
    assert "steady-state" not in text


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
    print_table(["speed [m/s]", "90 % interval"], rows, "right", console)
    return console.file.getvalue().replace("\N{NO-BREAK SPACE}", " ").splitlines()


def test_a_unit_in_brackets_is_no_markup():
    console = Console(file=io.StringIO(), width=80)
    console.print(ruled_table("Limits", ["direction", "to the edge [m]"], [["0° [front]", "0.11"]], ["text", "number"]))
    assert {"to the edge [m]", "0° [front]"} <= {
        cell.strip() for line in console.file.getvalue().splitlines() for cell in line.split("   ")
    }
