"""Sweeps: trials of an experiment at all combinations of some parameters' values."""

from experiments.studies.registry import Kind

KINDS = {
    "sweep": Kind(
        study="experiments.studies.sweep.sweep:Sweep",
        findings="experiments.visualization.studies.sweep",
        plan="experiments.studies.sweep.sweep:sweep_from",
        title="run an experiment at all combinations of values",
        description="""\
Run an experiment at all combinations of some parameters' values; write a table of all trials, a summary, and a figure.
Exit status 1: some trials could not be computed.""",
        examples="""\
  biped example sweep.toml > sweep.toml      a file to begin with
  biped sweep sweep.toml --workers 8         into results/sweep/sweep
  biped show thrown-block                    all parameters that can be varied
  biped rerun results/sweep/sweep 17         one trial again, with everything recorded
""",
        page="sweep",
        table="vary",
    )
}
