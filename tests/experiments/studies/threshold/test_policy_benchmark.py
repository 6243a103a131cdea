"""The push benchmark of policies: its protocol, and the file that it publishes."""

import json

import numpy as np
import pytest

from biped import InputError, human, standing
from experiments.cli.main import main
from experiments.commands.study import parser
from experiments.studies.threshold import policy_benchmark as protocol
from experiments.studies.threshold.findings import Finding, Findings
from experiments.studies.threshold.search import Query
from experiments.visualization.studies.policy_benchmark import phase_panels
from tests.controllers.policy_files import describe, linear_network

MODEL = human()
N = len(MODEL.joint_names)


@pytest.fixture
def policy(tmp_path):
    """Return a policy of stiff servos, by a network without output; its gait has a period of 0.5 s."""
    network = linear_network(tmp_path / "still.onnx", np.zeros((N, 3)))
    keys = {"observation": '["projected_gravity"]', "kp": "1000.0", "kd": "3.0", "gait": "{ period = 0.5 }"}
    return describe(tmp_path / "still.toml", network, default=str(standing(MODEL).q[7:].tolist()), **keys)


def planned(policy, *options):
    return protocol.plan_of(parser("benchmark-policy").parse_args([policy, "--robot", "human", *options]))


def test_pushes_begin_at_any_phase_of_the_gait_in_all_directions(policy):
    plan = planned(policy, "--set", "controller.forward=0.5")
    labels = [condition.labels for condition in plan.conditions]
    assert len(labels) == 3 * 2 * 24 + 24
    slippery = [condition.changes for condition in plan.conditions if condition.labels["floor"] == "floor µ 0.3"]
    assert len(slippery) == 24
    assert all(changes["floor.mu_s"] == changes["floor.mu_d"] == 0.3 for changes in slippery)
    assert {label["controller"] for label in labels} == {"policy", "servos alone", "whole-body"}
    starts = np.array([plan.trial(Query(0, replica, 0, 1.0)).changes["push.start"] for replica in range(plan.replicas)])
    assert ((starts >= 1.0) & (starts <= 1.5)).all()
    assert np.ptp(starts) > 0.25
    assert plan.grid.by == pytest.approx(0.1 * MODEL.total_mass)
    forward = {one.labels["controller"]: one.changes.get("controller.forward") for one in plan.conditions}
    assert forward == {"policy": 0.5, "servos alone": 0.5, "whole-body": None}


def test_the_figure_shows_each_replica_at_its_phase(policy):
    plan = planned(policy, "--quick")
    found = Findings(plan, [Finding(c, plan, [{0.0: True, 5.0: False}] * 11, [{}] * 11) for c in plan.conditions])
    panels = phase_panels(plan, found)
    assert [panel.title for panel in panels] == ["Forward", "Left", "Backward", "Right"]
    for panel, _ in zip(panels, plan.conditions, strict=True):
        (points,) = panel.items
        starts = [plan.trial(Query(0, k, 0, 1.0)).changes["push.start"] for k in range(11)]
        np.testing.assert_allclose(points.x, np.array(starts) / 0.5 % 1.0)
        assert points.y == [0.0] * 11


@pytest.mark.parametrize("setting", ["push.azimuth=1", "push.duration=0.2", "run.duration=3", "initial.seed=3"])
def test_what_the_protocol_sets_cannot_be_set(policy, setting):
    with pytest.raises(InputError, match="the protocol sets this parameter; leave it out"):
        planned(policy, "--set", setting)


def test_the_file_says_what_was_measured(policy, tmp_path, monkeypatch):
    for name, value in {"QUICK": (3, 5), "BEGIN": 0.1, "AFTER": 0.4, "STEP": 0.2, "END": 0.2, "PARTS": 1}.items():
        monkeypatch.setattr(protocol, name, value)
    out = tmp_path / "out"
    command = ["benchmark-policy", policy, "--robot", "human", "--quick", "--out", str(out)]
    assert main([*command, "--set", "run.step=2ms"]) == 0
    assert (out / "benchmark-policy-phases.png").is_file()
    found = json.loads((out / "benchmark.json").read_text(encoding="utf-8"))
    assert found["protocol"]["version"] == protocol.PROTOCOL
    assert set(found["policy"]) == {"still.toml", "still.onnx"}
    assert found["engine"] == {"name": "recursive", "files": {}}
    assert [entry["direction"] for entry in found["thresholds"]] == [0.0, 120.0, 240.0]
    for entry in found["thresholds"]:
        low, high = entry["interval [N·s]"]
        assert low <= entry["median [N·s]"] <= high
        assert entry["median [m/s]"] == pytest.approx(entry["median [N·s]"] / MODEL.total_mass, abs=1e-5)
        assert len(entry["replicas [N·s]"]) == len(entry["starts of the push [s]"]) == 5
