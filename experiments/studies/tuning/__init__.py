"""Tuning of gains, or of any other parameters, for a set of disturbances."""

from experiments.studies.registry import Kind

KINDS = {
    "tune": Kind(
        study="experiments.studies.tuning.tuning:Tuning",
        findings="experiments.visualization.studies.tuning",
        plan="experiments.studies.tuning.tuning:tuning_from",
        title="tune gains, and confirm them on fresh replicas",
        description="""\
Tune any parameters, such as the controller's gains, for weighted metrics over a set of disturbances. The best candidate
is then compared with the experiment's parameter values on fresh replicas.""",
        examples="""\
  biped example tune.toml > tune.toml        a file to begin with
  biped tune tune.toml                       into results/tune/tune
  biped run thrown-block --gains results/tune/tune/best.toml
""",
        page="tune",
        table="tune",
        heading="Tuning",
        key="tuning",
    )
}
