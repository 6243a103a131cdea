"""A sample of the campaign: some attempts of each row that are the same every time, and that the campaign tells."""

import json

import pytest

from . import __main__ as program
from . import ledger
from .row import Row, SkipError, attempt
from .rows import ROWS


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in ROWS if row.sample])
def test_a_sample_of_each_row_finds_nothing(row):
    sample = max(1, row.sample // 2)  # a minute for all rows
    try:
        made = [attempt(row, seed) for seed in range(sample)]
    except SkipError as why:
        pytest.skip(str(why))
    assert [finding for one in made for finding in one.findings] == []
    assert sum(one.tried for one in made) >= sample


def finds(one):
    """An attempt that finds something for some seeds."""
    number = int(one.random.integers(100))
    one.counts["small" if number < 50 else "large"] += 1
    one.tried = 2
    one.expect(number < 90, f"{number} is too large", "lost")
    if number == 3:
        raise ZeroDivisionError
    while number == 5:
        pass


PLANTED = Row("planted", "numbers", "numbers", finds, 1000, limit=0.2)


def seeds_of(wanted):
    return [seed for seed in range(400) if int(attempt_number(seed)) in wanted]


def attempt_number(seed):
    drawn = []
    attempt(Row("planted", "", "", lambda one: drawn.append(one.random.integers(100))), seed)
    return drawn[0]


def test_what_is_found_is_kept_and_printed_with_the_command_that_finds_it_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(program, "ROWS", (PLANTED,))
    kept = tmp_path / "ledger.jsonl"
    bad = seeds_of(range(90, 100))[0]
    words = ["planted", "--ledger", str(kept)]
    assert program.main([*words, "--seed", str(bad), "--trials", "1"]) == 1
    told = capsys.readouterr().out
    assert f"python -m tests.campaign planted --seed {bad} --trials 1" in told
    assert "LOST" in told
    (entry,) = ledger.entries(kept)
    assert (entry.seed, entry.attempts, entry.tried, entry.number("lost")) == (bad, 1, 2, 1)
    good = next(seed for seed in range(bad + 1, bad + 100) if 5 < attempt_number(seed) < 90)
    assert program.main([*words, "--seed", str(good), "--trials", "1"]) == 0
    assert ledger.next_seed("planted", kept) == good + 1
    total = ledger.sums("planted", kept)
    assert (total.attempts, total.tried, total.number("lost"), sum(total.counts.values())) == (2, 4, 1, 2)
    assert "| 4 numbers | 1,000 |  | **1** | 0 | 0 | 0 |" in ledger.table((PLANTED,), kept)


def test_errors_and_what_does_not_end_are_findings():
    (raising, *_), (endless, *_) = seeds_of([3]), seeds_of([5])
    assert [kind for kind, _ in attempt(PLANTED, raising).findings] == ["traceback"]
    assert [kind for kind, _ in attempt(PLANTED, endless).findings] == ["hung"]


def test_only_what_was_tried_on_one_commit_is_added_up(tmp_path):
    kept = tmp_path / "ledger.jsonl"
    for what, tried in (("a", 5), ("b", 7), ("b", 11)):
        ledger.append(ledger.Entry("planted", what, "2026-01-01", "", 0, 1, tried), kept)
    assert ledger.sums("planted", kept).tried == 18
    assert "| 18 numbers | 1,000 | 5 |" in ledger.table((PLANTED,), kept)
    assert json.loads(kept.read_text().splitlines()[0])["tried"] == 5
    assert "not tried yet" in ledger.table((PLANTED,), tmp_path / "none")
