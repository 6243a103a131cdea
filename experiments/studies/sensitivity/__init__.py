"""Sensitivity of metrics to parameters, by Morris's and Sobol's methods."""

from experiments.studies.registry import Kind

KINDS = {
    "sensitivity": Kind(
        study="experiments.studies.sensitivity.sensitivity:Sensitivity",
        findings="experiments.studies.sensitivity.findings",
        plan="experiments.studies.sensitivity.sensitivity:sensitivity_from",
        title="which parameters a metric depends on",
        description="""\
Find which parameters a metric depends on, over the full ranges of the parameters: by Morris's elementary effects, which
rank them with few trials, or by Sobol's indices, which are parts of the metric's variance.""",
        examples="""\
  biped example sensitivity.toml > sensitivity.toml
  biped sensitivity sensitivity.toml         into results/sensitivity/sensitivity
""",
        page="sensitivity",
        table="sensitivity",
        key="sensitivity",
    )
}
