"""Files of other types than expected are refused in a sentence."""

import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import pytest

from biped import Run, human
from biped.inputs.documents import fits, json_of, toml_of
from biped.model.archive import model_from_json, model_to_json
from contact.errors import BipedError
from experiments.catalogue.registry import experiment_named

from ...damage import paths_in, with_other


@dataclass
class Point:
    place: tuple[float, float]
    name: str = ""


class Marked(TypedDict):
    mark: int


@pytest.mark.parametrize(("kind", "right", "wrong"), [
    (float, [1, 1.5], [None, True, "1", [1]]),
    (int, [1], [1.5, True, None]),
    (bool, [True], [1, None]),
    (str | None, ["a", None], [1, ["a"]]),
    (Literal["a", "b"], ["a"], ["c", None]),
    (tuple[str, ...], [[], ["a", "b"]], ["a", [1], {}]),
    (tuple[float, float], [[1, 2.0]], [[1], [1, "2"], None]),
    (list[int], [[1]], [[1.5], {"a": 1}]),
    (dict[str, float | None], [{"a": 1, "b": None}], [{"a": "1"}, []]),
    (Point, [{"place": [1, 2]}], [{"place": [1]}, {"place": [1, 2], "name": 3}, {"name": "a"}, []]),
    (Marked, [{"mark": 1, "more": 2}], [{"mark": "1"}, {}, None]),
    (Any, [None, [{}]], []),
])  # fmt: skip
def test_values_fit_annotations(kind, right, wrong):
    assert all(fits(value, kind) for value in right)
    assert not any(fits(value, kind) for value in wrong)


@pytest.mark.parametrize("value", ["[" * 200_000, "9" * 5000, '"b"', "{"])
def test_json_is_refused_by_a_value_error(value):
    with pytest.raises(ValueError, match=r"\S"):
        json_of(f'{{"a": {value}}}', {"a": int})
    with pytest.raises(ValueError, match="it must be an object"):
        json_of("[]", {})


@pytest.mark.parametrize("text", [f"a = {'[' * 5000}{']' * 5000}", "a = "])
def test_toml_is_refused_by_a_value_error(text):
    with pytest.raises(ValueError, match=r"\S"):
        toml_of(text)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return experiment_named("thrown-block").run({"run.duration": 0.02}).save(tmp_path_factory.mktemp("run"))


OTHERS = ("text", [["a"]], {"a": {"b": 1}})
#: Of a run, what has many values of one kind.
MANY = ("metrics", "parameters", "versions")


@pytest.mark.parametrize("file", ["summary.json", "model.json"])
def test_a_run_with_a_value_of_another_type_is_read_or_refused_in_a_sentence(saved, file):
    text = (saved / file).read_text(encoding="utf-8")
    whole = json.loads(text)
    try:
        parts = paths_in({key: value for key, value in whole.items() if key not in MANY})
        for path in (path for path in parts if not {*range(1, 1000)} & {*path}):  # of lists the first item only
            for other in OTHERS:
                (saved / file).write_text(json.dumps(with_other(whole, path, other)), encoding="utf-8")
                with suppress(BipedError):
                    Run.load(saved)
    finally:
        (saved / file).write_text(text, encoding="utf-8")


def test_a_saved_model_is_what_it_was():
    assert model_from_json(model_to_json(human())) == human()
