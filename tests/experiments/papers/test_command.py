"""``biped reproduce``: what it prints, writes, keeps and returns."""

import re

import pytest

from experiments.cli import main
from experiments.papers import registry
from experiments.papers.item import Finding, Outcome
from experiments.papers.report import tally
from experiments.papers.run import OUTCOME, load


def page_of(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


def reproduce(folder, *words):
    return main(["reproduce", "nobody-1900", *words, "--out", str(folder)])


def test_everything_agrees_and_the_page_needs_no_other_file(paper, good, tmp_path, capsys):
    paper(good)
    assert reproduce(tmp_path) == 0
    counted = "agree: 2, better: 0, differ: 0, ours: 0, fitted: 0"
    assert counted in capsys.readouterr().out
    page = page_of(tmp_path)
    assert f"{counted} (1 of 1 items computed)." in page
    assert "Statements that differ or do not hold" not in page
    assert "the size is not printed" in page
    assert (tmp_path / "table-1" / "errors.csv").read_text().splitlines()[1] == "0.1,0.0025,DVP"
    assert (tmp_path / "table-1" / "curve.png").read_bytes().startswith(b"\x89PNG")
    resources = re.findall(r"""(?:src|href|srcset|data|action)\s*=\s*["']([^"']*)""", page)
    assert resources
    assert all(link.startswith(("data:image/png;base64,", "#")) for link in resources)
    assert not re.search(r"<(script|link|iframe|object)|@import|url\(", page)


def test_figures_have_the_formats_that_are_wanted_and_the_page_its_picture_and_command(paper, good, tmp_path):
    paper(good)
    typed = ["--figures", "pdf", "--figure-width", "single"]
    assert reproduce(tmp_path, *typed) == 0
    assert {file.suffix for file in (tmp_path / "table-1").glob("curve.*")} == {".png", ".pdf"}
    assert page_of(tmp_path).count("data:image/png") == 1
    assert f"biped reproduce nobody-1900 {' '.join(typed)} --out " in page_of(tmp_path)
    assert reproduce(tmp_path) == 0  # by itself, a command draws as it always does
    assert [file.name for file in (tmp_path / "table-1").glob("curve.*")] == ["curve.png"]


def test_what_differs_is_a_result_and_says_why(paper, good, differing, tmp_path):
    paper(good, differing)
    assert reproduce(tmp_path) == 0
    lead, _, rest = page_of(tmp_path).partition('<section id="table-1">')
    assert "Statements that differ or do not hold" in lead
    assert "another floor" in lead
    assert "&lt;b&gt;peak&lt;/b&gt;" in lead
    assert re.search(r'<a href="#figure-2.1">.*<span class="verdict bad">1 of 2 agree', lead)
    rows = re.findall(r'<tr class="(good|bad)">(.*?)</tr>', rest.partition('<section id="figure-2.1">')[2])
    found = [(mood, "agrees</td>" in row, "differs</td>" in row) for mood, row in rows]
    assert found == [("good", True, False), ("bad", False, True)]


FINDINGS = (
    Finding("depth [mm]", 2.3, 2.29, "within 1%", True),
    Finding("height [mm]", 2.0, 3.0, "within 1%", False, "another floor"),
    Finding("rest [s]", 1.3, 1.31, "within 1%", True, "the friction is", kind="chosen"),
    Finding("touch [s]", 0.5, 0.9, "within 1%", False, "chosen for another run", kind="chosen"),
    Finding("cost", "not O(n)", 1.02, "below 1.3", True, kind="better"),
    Finding("cost of a net", "not O(n)", 2.1, "below 1.3", False, "factored densely", kind="better"),
    Finding("the same with a finer step", "not in the paper", 1e-9, "below 1e-8", True, kind="ours"),
    Finding("times faster", "not in the paper", 1.5, "above 2", False, "a small model", kind="ours"),
)
COUNTED = "agree: 1, better: 1, differ: 3, ours: 2 (1 not so), fitted: 1"


def test_only_evidence_counts_as_agreement(fake, paper, tmp_path, capsys):
    counted = tally(FINDINGS)
    assert str(counted) == COUNTED
    assert counted.total() == sum(int(count) for count in re.findall(r": (\d+)", COUNTED)) == len(FINDINGS)
    parts = {"table-1": FINDINGS, "table-2": FINDINGS[4:5], "table-3": FINDINGS[6:7], "table-4": FINDINGS[2:3]}
    paper(*(fake.item(name, lambda *_, some=some: Outcome(some)) for name, some in parts.items()))
    assert reproduce(tmp_path) == 0
    told = "agree: 1, better: 2, differ: 3, ours: 3 (1 not so), fitted: 2"
    assert f"nobody-1900: {told}" in capsys.readouterr().out.replace("\n", " ")
    page = page_of(tmp_path)
    assert f"{told} (4 of 4 items computed)." in page
    lead, _, rest = page.partition('<section id="table-1">')
    for why in ("another floor", "chosen for another run", "factored densely", "a small model"):
        assert why in lead
    verdicts = re.findall(r'<a href="#table-.">.*?<span class="verdict ?(\w*)">(.*?)</span>', lead)
    assert verdicts == [("bad", "1 of 4 agree"), ("", "1 better"), ("", "1 ours"), ("", "1 fitted")]
    words = {"agrees": 1, "differs": 3, "better": 2, "ours": 2, "not so": 1, "fitted": 2}
    assert {word: rest.count(f"{word}</td>") for word in words} == words
    assert load(tmp_path / "table-1").findings == FINDINGS


def test_an_item_that_fails_does_not_stop_the_others(fake, paper, good, tmp_path, capsys):
    paper(fake.item("table-0", fake.failing), good)
    assert reproduce(tmp_path) == 1
    assert capsys.readouterr().err.strip().splitlines() == [
        f"biped: error: could not be computed: table-0; the reasons are in {tmp_path / 'report.html'}"
    ]
    page = page_of(tmp_path)
    assert "(1 of 2 items computed)." in page
    assert "table-0, a title: failed: ZeroDivisionError: nothing to divide by" in page
    assert "in failing" in page  # the trace


def test_ctrl_c_loses_nothing_and_says_what_is_missing(fake, paper, good, tmp_path, capsys):
    paper(good, fake.item("table-2", fake.interrupted), fake.item("table-3", lambda *_: fake.outcome()))
    assert reproduce(tmp_path) == 130
    assert "interrupted; what was computed is in" in capsys.readouterr().err
    assert load(tmp_path / "table-1") is not None
    page = page_of(tmp_path)
    assert "(1 of 3 items computed)" in page
    assert page.count("not computed yet") == 2


def test_items_that_are_missing_can_be_computed_later(paper, good, differing, tmp_path):
    paper(good, differing)
    assert reproduce(tmp_path, "table-1") == 0
    assert "(1 of 2 items computed)" in page_of(tmp_path)
    assert reproduce(tmp_path, "figure-*") == 0
    page = page_of(tmp_path)
    assert "agree: 3, better: 0, differ: 1, ours: 0, fitted: 0 (2 of 2 items computed)." in page
    assert "biped reproduce nobody-1900 &#39;figure-*&#39; --out" in page


def test_a_failed_attempt_leaves_the_earlier_outcome_and_no_figures_leave_none(fake, paper, good, tmp_path):
    paper(good)
    reproduce(tmp_path)
    reproduce(tmp_path, "--no-figures")
    assert sorted(path.name for path in (tmp_path / "table-1").iterdir()) == ["errors.csv", OUTCOME]
    assert "<img" not in page_of(tmp_path)
    paper(fake.item("table-1", fake.failing))
    assert reproduce(tmp_path) == 1
    page = page_of(tmp_path)
    assert "The last attempt failed: ZeroDivisionError" in page
    assert "Below are the results of an earlier computation." in page


@pytest.mark.parametrize("quick", [True, False])
def test_quick_reaches_the_items_and_the_page(fake, paper, tmp_path, quick):
    asked = []

    def produce(short, progress):
        asked.append(short)
        progress(0.5)
        return fake.outcome()

    paper(fake.item("table-1", produce))
    reproduce(tmp_path, *["--quick"] * quick)
    assert asked == [quick]
    assert ("short versions (--quick)" in page_of(tmp_path)) == quick


def test_papers_and_items_are_listed(paper, good, capsys):
    paper(good)
    for words, told in {
        (): ("nobody-1900: N. Nobody, On nothing, 1900", "table-1  a title"),
        ("--help",): ("papers: nobody-1900",),
    }.items():
        assert main(["reproduce", *words]) == 0
        printed = capsys.readouterr().out
        assert all(line in printed for line in told)


@pytest.mark.parametrize(("arguments", "told"), [
    (["nobody-1901"], "unknown paper 'nobody-1901'; the nearest are nobody-1900"),
    (["zzz"], "unknown paper 'zzz'; there are nobody-1900"),
    (["table-1"], "unknown paper 'table-1'; it is an item of nobody-1900: biped reproduce nobody-1900 table-1"),
    (["nobody-1900", "tabel-1"], "nobody-1900 has no item 'tabel-1'; the nearest are table-1"),
    (["nobody-1900", "zzz"], "nobody-1900 has no item 'zzz'; there are table-1, figure-2.1"),
])  # fmt: skip
def test_unknown_names_are_told_with_the_nearest(paper, good, differing, in_tmp, refusal, arguments, told):
    paper(good, differing)
    assert refusal("reproduce", *arguments) == f"biped: error: {told}\n"
    assert not list(in_tmp.iterdir())


def test_damaged_files_are_told(fake, paper, good, tmp_path, capsys):
    paper(good)
    reproduce(tmp_path)
    (tmp_path / "table-1" / "curve.png").unlink()
    paper(good, fake.item("table-2", lambda *_: fake.outcome()))
    assert reproduce(tmp_path, "table-2") == 2
    assert "curve.png missing" in capsys.readouterr().err
    assert reproduce(tmp_path) == 0


def test_a_number_that_is_not_finite_is_a_failure(fake, paper, tmp_path):
    found = Outcome((Finding("force [N]", 1.0, float("nan"), "within 5%", True),))
    paper(fake.item("table-1", lambda *_: found))
    assert reproduce(tmp_path) == 1


def test_real_papers_are_found_by_their_packages():
    for name in registry.paper_names():
        made = registry.load(name)
        assert made.name == name
        names = [item.name for item in made.items]
        assert len(set(names)) == len(names)
        assert all(re.fullmatch(r"[a-z0-9][a-z0-9.-]*", item) for item in names)
