"""``biped statistics`` says what the functions say."""

import json

import numpy as np
import pandas as pd
import pytest

from biped.errors import InputError
from experiments.cli import main
from experiments.statistics import compare, summarise
from experiments.statistics.table import read_table


@pytest.fixture
def trials():
    rng = np.random.default_rng(1)
    own = np.repeat(rng.normal(0.0, 1.0, 8), 6)
    table = pd.DataFrame(
        {"who": np.repeat(np.arange(8), 6), "eyes": [0, 1] * 24, "sway": own + rng.normal(0.0, 0.5, 48)}
    )
    table["sway"] += table["eyes"]
    return table.assign(verdict=np.where(table["sway"] > 1.0, "fell", "recovered"))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_of_trials_is_compared(trials, ending, tmp_path, capsys):
    path = tmp_path / f"trials.{ending}"
    trials.to_csv(path, index=False) if ending == "csv" else trials.to_parquet(path)
    words = ["statistics", str(path), "--metric", "sway,fell", "--within", "eyes", "--subject", "who"]
    assert main([*words, "--json", "--reference", "1"]) == 0
    said = json.loads(capsys.readouterr().out)
    expected = compare(trials, "sway", within="eyes", subject="who", reference=1).iloc[0]
    found = said["differences"][0]
    for name in ("difference", "low", "high", "chance", "effect_size", "mixed_low", "mixed_chance"):
        assert found[name] == pytest.approx(expected[name]), name
    shares = summarise(trials.assign(fell=trials["verdict"] == "fell"), "fell", "eyes", "who")
    assert [row["mean"] for row in said["means"][2:]] == pytest.approx(list(shares["mean"]))
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "difference" in printed
    assert "mixed model of fell, 1 minus 0: none: a linear model" in printed


@pytest.mark.parametrize(("words", "said"), [
    (["--metric", "sway", "--within", "eyes", "--subject", "whom"], "did you mean 'who'"),
    (["--metric", "sway", "--between", "eyes", "--subject", "who"], "give within='eyes'"),
    (["--metric", "sway", "--within", "eyes", "--subject", "who", "--reference", "shut"], "levels are 0, 1"),
    (["--metric", "sway", "--subject", "who"], "--between --within is required"),
])  # fmt: skip
def test_bad_input_is_told(trials, words, said, tmp_path, capsys):
    trials.to_csv(tmp_path / "trials.csv", index=False)
    assert main(["statistics", str(tmp_path / "trials.csv"), *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(("name", "form"), [
    ("a.tsv", {"sep": "\t"}),
    ("a.txt", {"sep": "\t", "decimal": ","}),
    ("a.TXT", {"sep": " "}),
    ("a.csv", {"sep": ";", "decimal": ",", "encoding": "utf-8-sig"}),
])  # fmt: skip
def test_texts_of_any_separator_are_the_same_table(trials, name, form, tmp_path):
    trials.to_csv(tmp_path / name, index=False, **form)
    pd.testing.assert_frame_equal(read_table(tmp_path / name), trials)


def test_a_column_of_words_with_commas_stays_one(tmp_path):
    (tmp_path / "who.tsv").write_text("who\tsway\tgroup\nAnn, B.\t1,5\t1\nCid\t\t2,x\n", encoding="utf-8")
    table = read_table(tmp_path / "who.tsv")
    assert (table["who"][0], table["sway"][0], table["group"][1]) == ("Ann, B.", 1.5, "2,x")
    (tmp_path / "who.txt").write_text("who sway\nAnn 1 2\n", encoding="utf-8")
    with pytest.raises(InputError, match="more cells than the header line"):
        read_table(tmp_path / "who.txt")


def test_what_is_no_table_is_refused(tmp_path, capsys):
    assert main(["statistics", str(tmp_path / "x.txt"), "--metric", "a", "--within", "b", "--subject", "c"]) == 2
    assert "folder of a study" in capsys.readouterr().err
