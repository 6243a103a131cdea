"""Files of other types than expected are refused in a sentence."""

import json
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import pytest

from biped import Run, human
from biped.inputs.documents import fits, json_of
from biped.model.archive import model_from_json, model_to_json
from contact.errors import BipedError
from experiments.catalogue.registry import experiment_named


@dataclass
class Point:
    place: tuple[float, float]
    name: str = ""


class Marked(TypedDict):
    mark: int


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
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
    ],
)
def test_values_fit_annotations(kind, right, wrong):
    assert all(fits(value, kind) for value in right)
    assert not any(fits(value, kind) for value in wrong)


@pytest.mark.parametrize("value", ['"b"', "{"])
def test_json_is_refused_by_a_value_error(value):
    with pytest.raises(ValueError, match=r"\S"):
        json_of(f'{{"a": {value}}}', {"a": int})
    with pytest.raises(ValueError, match="it must be an object"):
        json_of("[]", {})


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return experiment_named("thrown-block").run({"run.duration": 0.02}).save(tmp_path_factory.mktemp("run"))


@pytest.mark.parametrize(
    ("file", "path"),
    [
        ("summary.json", ("verdict",)), ("summary.json", ("events",)), ("summary.json", ("trust", 0)),
        ("summary.json", ("set_point", "position")),
        ("model.json", ("name",)), ("model.json", ("bodies", 0, "mass")),
        ("model.json", ("bodies", 1, "joint", "kind")),
        ("model.json", ("feet",)), ("model.json", ("contact_points", 0, "position")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("other", [3.5, [["a"]], {"a": {"b": 1}}])
def test_a_run_with_a_value_of_another_type_is_refused_in_a_sentence(saved, file, path, other):
    text = (saved / file).read_text(encoding="utf-8")
    whole = place = json.loads(text)
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = other
    try:
        (saved / file).write_text(json.dumps(whole), encoding="utf-8")
        with pytest.raises(BipedError):
            Run.load(saved)
    finally:
        (saved / file).write_text(text, encoding="utf-8")


def test_a_saved_model_is_what_it_was():
    assert model_from_json(model_to_json(human())) == human()
