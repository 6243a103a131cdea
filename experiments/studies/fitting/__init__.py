"""Fits of parameters to measurements: least squares, intervals, identifiability."""

from experiments.studies.registry import Kind

KINDS = {
    "fit": Kind(
        study="experiments.studies.fitting.fit:Fit",
        findings="experiments.visualization.studies.fit",
        plan="experiments.studies.fitting.fit:fit_from",
        title="fit parameters to a record, with intervals",
        description="""\
Fit parameters to a record by least squares over its columns. The results are values with intervals, correlations, and
warnings about parameters that the record does not identify (docs/check-a-fit.md).""",
        examples="""\
  biped fit fit.toml                         into results/fit/fit
  biped fit fit.toml --out results/subject-3 --workers 2
  biped report results/fit/fit               one page with interactive figures
""",
        page="fit",
        table="record",
        key="fit",
    )
}
